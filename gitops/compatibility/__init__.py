"""What a Pulsar 4.0 broker decides about schemas, offline and pure.

One module per concern; nothing here reads a file, opens a connection or knows of YAML.
"""
