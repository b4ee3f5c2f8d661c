"""Programs beside the pages about systems."""
