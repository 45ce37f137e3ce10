"""Drift: what memories claim about a repository, and whether it is still so."""
