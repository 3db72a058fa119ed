"""From what a manifest says of a schema to the text and properties that a registry takes."""
