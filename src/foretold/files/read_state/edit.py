"""Edit and Write, as the agent does them, in the order of its checks.

1. Edit: the two texts are the same; the file is missing; it is a folder; a text is there that an empty old one would
   overwrite; it is a notebook; it was not read; it was changed since; its encoding would be lost; the old text is not
   there, or there more than once.
2. Write: it is a folder; it was not read; it was changed since. Then its encoding.
3. Changed since means: its time is newer than the one known, and the text is not the one that was wholly read. Some
   versions make an edit that fits all the same, and say so.
4. Neither writes through a link that stands in the file's place.
5. The state then holds the new text: what follows needs no Read.
"""

from __future__ import annotations

from foretold.dialects.claude_code.files import (
    CURRENT,
    ENCODINGS,
    KEPT_ENCODING,
    MATCHES,
    MODIFIED,
    NOT_READ,
    STALE,
    SWAPPED,
)
from foretold.files.read_state.encoded import MARK, Text, for_editing, to_bytes, trouble
from foretold.files.read_state.entries import Entry
from foretold.files.read_state.matching import Match, find, fitted, repaired, replaced, unescaped
from foretold.files.read_state.outcome import Outcome, failed, refused
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from foretold.files.read_state.state import ReadState

NOT_REGULAR = "{path} exists but is not a regular file (a device, FIFO or socket). Edit only changes regular files."
LOST_BYTES = "bytes that are no UTF-8 were replaced by U+FFFD"
LOST_HALF = "an odd byte at its end was dropped"
LOST_MARK = "its byte order mark was dropped"


class Ground(NamedTuple):
    """A file that is about to be changed."""

    path: str
    exists: bool
    mtime: int
    data: bytes
    now: Text
    known: Entry | None


def edit_file(state: ReadState, given: str, old: str, new: str, *, replace_all: bool) -> Outcome:
    """Replace a text in a file, or tell why not."""
    path = state.path_of(given)
    if state.repairs:
        controls = state.rules.keeps_controls
        old, new = unescaped(old, keeps_controls=controls), repaired(new, path, keeps_controls=controls)
    if old == new:
        return refused("no_change", "No changes to make: old_string and new_string are exactly the same.", path)
    ground = _ground(state, given, "Edit")
    if isinstance(ground, Outcome):
        return ground
    if not ground.exists and old:
        return refused("not_found", state.missing(path), path)
    is_stale = ground.exists and _is_stale(state, ground)
    match = _found(ground, old, every=replace_all) if old else None
    fits = bool(old) and not isinstance(match, Outcome)
    problem = _no_edit(state, ground, old, is_stale=is_stale, fits=fits) if ground.exists else None
    if problem is not None:
        return problem
    if isinstance(match, Outcome):
        return match
    now = ground.now
    text = replaced(now.text, match.text, fitted(match, new), every=replace_all) if match else new
    knows = not ground.exists or (ground.known is not None and ground.known.shown and not is_stale)
    problem = _put(state, ground, to_bytes(text, wide=now.wide, crlf=now.crlf), text, knows=knows)
    if problem is not None:
        return problem
    done = "updated. All occurrences were successfully replaced." if replace_all else "updated successfully."
    said = f"The file {given} has been {done}{_known(state, knows=knows, is_stale=is_stale)}"
    loss = "" if not now.lossy else LOST_HALF if now.wide else LOST_BYTES
    return Outcome("updated_all" if replace_all else "updated", said, path, loss=loss)


def _found(ground: Ground, old: str, *, every: bool) -> Match | Outcome:
    """What is to be replaced, or why it is not clear."""
    match = find(ground.now.text, old)
    count = ground.now.text.count(match.text) if match else 0
    if match and (every or count == 1):
        return match
    if match:
        return refused("multiple_matches", MATCHES.format(count=count, old=old), ground.path, matches=count)
    swapped = SWAPPED if unescaped(old) != old or not old.isascii() else ""
    return refused("string_not_found", f"String to replace not found in file.\nString: {old}{swapped}", ground.path)


def _known(state: ReadState, *, knows: bool, is_stale: bool) -> str:
    """What is said of the model's knowledge of the file."""
    if is_stale and state.rules.recovers:
        return STALE
    return CURRENT if knows or not state.rules.tells_context else ""


