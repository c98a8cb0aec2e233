"""The contract with other programs: the marks of JSON fields, the requests, and one codec for all types.

Import its modules one by one. All are light, because a command imports them before it sends a request.
"""
