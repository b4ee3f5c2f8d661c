"""Folds: the values of an algebra at the nodes of a forest, and their derivatives."""
