"""What is done with formulas: questions to their fits, and a formula for a table of which none is given."""
