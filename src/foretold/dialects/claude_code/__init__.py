"""Claude Code, as tables: instructions, settings, sessions, files, context, compaction."""
