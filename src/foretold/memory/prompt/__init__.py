"""The text about memory in an agent's system prompt."""
