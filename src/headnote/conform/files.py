"""State cases about files that an agent touched: what answers each kind."""

from __future__ import annotations

from headnote.conform.scene import Kinds

KINDS: Kinds = {}
