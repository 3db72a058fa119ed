"""Avro as Avro for Java 1.11.4 inside the broker does it: parsing, equality, resolution."""
