"""For a comment on a pull request, an issue or a job's summary: GitHub-flavoured Markdown."""
