"""The embedded registry behind Pulsar's admin REST paths."""
