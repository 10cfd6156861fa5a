"""What columns and rows of a table of runs mean: rules that recognise what would be fitted silently wrong."""
