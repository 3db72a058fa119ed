"""The files along git's history, as a registry that can be read."""
