"""The orders of steps behind the commands. They return values and never print."""
