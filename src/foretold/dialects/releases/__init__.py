"""What agents did in their releases, as dated changes."""
