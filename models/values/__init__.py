"""The law of dated values: a trend in the date with scatter."""
