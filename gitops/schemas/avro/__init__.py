"""Avro as Pulsar's brokers read it: AVRO, and what JSON, PROTOBUF and KEY_VALUE take from it."""
