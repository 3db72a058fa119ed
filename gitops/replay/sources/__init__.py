"""Sample data of every format, as batches of messages."""
