"""What an agent touched: which files it has read, and what they were before it changed them.

    state = foretold.files.ReadState(".")
    state.read("src/a.py").text
    state.edit("src/a.py", "old", "new").code

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES = {
    "FileHistory": "foretold.files.history",
    "Notice": "foretold.files.notice",
    "Outcome": "foretold.files.outcome",
    "ReadState": "foretold.files.state",
    "Recent": "foretold.files.entries",
    "Recorded": "foretold.files.recorded",
    "Undo": "foretold.files.undo",
    "find_session": "foretold.files.recorded",
    "sessions_of": "foretold.files.recorded",
    "sessions_with": "foretold.files.recorded",
    "version_at": "foretold.files.versions",
    "versions_of": "foretold.files.versions",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.files.entries import Recent as Recent
    from foretold.files.history import FileHistory as FileHistory
    from foretold.files.notice import Notice as Notice
    from foretold.files.outcome import Outcome as Outcome
    from foretold.files.recorded import Recorded as Recorded
    from foretold.files.recorded import find_session as find_session
    from foretold.files.recorded import sessions_of as sessions_of
    from foretold.files.recorded import sessions_with as sessions_with
    from foretold.files.state import ReadState as ReadState
    from foretold.files.undo import Undo as Undo
    from foretold.files.versions import version_at as version_at
    from foretold.files.versions import versions_of as versions_of


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'foretold.files' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
