"""The truth beside the broker's answer: what it takes although readers would suffer from it.

Nothing here changes what we say that the broker decides. A warning names a change that is
accepted and loses, breaks or silently alters data; an error names a schema that poisons a topic.
"""
