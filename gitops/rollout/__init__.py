"""In which order services may upgrade: pure, from what reads what and whom the broker lets in."""
