"""JSON: definitions in Avro's form, and in the old form of Jackson's JsonSchema."""
