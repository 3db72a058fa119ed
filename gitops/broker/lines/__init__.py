"""Broker lines: what each release line of Pulsar decides otherwise."""
