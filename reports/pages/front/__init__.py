"""The first screen of a report: its questions, each answered from the content of results.json alone."""
