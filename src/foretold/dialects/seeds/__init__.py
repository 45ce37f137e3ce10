"""Dialects of the systems whose interfaces `compat/` implements."""
