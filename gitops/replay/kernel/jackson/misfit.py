"""What is said of a value that does not fit."""

from __future__ import annotations


class MisfitError(ValueError):
    """A value does not fit; the text is a reason, without the value."""
