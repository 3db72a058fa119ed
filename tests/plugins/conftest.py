"""A plug-in's own tests run as its author runs them: see test_mystore.py."""

collect_ignore_glob = ["mystore/*"]
