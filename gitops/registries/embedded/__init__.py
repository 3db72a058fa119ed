"""The embedded registry: one SQLite file."""
