"""Names of a package that are imported when they are first used, so that importing the package does nothing."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def attach(
    package: str, names: dict[str, str], *, rooms: str = ""
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package: `names` has the public names of each module, `rooms` subpackages.

    >>> get, names = attach("foretold", {"foretold.errors": "BadName UnknownAgent"}, rooms="memory")
    >>> get("BadName"), names()
    (<class 'foretold.errors.BadName'>, ['BadName', 'UnknownAgent', 'memory'])
    """
    modules = {name: module for module, listed in names.items() for name in listed.split()}
    modules |= {room: f"{package}.{room}" for room in rooms.split()}

    def get(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = __import__(modules[name], fromlist=[name])
        value: object = module if name in rooms.split() else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(modules)
