"""What stands before the routes of a gateway: who asks, what is written down of it, probes, the end."""
