"""Findings, plans and histories as people and machines read them. Pure: values in, text out."""
