"""Apache Pulsar schemas and namespace policies as files in git."""

__version__ = "0.1.0"
