"""Damaged sessions: diagnosis and repaired copies."""
