"""What differs between two schemas, in words: field by field where Avro defines them."""
