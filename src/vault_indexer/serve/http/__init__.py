"""How the API is reached over HTTP: checks before a route, routes, and responses."""
