"""What an agent touched: which files it has read, and what they were before it changed them.

    state = foretold.files.ReadState(".")
    state.read("src/a.py").text
    state.edit("src/a.py", "old", "new").code

Importing this does nothing: each name is fetched when it is first used.
"""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.files.history.history import FileHistory as FileHistory
    from foretold.files.history.recorded import (
        Recorded as Recorded,
        find_session as find_session,
        list_sessions_in as list_sessions_in,
        list_sessions_with as list_sessions_with,
    )
    from foretold.files.history.versions import find_version as find_version, list_versions as list_versions
    from foretold.files.read_state.notice import Notice as Notice
    from foretold.files.read_state.state import ReadState as ReadState
    from foretold.files.read_state.values import Outcome as Outcome, Recent as Recent
    from foretold.files.restore.restore import Undo as Undo

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.files.history.history": "FileHistory",
        "foretold.files.history.recorded": "Recorded find_session list_sessions_in list_sessions_with",
        "foretold.files.history.versions": "find_version list_versions",
        "foretold.files.read_state.notice": "Notice",
        "foretold.files.read_state.values": "Outcome Recent",
        "foretold.files.read_state.state": "ReadState",
        "foretold.files.restore.restore": "Undo",
    },
)
