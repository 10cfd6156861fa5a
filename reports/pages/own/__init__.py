"""Reports on a custom table, or on fits of the user."""
