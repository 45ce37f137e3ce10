"""consolidate."""
