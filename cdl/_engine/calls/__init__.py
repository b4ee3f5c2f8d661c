"""Calls: how a user's function is traced and compiled, and by which strategy."""
