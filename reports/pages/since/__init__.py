"""The page on progress since 2023, from scores of models on benchmarks."""
