"""Small language models, trained in sweeps that give runs L(N, D) for the laws."""
