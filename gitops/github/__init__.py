"""GitHub, through PyGithub: comments and issues, and the reports that another run left."""
