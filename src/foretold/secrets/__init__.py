"""Credentials in texts: found by form or surroundings, then reported, masked or redacted."""
