"""What type the values of one place have together."""
