"""KEY_VALUE: pairs of messages, each half of a type of its own."""
