"""The index as a server of the Model Context Protocol, for agents: tools, resources and prompts at `/mcp`.

`app` is the ASGI application; it imports the SDK when `/mcp` is first asked for. `bridge` is the other end
for programs that speak over standard input and output: it imports neither the SDK nor pydantic. What the
two have to agree on is in `protocol`.
"""
