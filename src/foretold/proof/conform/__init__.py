"""Recorded behaviour as a test: read cases, stage them in a temporary folder, compare our answer with the recording."""
