"""Decisions: what a change is worth, which runs to make next, and the posterior once they are made."""