def write_file(state: ReadState, given: str, content: str) -> Outcome:
    """Write a file, or tell why not."""
    path, rules = state.path_of(given), state.rules
    if state.repairs:
        content = repaired(content, path, keeps_controls=rules.keeps_controls)
    ground = _ground(state, given, "Write")
    if isinstance(ground, Outcome):
        return ground
    if ground.exists:
        if state.must_read and _is_unread(ground):
            return refused("not_read", NOT_READ, path)
        if _is_stale(state, ground):
            return refused("modified_since_read", MODIFIED, path)
    elif state.spelled(given) != path and not rules.reads_slash:
        return failed("unwritable", f"ENOENT: no such file or directory, open '{state.spelled(given)}'", path)
    problem = _linked(state, path) or (_encoding(ground, failed) if rules.keeps_encoding else None)
    if problem is not None:
        return problem
    marked, loss = ground.now.text.startswith(MARK) and not content.startswith(MARK), ""
    if marked and rules.keeps_mark:
        content = MARK + content
    elif marked:
        loss = LOST_MARK
    data = to_bytes(content, wide=ground.now.wide)
    text = content.replace("\r\n", "\n") if rules.keeps_mark else content
    problem = _put(state, ground, data, text, knows=True)
    if problem is not None:
        return problem
    if ground.now.text:
        return Outcome("updated", f"The file {given} has been updated successfully.{CURRENT}", path, loss=loss)
    return Outcome("created", f"File created successfully at: {given}{CURRENT}", path)


def _ground(state: ReadState, given: str, tool: str) -> Ground | Outcome:
    """What stands at a path, or why nothing there can be changed."""
    path, spelled = state.path_of(given), state.spelled(given)
    seen = state.disk.see(spelled)
    if seen.kind == "under-a-file":
        said = f"Error calling tool ({tool}): ENOTDIR: not a directory, {state.rules.stat} '{spelled}'"
        return refused("under_a_file", said, path)
    if seen.kind == "folder":
        if tool == "Edit":
            said = "Error calling tool (Edit): EISDIR: illegal operation on a directory, read"
            return refused("folder", said, path)
        if state.rules.names_folder:
            return refused("folder", state.rules.names_folder.format(given=given), path)
        return refused("not_read", NOT_READ, path)
    if seen.kind in ("other", "unreadable"):
        said = (state.rules.names_device or NOT_REGULAR).format(path=path) if seen.kind == "other" else seen.said
        return refused("not_a_file" if seen.kind == "other" else "unreadable", said, path)
    if seen.kind == "missing":
        return Ground(path, exists=False, mtime=0, data=b"", now=Text(""), known=None)
    try:
        data = state.disk.read(path)
    except OSError as error:
        return refused("unreadable", f"Error calling tool ({tool}): EACCES: {error.strerror}, open '{path}'", path)
    return Ground(path, True, seen.mtime, data, for_editing(data), state.entries.get(path))  # noqa: FBT003


def _no_edit(state: ReadState, ground: Ground, old: str, *, is_stale: bool, fits: bool) -> Outcome | None:
    """Why a file that is there cannot be edited, whatever its text."""
    path, tell = ground.path, refused if old else failed
    if not old and trim(ground.now.text):
        return refused("exists", "Cannot create new file - file already exists.", path)
    if old and path.endswith(".ipynb"):
        return refused("notebook", "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.", path)
    if state.must_read and _is_unread(ground):
        return tell("not_read", NOT_READ, path)
    if is_stale and not (state.rules.recovers and fits):
        return tell("modified_since_read", MODIFIED, path)
    return _encoding(ground, tell) if state.rules.keeps_encoding else None


def _is_unread(ground: Ground) -> bool:
    return ground.known is None or ground.known.partial


def _is_stale(state: ReadState, ground: Ground) -> bool:
    known = ground.known
    if known is None or ground.mtime <= known.mtime:
        return False
    text, content = ground.now.text, known.content
    if state.rules.keeps_mark:
        text, content = text.removeprefix(MARK), content.removeprefix(MARK)
    return not (known.whole and content == text)


def _encoding(ground: Ground, tell: Callable[[str, str, str], Outcome]) -> Outcome | None:
    what = trouble(ground.data)
    return tell("encoding", f"File {ENCODINGS[what][0]}{KEPT_ENCODING}", ground.path) if what else None


def _linked(state: ReadState, path: str) -> Outcome | None:
    target = state.disk.target(path)
    return failed("linked", state.rules.link.format(path=path, target=target), path) if target else None


def _put(state: ReadState, ground: Ground, data: bytes, text: str, *, knows: bool) -> Outcome | None:
    """Write, and remember what is there now; or why it could not be written."""
    problem = _linked(state, ground.path)
    if problem is not None:
        return problem
    try:
        state.disk.write(ground.path, data)
    except OSError as error:
        return failed("unwritable", f"{error.strerror or error}: '{ground.path}'", ground.path)
    seen = state.disk.see(ground.path)
    is_plain = "\r\n" not in text  # a text with it is not the one that is read back
    state.know(ground.path, Entry(text, seen.mtime, state.clock(), shown=knows and is_plain))
    return None
