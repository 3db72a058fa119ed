"""Adapters behind the Registry port, one package for each kind, and how one is opened by name."""
