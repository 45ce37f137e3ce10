"""Edit and Write, as the agent does them, in the order of its checks.

1. Edit: the two texts are the same; the file is missing; it is a folder; it has a text that an empty old one would
   overwrite; it is a notebook; it was not read; it was changed since; its encoding would be lost; the old text does not
   occur, or occurs more than once.
2. Write: it is a folder; it was not read; it was changed since. Then its encoding.
3. Changed since means: its time is newer than the one known, and the text is not the one that was wholly read. Some
   versions make an edit that fits anyway, and say so.
4. Neither writes through a link at the file's place.
5. The state then holds the new text: no Read is needed before the next change.
"""

from __future__ import annotations

from collections.abc import Callable

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
from foretold.files.read_state.encoded import MARK, DecodedText, decode_for_editing, encode, encoding_problem
from foretold.files.read_state.matching import find_match, fit_style, repair_text, replace_text, unescape
from foretold.files.read_state.values import KnownFile, Outcome, failed, refused
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.files.read_state.state import ReadState

NOT_REGULAR = "{path} exists but is not a regular file (a device, FIFO or socket). Edit only changes regular files."
LOST_BYTES = "bytes that are not UTF-8 were replaced by U+FFFD"
LOST_HALF = "an odd byte at its end was dropped"
LOST_MARK = "its byte order mark was dropped"


class EditTarget(NamedTuple):
    """A file that is about to be changed."""

    path: str
    exists: bool
    mtime: int
    data: bytes
    now: DecodedText
    known: KnownFile | None


def edit_file(state: ReadState, given: str, old: str, new: str, *, replace_all: bool) -> Outcome:
    """Replace a text in a file, or say why not."""
    path, rules = state.path_of(given), state.rules
    if state.repairs:
        old = unescape(old, keeps_controls=rules.keeps_controls)
        new = repair_text(new, path, keeps_controls=rules.keeps_controls)
    if old == new:
        return refused("no_change", "No changes to make: old_string and new_string are exactly the same.", path)
    target = _find_target(state, given, "Edit")
    if isinstance(target, Outcome):
        return target
    now = target.now
    match = find_match(now.text, old) if old else None
    count = now.text.count(match.text) if match else 0
    fits = count == 1 or (replace_all and count > 0)
    is_stale = target.exists and _is_stale(state, target)
    problem = _refuse_edit(state, target, old, count, fits=fits, is_stale=is_stale)
    if problem is not None:
        return problem
    text = replace_text(now.text, match.text, fit_style(match, new), every=replace_all) if match else new
    knows = not target.exists or (target.known is not None and target.known.shown and not is_stale)
    problem = _write(state, target, encode(text, wide=now.wide, crlf=now.crlf), text, knows=knows)
    if problem is not None:
        return problem
    done = "updated. All occurrences were successfully replaced." if replace_all else "updated successfully."
    note = STALE if is_stale and rules.recovers else CURRENT if knows or not rules.tells_context else ""
    loss = "" if not now.lossy else LOST_HALF if now.wide else LOST_BYTES
    kind = "updated_all" if replace_all else "updated"
    return Outcome(kind, f"The file {given} has been {done}{note}", path, loss=loss)


def _refuse_edit(
    state: ReadState, target: EditTarget, old: str, count: int, *, fits: bool, is_stale: bool
) -> Outcome | None:
    """Why a file cannot be edited; `count` is how often it has what is meant by the old text."""
    path, tell = target.path, refused if old else failed
    if not target.exists:
        return refused("not_found", state.missing(path), path) if old else None
    if not old and trim(target.now.text):
        return refused("exists", "Cannot create new file - file already exists.", path)
    if old and path.endswith(".ipynb"):
        return refused("notebook", "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.", path)
    if state.must_read and _is_unread(target):
        return tell("not_read", NOT_READ, path)
    if is_stale and not (state.rules.recovers and fits):
        return tell("modified_since_read", MODIFIED, path)
    problem = _encoding(target, tell) if state.rules.keeps_encoding else None
    if problem is not None or fits or not old:
        return problem
    if count:
        return refused("multiple_matches", MATCHES.format(count=count, old=old), path, matches=count)
    swapped = SWAPPED if unescape(old) != old or not old.isascii() else ""
    return refused("string_not_found", f"String to replace not found in file.\nString: {old}{swapped}", path)


