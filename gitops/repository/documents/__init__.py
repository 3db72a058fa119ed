"""The kinds of manifest as pydantic models, and what pydantic says in the product's own words."""
