"""Payloads of AVRO, with Avro's plan of a writer and a reader."""
