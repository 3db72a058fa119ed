"""GitHub: comments, issues, and what a workflow's run knows."""
