"""The law of length generalisation."""
