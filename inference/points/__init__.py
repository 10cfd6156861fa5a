"""Point estimators."""
