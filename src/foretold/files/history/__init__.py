"""What the files of a session were, as Claude Code records it."""
