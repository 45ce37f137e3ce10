"""Whether an agent may write a memory itself, with a tool that writes files.

1. Only files in the folders of memories are looked at: the project's own, and the team's.
2. What the user's policy says holds: `read-only` and `manual` refuse, `confirm` asks the user, `auto` lets agents write
   their own memories. About the team's the user is always asked.
3. What looks like a credential is refused in every memory. What a call takes away may be one.
"""

from __future__ import annotations

import os

from foretold.memory.project import POLICY
from foretold.secrets.forms import credentials_in
from foretold.storage.tree import is_inside
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foretold.memory.project import Memories

#: tools that write a file, with the input that names it
WRITERS = {"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
TEAM = "This is a memory of the team: it is changed with the user's consent."


class Judgement(NamedTuple):
    """What is to become of a call."""

    decision: str  #: deny, ask, or empty: that is for others to say
    reason: str = ""


def judged(memories: Memories, tool: str, given: Mapping[str, object], cwd: str) -> Judgement:
    """Whether a call may write the memory that it would write; nothing is said of others.

    >>> import foretold, tempfile
    >>> place = tempfile.mkdtemp()
    >>> memories = foretold.memory.open(place, home=place, env={}, policy="read-only")
    >>> judged(memories, "Write", {"file_path": f"{memories.place.store}/a.md", "content": "Tabs."}, place)
    Judgement(decision='deny', reason='Do not write these files: this memory is read-only.')
    >>> judged(memories, "Write", {"file_path": "a.md", "content": "Tabs."}, place).decision
    ''
    """
    named, place = given.get(WRITERS.get(tool, "")), memories.place
    if not isinstance(named, str) or "\0" in named:
        return Judgement("")
    path = os.path.realpath(os.path.join(cwd, named))
    is_shared = bool(place.team) and is_inside(path, os.path.realpath(place.team))
    folders = (place.store, place.under)
    if not is_shared and not any(is_inside(path, os.path.realpath(folder)) for folder in folders if folder):
        return Judgement("")
    if place.policy in ("manual", "read-only"):
        return Judgement("deny", POLICY[place.policy])
    held = credentials_in("\n".join(_texts(given)))
    if held:
        return Judgement("deny", f"This looks like a credential ({held[0].kind}): a memory must not hold any.")
    if is_shared or place.policy == "confirm":
        return Judgement("ask", TEAM if is_shared else POLICY["confirm"])
    return Judgement("")


def _texts(value: object) -> list[str]:
    """All texts in a value, however deep, that would be written.

    >>> _texts({"edits": [{"old_string": "gone", "new_string": "new"}]})
    ['new']
    """
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [each for key, each in value.items() if key != "old_string"]
    return [text for each in (value if isinstance(value, list) else ()) for text in _texts(each)]
