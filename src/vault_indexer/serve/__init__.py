"""The interface for other programs: the JSON of the public contract, the HTTP API on loopback, and its
client."""
