"""Avro payloads: a static plan for a writer and a reader, and two ways to follow it.

`columns` takes all rows of one step at a time and makes no values; `rows` takes one row and makes
its value. Both stop a row at the same place for the same reason and count the same.
"""
