"""The kinds of manifest as pydantic models, and pydantic's errors in the product's own words."""
