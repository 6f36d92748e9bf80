"""The MCP server and the hooks, through which AI clients use a vault."""
