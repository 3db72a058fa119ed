"""GitHub and GitLab: comments, issues, and the environment of a pipeline's run."""
