"""Leave-one-out, rollouts, and the comparison of fits."""
