"""The page on time horizons, from successes of models on tasks with the time that people need."""
