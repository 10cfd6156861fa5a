"""NUTS by nutpie, NumPyro or PyMC behind one interface."""
