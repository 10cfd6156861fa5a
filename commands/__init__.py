"""The command line: one file for what a command does, and what commands share."""
