"""Machines over sequences, step by step, and streams."""
