"""A replay as a page."""
