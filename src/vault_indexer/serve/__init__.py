"""What programs touch: the JSON of the outside contract, the HTTP API on loopback, and its client."""
