"""From a schema in a manifest to the text and properties that a registry accepts."""
