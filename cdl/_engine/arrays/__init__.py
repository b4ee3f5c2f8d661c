"""Arrays: their shapes and types, their rows, and what the platform makes of them."""
