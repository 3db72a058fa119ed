"""Samples of a topic read with old and new schemas: sources, kernel, runners."""
