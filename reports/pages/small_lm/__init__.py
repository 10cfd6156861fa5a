"""The page on small language models trained for this package."""
