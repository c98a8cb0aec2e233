"""The contract with other programs: what the JSON adds to a type, the requests, one codec for all types.

It has no face: its modules are imported one by one. All are light: a command imports them before it asks.
"""
