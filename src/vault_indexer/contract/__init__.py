"""The contract with other programs: what the JSON says beside a type, the requests, one codec for all types.

It has no face: its modules are imported one by one. All are light: a command imports them before it asks.
"""
