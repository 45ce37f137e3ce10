"""instructions_seen."""
