"""What an agent is told: locate, read, transform, import, select, render."""
