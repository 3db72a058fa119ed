"""A report as one page of HTML with plots."""
