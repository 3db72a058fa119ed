"""The words everybody shares: names, schemas, policies, states, findings, plans, errors.

Frozen values made of the standard library only. No I/O, no decisions about compatibility.
"""
