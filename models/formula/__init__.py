"""Laws that are formulas over the columns of a table."""
