"""Forests: trees laid out as arrays, on the host, and the schedule by which they are read."""
