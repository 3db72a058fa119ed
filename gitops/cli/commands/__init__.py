"""One module for each command: settings → use case → report → exit code."""
