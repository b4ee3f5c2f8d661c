"""Growth: trees from seeds, and refolds with no tree in between."""
