"""Commands and frames of Pulsar's binary protocol; `pulsar_api_pb2` is generated."""
