"""A plug-in's own tests run as its author runs them: see test_mystore.py and test_rootname.py."""

collect_ignore_glob = ["mystore/*", "rootname/*"]
