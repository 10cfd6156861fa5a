"""Transformers that learn arithmetic, their positions, what chance decides in them, and the memory they need."""
