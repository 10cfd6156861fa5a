"""What is computed once for a report is read again, while code and data stay the same."""
