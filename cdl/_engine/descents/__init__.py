"""Descents: passes over a forest from the roots down."""
