"""A check of a device: does it give the results that it should, how fast, and then the runs that want it."""
