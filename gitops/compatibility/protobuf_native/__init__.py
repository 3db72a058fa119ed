"""PROTOBUF_NATIVE: the envelope, the descriptors in it, and how protobuf-java links them."""
