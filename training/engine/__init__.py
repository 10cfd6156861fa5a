"""One model trained: the loop, its updates, checkpoints, limits, device and randomness."""
