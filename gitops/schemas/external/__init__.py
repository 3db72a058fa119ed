"""EXTERNAL: a definition that the broker stores and never reads (from Pulsar 4.1 on)."""
