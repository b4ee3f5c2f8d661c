"""Architectures, each in three parts: its parameters, one layer, and the algebra or coalgebra that they make."""
