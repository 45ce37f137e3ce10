"""Full-text search over sessions, with an index or without."""
