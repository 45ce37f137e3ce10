"""What Claude Code says and allows when its model reads and changes files: one value per version that was asked.

A text in `<tool_use_error>` is refused before anything is done; one without is a failure on the way. Both come to the
model as a failed result.
"""

from __future__ import annotations

from foretold.dialects.releases.history import DatedChange, ReleaseHistory
from foretold.types import NamedTuple

#: extensions that Read does not open, whatever is in the file; lower case, without the dot
BINARY = frozenset(
    "7z a aac app avi bin bmp bz2 class com dat data db deb dll dmg doc docx dylib eot exe fla flac flv gz ico idx iso"
    " jar key lib lz lzma m4a m4v mdb mkv mov mp3 mp4 mpeg mpg msi node numbers o obj odp ods odt ogg opus otf pack"
    " pages ppt pptx psd pyc pyo rar rlib rpm so sqlite sqlite3 swf tar tgz tif tiff ttf wasm wav war webm wma wmv woff"
    " woff2 xls xlsx xz z zip".split()
)
IMAGES = ("png", "jpg", "jpeg", "gif", "webp")
BLOCKING = (
    "/dev/zero /dev/random /dev/urandom /dev/full /dev/stdin /dev/tty /dev/console /dev/stdout /dev/stderr"
    " /dev/fd/0 /dev/fd/1 /dev/fd/2"
).split()
CURRENT = " (file state is current in your context — no need to Read it back)"
NOT_READ = "File has not been read yet. Read it first before writing to it."
MODIFIED = (
    "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
)
TOO_LARGE = "File content ({size}) exceeds maximum allowed size ({limit})."
TOO_MANY_TOKENS = "File content ({tokens} tokens) exceeds maximum allowed tokens ({limit})."
IN_PORTIONS = (
    " Use offset and limit parameters to read specific portions of the file, or search for specific content instead of"
    " reading the whole file."
)
SWAPPED = (
    "\n(note: Edit also tried swapping \\uXXXX escapes and their characters; neither form matched, so the mismatch is"
    " likely elsewhere in old_string. Re-read the file and copy the exact surrounding text.)"
)
MATCHES = (
    "Found {count} matches of the string to replace, but replace_all is false. To replace all occurrences, set"
    " replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the"
    " instance.\nString: {old}"
)
KEPT_ENCODING = (
    " These tools write UTF-8 (or UTF-16LE behind its byte-order mark) and never convert a file's encoding on their"
    " own, so nothing was written. If the file is text, make the change with a shell command that reads and writes"
    " it in its own encoding (iconv, or PowerShell Get-Content/Set-Content -Encoding), or ask the user whether to"
    " convert it to UTF-8 first. To replace the whole file with new UTF-8 text anyway, delete it first, then Write it."
)
REFUSED_LATER = (
    " Edit and Write will refuse it: change it with a shell command that keeps its encoding, or ask the user whether to"
    " convert it to UTF-8."
)
HAS_NUL = (
    "has NUL bytes in its first 8 KB: binary data, UTF-16/UTF-32 without a byte-order mark, or text with embedded NULs."
)
#: what is wrong with an encoding -> what it is, and what only the note below a Read adds
ENCODINGS = {
    "big-endian": ("is UTF-16 big-endian (it starts FE FF), which these tools cannot write.", ""),
    "nul": (HAS_NUL, ""),
    "not-utf-8": (
        "is not valid UTF-8: it uses a legacy encoding such as Windows-1252, Shift-JIS or GBK, or it is binary.",
        " Its undecodable bytes show above as U+FFFD.",
    ),
}


class FileRules(NamedTuple):
    """What one version does with files."""

    model: str  #: its default
    stub: str  #: instead of a text that was read before and has not changed; empty: the text again
    notice: str  #: a file was changed outside of the session; the snippet follows
    omitted: str  #: the same, where earlier snippets have used up the budget
    binary: str
    blocking: str
    link: str
    large: str  #: without its size, and how to go on
    page: str  #: before the lines that are shown of a file with too many tokens
    excerpt: str  #: the same, where its lines are too long for that
    stat: str  #: the system call in a message about a file where a folder should be
    must_read: tuple[str, ...] = ("",)  #: parts of the names of models that must read a file before they change it
    names_folder: str = ""  #: what Write says of a folder; empty: it was not read
    names_device: str = ""  #: what Edit says of a device; empty: as of a file
    says_empty: bool = False  #: an empty file is called so; else it is shorter than the offset, as is an empty line
    recovers: bool = False  #: an edit that fits a file changed since its read is made, and says so
    covers: bool = False  #: a range that holds the whole file is a whole read
    tells_context: bool = False  #: an edit says whether the model knows the whole text
    keeps_controls: bool = False  #: `\\uXXXX` of a control character stays as it is written
    sees_texts: bool = False  #: what a shell shows is kept with plain newlines, and blank lines show nothing
    keeps_mark: bool = False  #: Write keeps the byte order mark of the file; the mark does not count as a change
    reads_wide: bool = False  #: Read decodes UTF-16
    keeps_encoding: bool = False  #: what would lose bytes is refused
    reads_slash: bool = False  #: Read accepts a slash after the name of a file
    partial_stays: bool = False  #: a notice does not make a partial view a read
    resumes_ranges: bool = False  #: reads of a range count after a resume
    most_bytes: int = 262_144  #: of a file that is read without a limit
    most_tokens: int = 25_000  #: of what a read shows, where tokens are counted
    snippet: int = 8_192  #: UTF-16 units of a notice
    snippets: int = 16_384  #: of all notices at once; the one that passes it is the last with a text


