"""What language models are trained on: a synthetic language, text files, stored tokens, or any documents."""
