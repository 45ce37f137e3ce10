"""claude_code."""
