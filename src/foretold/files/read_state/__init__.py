"""read_state."""
