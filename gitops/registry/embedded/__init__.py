"""The embedded registry: one SQLite file that decides as a Pulsar 4.0 broker does."""
