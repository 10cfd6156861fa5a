"""Leave-one-out."""
