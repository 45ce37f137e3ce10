"""What an agent sends when it resumes a session."""
