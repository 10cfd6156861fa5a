"""What fits of the law of scores say."""
