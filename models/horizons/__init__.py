"""The law of time horizons: how long the tasks are, in human time, that models do."""
