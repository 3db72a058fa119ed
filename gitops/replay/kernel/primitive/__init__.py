"""Schemas that are told by their type alone: numbers, text, bytes, and points in time."""
