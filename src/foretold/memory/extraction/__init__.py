"""Learning memories from sessions, and tidying them, with a model."""
