"""Which instruction files a session has seen."""
