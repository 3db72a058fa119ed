"""The parts of a repository, one module per kind of manifest."""
