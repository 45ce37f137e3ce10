"""Making a conversation shorter: clearing results of tools, summaries."""
