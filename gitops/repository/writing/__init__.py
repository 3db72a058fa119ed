"""From the model back to files, for imports."""
