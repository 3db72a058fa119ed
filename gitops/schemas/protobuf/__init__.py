"""PROTOBUF: its definition is Avro, its messages are laid out by a property."""
