"""What a registry contains, judged: another broker line, another strategy, its health. Pure."""
