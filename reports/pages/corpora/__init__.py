"""The page on runs of one laboratory on several corpora."""
