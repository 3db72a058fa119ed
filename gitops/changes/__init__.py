"""A change of the repository: both sides, what it affects, where known versions come from; and the whole of it."""
