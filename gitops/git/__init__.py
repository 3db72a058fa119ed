"""Git, through GitPython: trees at a ref, changed files, what is checked out."""
