"""The index as a server of the Model Context Protocol, for agents: tools, resources and prompts at `/mcp`.

`app` is the ASGI application; it imports the SDK at the first request to `/mcp`. `bridge` is the client side
for programs that use standard input and output: it imports neither the SDK nor pydantic. `protocol` contains
the definitions that both share.
"""
