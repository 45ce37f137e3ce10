"""foretold for the agents themselves: hooks and an MCP server. Importing this does nothing."""
