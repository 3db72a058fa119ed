"""Where a replay runs: in this process, or on Spark."""
