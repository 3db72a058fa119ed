"""What runs a replay: this process, or Spark."""
