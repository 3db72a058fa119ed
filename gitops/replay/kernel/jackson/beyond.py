"""A number of JSON that no decimal holds; `validate` loads it, and neither numpy nor pyarrow."""


class Beyond(float):
    """A number whose exponent is too long for any decimal: what a double makes of it."""
