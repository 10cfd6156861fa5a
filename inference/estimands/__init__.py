"""What a fit estimates, draw by draw: best sizes, predictions, exponents."""
