"""From entries to the exact text of a request."""
