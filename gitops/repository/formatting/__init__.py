"""The canonical text of manifests and of Avro definitions.

Words are copied as they stand: only white space, the order of known keys, and flow collections
that are too wide change. So no number, escape or comment can be lost on the way.
"""
