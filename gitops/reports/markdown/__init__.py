"""Reports for a pull request's comment."""
