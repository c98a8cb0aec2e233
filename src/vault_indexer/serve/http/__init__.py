"""HTTP access to the API: checks before routing, routes, and responses."""
