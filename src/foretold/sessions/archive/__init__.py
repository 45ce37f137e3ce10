"""Keeping sessions: archive, restore, retention, disk usage, pruning."""
