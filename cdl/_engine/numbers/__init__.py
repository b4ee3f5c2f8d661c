"""Numbers: what a definition would have in the place of a traced array, and what type values have together."""
