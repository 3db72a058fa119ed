"""Pulsar's data plane: messages, each with its own schema.

What is here speaks Pulsar's binary protocol itself: no Python client asks a broker for the version
of a schema (CommandGetOrCreateSchema, PIP-43), and none gives a capture all of a message, or an
entry with its messages at once. Needs the extra `pulsar`.
"""
