"""PROTOBUF and PROTOBUF_NATIVE messages, as protobuf-java 3.25.5 reads them.

The wire format is read here rather than by the library, which says of a message that it cannot
be parsed but not where, and does not tell what it skipped; tests hold it against the library.
"""
