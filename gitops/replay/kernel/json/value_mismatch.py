"""What is said of a value that does not fit."""

from __future__ import annotations


class ValueMismatchError(ValueError):
    """A value does not fit; the text is a reason, without the value."""


# A number of JSON that no decimal holds; `validate` loads it, and neither numpy nor pyarrow.


class UnrepresentableNumber(float):
    """A number whose exponent is too long for any decimal: what a double makes of it."""
