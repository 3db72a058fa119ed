"""Reports as stable JSON."""
