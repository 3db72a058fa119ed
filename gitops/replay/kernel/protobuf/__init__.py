"""Payloads of PROTOBUF and PROTOBUF_NATIVE."""
