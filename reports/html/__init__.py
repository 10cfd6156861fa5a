"""The report as HTML: its prose, its blocks, its page."""
