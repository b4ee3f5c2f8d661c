"""Code that users write: what it reads from outside, and whether all of that is still the same."""
