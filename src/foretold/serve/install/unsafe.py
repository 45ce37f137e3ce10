"""The one reason why a settings file is left alone."""

from __future__ import annotations


class Unsafe(ValueError):
    """A text is not valid, or cannot be changed without touching what is not ours."""
