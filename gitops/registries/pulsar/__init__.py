"""A Pulsar cluster behind admin REST v2.

What the requests and answers look like is known here and nowhere else; what was seen on a broker
is marked with its version.
"""
