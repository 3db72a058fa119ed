"""A change of the repository: both sides, its impact, known versions; and a plan of the whole."""
