"""globs."""
