"""What several pages draw with: the look of figures, tables, and the figures of any law of runs."""
