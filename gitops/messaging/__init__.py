"""Pulsar's data plane: messages, each with its own schema.

What is here speaks Pulsar's binary protocol itself, since no Python client asks a broker for the
version of a schema (CommandGetOrCreateSchema, PIP-43). Subscribing and reading are left to
`pulsar-client`. Needs the extra `pulsar`.
"""
