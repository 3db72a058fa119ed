"""YAML texts as plain values with positions, by the parser's events.

The 1.2 core scalars only; everything that can surprise (tags, merge keys, duplicates, aliases
that blow up) is refused, each with its place.
"""
