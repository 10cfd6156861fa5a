"""The law of a run's loss as it trains."""
