"""Lists as arrays: sequences, their scans, and monoids."""
