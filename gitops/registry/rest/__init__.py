"""The embedded registry behind Pulsar's admin REST v2 paths, for tests and local work.

Paths, bodies and status codes are those seen on Pulsar 4.0.7. The reason phrase of the status line
is not: ASGI has none, so a refusal's message stands in the body alone.
"""
