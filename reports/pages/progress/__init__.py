"""The page on algorithmic progress."""
