"""The recorded history of a registry, in the repository's own files, as a Registry."""
