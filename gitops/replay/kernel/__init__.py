"""Columns of payloads in, verdicts by row and counts by field out; no I/O."""
