"""Payloads of JSON, as Jackson reads and writes them."""