_WAS_MODIFIED = (
    "Note: {path} was modified, either by the user or by a linter. This change was intentional, so make sure to"
    " take it into account as you proceed (ie. don't revert it unless the user asks you to). Don't tell the user this,"
    " since they are already aware."
)
_HAS_CHANGED = (
    "Note: {path} changed on disk since you last read it. That's usually deliberate, so take it as the current"
    " state rather than reverting it; if the change looks wrong, say so rather than undoing it yourself — otherwise no"
    " need to call it out."
)
_CHANGES = " Here are the relevant changes (shown with line numbers):\n"

BASE = FileRules(
    model="claude-opus-4-8",
    stub="Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.",
    notice=_WAS_MODIFIED + _CHANGES,
    omitted=_WAS_MODIFIED + " The diff was omitted because other modified files in this turn already exceeded the"
    " snippet budget; use the Read tool if you need the current content.",
    binary="This tool cannot read binary files. The file appears to be a binary {ending} file. Please use appropriate"
    " tools for binary file analysis.",
    blocking="Cannot read '{path}': this device file would block or produce infinite output.",
    link="Refusing to write through symlink: {path}. Resolve the symlink and pass the real target path explicitly.",
    large=IN_PORTIONS,
    page="<system-reminder>[Truncated: PARTIAL view — showing lines 1-{shown} of {lines} total ({tokens} tokens, cap"
    " {limit}). Call Read with offset={next} limit={shown} for the next page, or Grep to find a specific section. Do"
    " NOT answer from this page alone if the answer may be further in the file.]</system-reminder>\n\n",
    excerpt="<system-reminder>[Truncated: PARTIAL view — showing the first {shown} of {units} characters ({tokens}"
    " tokens, cap {limit}); this file has very long lines and cannot be paginated by line. Use Grep to find a specific"
    " section, or Read with offset/limit to page through it. Do NOT answer from this excerpt alone if the answer may be"
    " elsewhere in the file.]</system-reminder>\n\n",
    stat="statx",
)

_BINARY = (
    "This tool cannot read binary files. The file appears to be a binary {ending} file. Use a skill for this"
    " file type if one is available, or a shell command or script that can read the format."
)
_LINK = "Refusing to write {path}: it is a symbolic link. Write to the link's target path instead: {target}."
_NAMES_FOLDER = "{given} is a directory, not a file. To create a file inside it, include the file name in file_path."
_NAMES_DEVICE = "{path} exists but is not a regular file (a device, FIFO or socket). Edit only changes regular files."

CHANGES = (
    DatedChange(
        "2.1.325",
        "2.1.197",
        "Reading, editing and writing files differ in many messages.",
        {
            "model": "claude-opus-5-5",
            "stub": "",
            "notice": _HAS_CHANGED + _CHANGES,
            "omitted": _HAS_CHANGED + " The changes are not shown here; use Read if you need the current content.",
            "binary": _BINARY,
            "blocking": "Cannot read '{path}': this path names a device or process file that this tool does not read.",
            "link": _LINK,
            "page": "",
            "excerpt": "",
            "large": IN_PORTIONS
            + " To read it anyway, up to what still fits in your context, call Read again with allow_large:"
            " true — only if you genuinely need all of it or the user asked for the whole file.",
            "stat": "stat",
            "must_read": ("claude-3-", "haiku-4-5", "sonnet-4-5", "opus-4-5", "opus-4-6"),
            "names_folder": _NAMES_FOLDER,
            "names_device": _NAMES_DEVICE,
            "says_empty": True,
            "recovers": True,
            "covers": True,
            "tells_context": True,
            "keeps_controls": True,
            "sees_texts": True,
            "keeps_mark": True,
            "reads_wide": True,
            "keeps_encoding": True,
            "reads_slash": True,
            "partial_stays": True,
            "resumes_ranges": True,
        },
        topic="files",
    ),
)

STALE = (
    " (note: the file had been modified on disk since you last read it — the edit applied cleanly, but the file"
    " contains other changes not in your context. Read it before edits that depend on surrounding content.)"
)


HISTORY = ReleaseHistory(BASE, CHANGES)


def rules_of(version: str = "") -> FileRules:
    """The rules of a release; of what is not a version, the newest."""
    return HISTORY.at(version)
