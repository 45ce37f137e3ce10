"""Markdown, cut as the agent's own parser cuts it."""
