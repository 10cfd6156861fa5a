"""Laws in which an embedding parameter may count otherwise than another."""
