"""Writing transcripts that Claude Code can resume."""
