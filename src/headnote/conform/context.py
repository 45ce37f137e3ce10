"""State cases about what surrounds a turn: what answers each kind."""

from __future__ import annotations

from headnote.conform.scene import Kinds

KINDS: Kinds = {}
