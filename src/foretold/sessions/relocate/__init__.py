"""Sessions whose project has moved."""