def write_file(state: ReadState, given: str, content: str) -> Outcome:
    """Write a file, or say why not."""
    path, rules = state.path_of(given), state.rules
    if state.repairs:
        content = repair_text(content, path, keeps_controls=rules.keeps_controls)
    target = _find_target(state, given, "Write")
    if isinstance(target, Outcome):
        return target
    if target.exists:
        if state.must_read and _is_unread(target):
            return refused("not_read", NOT_READ, path)
        if _is_stale(state, target):
            return refused("modified_since_read", MODIFIED, path)
    elif state.spelled(given) != path and not rules.reads_slash:
        return failed("unwritable", f"ENOENT: no such file or directory, open '{state.spelled(given)}'", path)
    problem = _refuse_link(state, path) or (_encoding(target, failed) if rules.keeps_encoding else None)
    if problem is not None:
        return problem
    marked, loss = target.now.text.startswith(MARK) and not content.startswith(MARK), ""
    if marked and rules.keeps_mark:
        content = MARK + content
    elif marked:
        loss = LOST_MARK
    data = encode(content, wide=target.now.wide)
    text = content.replace("\r\n", "\n") if rules.keeps_mark else content
    problem = _write(state, target, data, text, knows=True)
    if problem is not None:
        return problem
    if target.now.text:
        return Outcome("updated", f"The file {given} has been updated successfully.{CURRENT}", path, loss=loss)
    return Outcome("created", f"File created successfully at: {given}{CURRENT}", path)


def _find_target(state: ReadState, given: str, tool: str) -> EditTarget | Outcome:
    """What is at a path, or why it cannot be changed."""
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
        return EditTarget(path, exists=False, mtime=0, data=b"", now=DecodedText(""), known=None)
    try:
        data = state.disk.read(path)
    except OSError as error:
        return refused("unreadable", f"Error calling tool ({tool}): EACCES: {error.strerror}, open '{path}'", path)
    known = state.entries.get(path)
    return EditTarget(path, exists=True, mtime=seen.mtime, data=data, now=decode_for_editing(data), known=known)


def _is_unread(target: EditTarget) -> bool:
    return target.known is None or target.known.partial


def _is_stale(state: ReadState, target: EditTarget) -> bool:
    known = target.known
    if known is None or target.mtime <= known.mtime:
        return False
    text, content = target.now.text, known.content
    if state.rules.keeps_mark:
        text, content = text.removeprefix(MARK), content.removeprefix(MARK)
    return not (known.whole and content == text)


def _encoding(target: EditTarget, tell: Callable[[str, str, str], Outcome]) -> Outcome | None:
    what = encoding_problem(target.data)
    return tell("encoding", f"File {ENCODINGS[what][0]}{KEPT_ENCODING}", target.path) if what else None


def _refuse_link(state: ReadState, path: str) -> Outcome | None:
    target = state.disk.target(path)
    return failed("linked", state.rules.link.format(path=path, target=target), path) if target else None


def _write(state: ReadState, target: EditTarget, data: bytes, text: str, *, knows: bool) -> Outcome | None:
    """Write, and remember what is there now; or say why that failed."""
    problem = _refuse_link(state, target.path)
    if problem is not None:
        return problem
    try:
        state.disk.write(target.path, data)
    except OSError as error:
        return failed("unwritable", f"{error.strerror or error}: '{target.path}'", target.path)
    seen = state.disk.see(target.path)
    is_plain = "\r\n" not in text  # a text with it is not the one that is read back
    state.know(target.path, KnownFile(text, seen.mtime, state.clock(), shown=knows and is_plain))
    return None
