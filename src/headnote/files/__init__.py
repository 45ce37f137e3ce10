"""What an agent touched: which files it has read, and what they were before it changed them.

    state = headnote.files.ReadState(".")
    state.read("src/a.py").text
    state.edit("src/a.py", "old", "new").code

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

_PLACES = {
    "FileHistory": "headnote.files.history",
    "Notice": "headnote.files.notice",
    "Outcome": "headnote.files.outcome",
    "ReadState": "headnote.files.state",
    "Recent": "headnote.files.entries",
    "Recorded": "headnote.files.recorded",
    "Undo": "headnote.files.undo",
    "find_session": "headnote.files.recorded",
    "sessions_of": "headnote.files.recorded",
    "sessions_with": "headnote.files.recorded",
    "version_at": "headnote.files.versions",
    "versions_of": "headnote.files.versions",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headnote.files.entries import Recent as Recent
    from headnote.files.history import FileHistory as FileHistory
    from headnote.files.notice import Notice as Notice
    from headnote.files.outcome import Outcome as Outcome
    from headnote.files.recorded import Recorded as Recorded
    from headnote.files.recorded import find_session as find_session
    from headnote.files.recorded import sessions_of as sessions_of
    from headnote.files.recorded import sessions_with as sessions_with
    from headnote.files.state import ReadState as ReadState
    from headnote.files.undo import Undo as Undo
    from headnote.files.versions import version_at as version_at
    from headnote.files.versions import versions_of as versions_of


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'headnote.files' has no attribute {name!r}")
    value: object = getattr(__import__(_PLACES[name], fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
