"""A schema from a class of a program: which kinds of class there are, and how each is read."""
