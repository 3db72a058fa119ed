"""Bytes in, model and findings out: manifests, definitions, positions; and the way back."""
