"""From values to payloads: how a message of each schema type is written."""
