"""Payloads of KEY_VALUE: each half by the kernel of its own type."""
