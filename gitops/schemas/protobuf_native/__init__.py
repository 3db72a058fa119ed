"""PROTOBUF_NATIVE: descriptors, linked as protobuf-java links them."""
