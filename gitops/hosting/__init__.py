"""GitHub and GitLab: comments, issues, and what the run of a pipeline knows."""
