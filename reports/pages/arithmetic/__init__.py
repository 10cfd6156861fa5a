"""The page on arithmetic models and how far beyond training they go."""
