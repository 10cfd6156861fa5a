"""Laws of the loss of training runs."""
