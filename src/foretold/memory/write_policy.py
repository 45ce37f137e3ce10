"""Whether a memory may be written: by anyone, and by an agent itself with a tool that writes files.

1. What looks like a credential is refused in every memory, with its kind and never its text. What a call removes, or
   what was there before, may be one. A person may allow it for a memory that is not the team's.
2. The team's folder takes no memory of type `user`: that is about a person.
3. The user's policy decides the rest: `read-only` and `manual` refuse, `confirm` asks the user, `auto` lets agents
   write their own memories. About the team's memories the user is always asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from foretold.errors import WriteRefused
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.secrets.forms import Credential

REFUSALS = {
    "read-only": "The memories of this project are read-only (memory.policy). Do not write them.",
    "manual": "The memories of this project are written by the user alone (memory.policy). Tell the user what you "
    "would remember, and why: they can add it with `foretold memory add`.",
}
ASK = "The memories of this project are changed with the user's consent (memory.policy)."
ASK_TEAM = "What is written here is shared with everyone who works on this repository."
PERSONAL = "A memory of type user is about a person, and is not shared with the team. Keep it private."


def find_new_credentials(text: str, before: str = "") -> list[Credential]:
    """What looks like a credential in a text that is to be written, and was not in it before."""
    from foretold.secrets.forms import credentials_in

    found = credentials_in(text)
    known = {each.fingerprint for each in credentials_in(before)} if found else set()
    return [each for each in found if each.fingerprint not in known]


def refuse_new_credentials(text: str, before: str = "", *, otherwise: str) -> None:
    """Raise if a text adds what looks like a credential; `otherwise` says how to write it if it is not one."""
    if found := find_new_credentials(text, before):
        said = f"this looks like a credential ({found[0].kind}), and memories are sent to models: nothing was written"
        raise WriteRefused(f"{said}. Remove it; if it is not one, {otherwise}")


class WriteDecision(NamedTuple):
    """What to do with a call: `deny`, `ask`, or nothing, which leaves it to the agent. `note` is for a log."""

    decision: str
    reason: str = ""
    note: str = ""


def decide_write(policy: str, text: str, *, is_team: bool) -> WriteDecision:
    """Decide about a call that would write a text into a folder of memories."""
    if text:
        from foretold.secrets.forms import credentials_in

        kinds = ", ".join(dict.fromkeys(found.kind for found in credentials_in(text)))
        if kinds:
            said = f"This looks like a credential ({kinds}), and memories are sent to models: leave it out."
            return WriteDecision("deny", said, f"a credential, {kinds}")
    if is_team:
        from foretold.memory.note import read_note

        if read_note("note.md", text.encode("utf-8", "replace")).type == "user":
            return WriteDecision("deny", PERSONAL, "a memory about a person, for the team")
    if policy in REFUSALS:
        return WriteDecision("deny", REFUSALS[policy])
    if is_team or policy == "confirm":
        return WriteDecision("ask", ASK_TEAM if is_team else ASK)
    return WriteDecision("")


def written_text(given: Mapping[str, object]) -> str:
    """All text that a call of a tool would write, as far as the input shows it."""
    parts = [given.get(key) for key in ("command", "content", "new_string", "new_source", "text")]
    edits = given.get("edits")
    parts += [edit.get("new_string") for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    return "\n".join(str(part) for part in parts if part)
