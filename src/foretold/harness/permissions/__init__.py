"""What the tools of a conversation may do: `Permission`."""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.harness.permissions.check import Permission as Permission, PermissionVerdict as PermissionVerdict

__getattr__, __dir__ = attach(__name__, {"foretold.harness.permissions.check": "Permission PermissionVerdict"})
