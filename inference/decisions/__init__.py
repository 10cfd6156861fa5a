"""Decisions about runs not made yet: which to make next, and what the posterior is once they are made."""
