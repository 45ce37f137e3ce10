"""The memory folder under the hands of a model: what it writes there is kept as the agent keeps it.

1. Who may write is the project's setting (`foretold memory`): unless agents may, a Write or Edit in the folder is
   refused, and the model is told to tell the user. So is what looks like a credential.
2. After a Write or Edit of a `.md` file there, its frontmatter is in the agent's own form, with the session it came
   from (`memory.stored`). The model may go on editing it without a Read.
3. What is read there, when it is two days old or more, has a note about its age before it.
"""

from __future__ import annotations

import os
import time

from foretold.harness.tools.base import Result
from foretold.memory.format.agent import age_note, form_of
from foretold.memory.format.write import stored
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foretold.files.read_state.state import ReadState
    from foretold.memory.location import Place

CHANGING = ("Write", "Edit")
TEXTS = ("content", "new_string")  #: fields of their input that are written
REFUSED = (
    "Nothing was written: the memories of this project are not written by agents ({setting}). If it matters, tell the"
    " user what you would have saved; `foretold memory add` saves it."
)
CREDENTIAL = "Nothing was written: this looks like a credential ({kind}), and memories hold none."


class Remembering:
    """What is special about the memory folder of a conversation."""

    def __init__(
        self, place: Place, state: ReadState, session: str, agent: str, clock: Callable[[], float] = time.time
    ) -> None:
        self.place, self.state, self.session = place, state, session
        self.form, self.clock = form_of(agent), clock

    def refused(self, call: Mapping[str, object]) -> Result | None:
        """Why a call must not be run; None if it may."""
        path, given = self._path(call), call.get("input")
        if call.get("name") not in CHANGING or not self._is_memory(path) or not isinstance(given, dict):
            return None
        if self.place.policy != "auto":
            return _wrong(REFUSED.format(setting=f'policy = "{self.place.policy}"'))
        from foretold.secrets.forms import credentials_in

        for found in credentials_in("\n".join(str(given.get(name, "")) for name in TEXTS)):
            return _wrong(CREDENTIAL.format(kind=found.kind))
        return None

    def after(self, call: Mapping[str, object], result: Result) -> Result:
        """The result of a call that was run."""
        path = self._path(call)
        if result.is_error or not self._is_memory(path):
            return result
        if call.get("name") in CHANGING and path.endswith(".md"):
            self._store(path)
        if call.get("name") == "Read" and isinstance(result.content, str):
            return result._replace(content=age_note(os.stat(path).st_mtime, self.clock()) + result.content)
        return result

    def _store(self, path: str) -> None:
        entry = self.state.entries.get(path)
        if entry is None or not entry.whole:
            return
        seconds = self.clock()
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03}Z"
        text = stored(entry.content, self.session, self.form, now)
        if text != entry.content:
            self.state.write(path, text)

    def _path(self, call: Mapping[str, object]) -> str:
        given = call.get("input")
        path = given.get("file_path") if isinstance(given, dict) else None
        return self.state.path_of(path) if isinstance(path, str) else ""

    def _is_memory(self, path: str) -> bool:
        store = self.place.store
        return bool(path) and path != store and is_inside(path, store)


def _wrong(said: str) -> Result:
    return Result(f"<tool_use_error>{said}</tool_use_error>", is_error=True, value=f"Error: {said}")
