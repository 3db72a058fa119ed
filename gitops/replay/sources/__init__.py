"""Where samples come from: formats, files, tables."""
