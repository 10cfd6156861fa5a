"""Laws of algorithmic progress."""
