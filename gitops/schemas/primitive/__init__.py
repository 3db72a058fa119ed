"""Types without a definition: NONE, BYTES, STRING, numbers, times; and those of clients alone."""
