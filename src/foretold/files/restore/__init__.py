"""Restoring files: plans, changes that are all made or none, and undo."""
