"""The readers of session files, one folder per agent."""
