"""A registry for pulsar-gitops: JSON files in a folder."""
