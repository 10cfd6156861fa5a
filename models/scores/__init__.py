"""Laws of scores of models on benchmarks."""
