"""The page on the Chinchilla law of runs."""
