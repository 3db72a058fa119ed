"""KEY_VALUE: two schemas in one, and the JSON in which Pulsar stores them."""
