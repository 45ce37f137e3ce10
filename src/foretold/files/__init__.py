"""What an agent touched: which files it has read, and what they were before it changed them.

    state = foretold.files.ReadState(".")
    state.read("src/a.py").text
    state.edit("src/a.py", "old", "new").code

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES = {
    "FileHistory": "foretold.files.history.history",
    "Notice": "foretold.files.read_state.notice",
    "Outcome": "foretold.files.read_state.outcome",
    "ReadState": "foretold.files.read_state.state",
    "Recent": "foretold.files.read_state.entries",
    "Recorded": "foretold.files.history.recorded",
    "Undo": "foretold.files.restore.undo",
    "find_session": "foretold.files.history.recorded",
    "sessions_of": "foretold.files.history.recorded",
    "sessions_with": "foretold.files.history.recorded",
    "version_at": "foretold.files.history.versions",
    "versions_of": "foretold.files.history.versions",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.files.history.history import FileHistory as FileHistory
    from foretold.files.history.recorded import Recorded as Recorded
    from foretold.files.history.recorded import find_session as find_session
    from foretold.files.history.recorded import sessions_of as sessions_of
    from foretold.files.history.recorded import sessions_with as sessions_with
    from foretold.files.history.versions import version_at as version_at
    from foretold.files.history.versions import versions_of as versions_of
    from foretold.files.read_state.entries import Recent as Recent
    from foretold.files.read_state.notice import Notice as Notice
    from foretold.files.read_state.outcome import Outcome as Outcome
    from foretold.files.read_state.state import ReadState as ReadState
    from foretold.files.restore.undo import Undo as Undo


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'foretold.files' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
