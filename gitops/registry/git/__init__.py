"""Definitions along the history of a commit as a Registry."""
