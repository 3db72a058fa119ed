"""Journals of applies: a file of lines, each of which is on the disk before what it announces."""
