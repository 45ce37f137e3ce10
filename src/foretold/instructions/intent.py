"""Whether an `@path` that the agent does not import was meant as an import: a finding needs evidence of that.

1. What names no file is a path if its extension is that of a document or of settings, or if its folder is there. So
   `@docs/stlye.md` is one, and `@solana/web3.js`, `@relation(...)`, `@app.route("/")` are packages and decorators.
2. In code, the agent leaves an `@path` alone so that examples stay examples. It was meant if its file exists, is a
   document or settings, and

   a. is all that its code span holds, after a label (`Style: `) or a word for reading (`see`, `follow`), or alone in
      its line or list item; or is alone in a line of a code block that a line with such a word introduces;
   b. and neither its line, the line before its block, nor the heading above speaks of syntax, examples or importing.
"""

from __future__ import annotations

from foretold.storage.tree import Tree, is_inside
from foretold.text.patterns import lazy

PUNCTUATION = ".,;:!?)]}>\"'*_`"
#: what people import: documents and settings; other extensions are also endings of packages and of decorators
DOCUMENTS = frozenset(
    "adoc asciidoc cfg conf csv env ini json json5 jsonc markdown md mdc mdx org rst tex text toml txt xml yaml"
    " yml".split()
)
LONGEST = 1_000  #: characters of a line that is read for evidence
#: an `@path` as it is written: white space ends it, unless a backslash is before it
IMPORT_TOKEN = lazy(r"@((?:[^\s\\]|\\ )+)")
_CODE = lazy(r"[()\[\]{}<>=\"'`|$*@]")
_EXTENSION = lazy(r"\.([A-Za-z0-9]{1,10})\Z")
_FENCE = lazy(r"[ >]*(```+|~~~+)\s*([\w-]*)")
_HEADING = lazy(r" {0,3}#{1,6}\s+(.*)")
_LEAD = lazy(r"[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?[*_]*")
_READ = lazy(
    r"(?i)\b(?:see|read|reads|follow|consult|check|refer|load|loaded|loads|include|obey|apply|details|described|documented|defined)\b"
)
_SYNTAX = lazy(r"(?i)\b(?:syntax|examples?|e\.g|for instance|such as|placeholders?|templates?|usage|prompts?)\b")
_IMPORTING = lazy(r"(?i)\b(?:import|evaluat|code (?:span|block)|inlin)")


def extension_of_path(path: str) -> str:
    """The extension of what may be a path, in lower case; empty if it does not look like a path at all."""
    name = path.rpartition("/")[2].rstrip(PUNCTUATION)
    found = _EXTENSION.search(name) if name.strip(".") and not _CODE.search(name) else None
    return found[1].lower() if found else ""


def is_path(target: str, folder: str, tree: Tree) -> bool:
    """Whether an import of something that is not there was meant as a path; `folder` is that of the importing file."""
    extension = extension_of_path(target)
    above = target.rpartition("/")[0] or "/"
    if extension in DOCUMENTS:
        written = target[len(folder) :] if is_inside(target, folder) else target
        return not _CODE.search(written) or tree.kind(above) == "folder"
    return bool(extension) and above != folder and tree.kind(above) == "folder"


def is_plain_path(written: str) -> bool:
    """Whether a text is the path of a document at first sight. One that is not may be a path all the same.

    >>> is_plain_path("docs/style.md"), is_plain_path("docs/style.md,"), is_plain_path("alice")
    (True, False, False)
    """
    return written.rpartition(".")[2].lower() in DOCUMENTS and not _CODE.search(written) and written[-2:-1] != "."


def is_plain_name(target: str) -> bool:
    """Whether the last part of a path is a word without any ending, as in `@alice`."""
    name = target.rpartition("/")[2]
    return name.isalnum() and name not in ("include", "import")


class CodeContext:
    """The lines of a file, and for each of them the fence that it is below and the heading that it is under."""

    __slots__ = ("_fences", "_headings", "_lines")

    def __init__(self, text: str) -> None:
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._fences: list[
            int
        ] = []  #: the line of the fence that opens the code block around a line; 0 if there is none
        self._headings: list[str] = []
        opened, mark, heading = 0, "", ""
        for number, row in enumerate(self._lines, 1):
            fence = _FENCE.match(row) if "```" in row or "~~~" in row else None
            self._fences.append(opened)
            if not opened and (found := _HEADING.match(row)):
                heading = found[1]
            self._headings.append(heading)
            if fence and not opened:
                opened, mark = number, fence[1]
            elif fence and fence[1].startswith(mark) and not fence[2]:
                opened = 0

    def is_import(self, line: int, target: str) -> bool:
        """Whether an `@path` in code, on this line (from 1), was meant to be followed."""
        is_line = 0 < line <= len(self._lines) and len(self._lines[line - 1]) <= LONGEST
        if not is_line or extension_of_path(target) not in DOCUMENTS:
            return False
        text, fence, heading = self._lines[line - 1], self._fences[line - 1], self._headings[line - 1]
        if _SYNTAX.search(text) or _SYNTAX.search(heading) or _IMPORTING.search(text):
            return False
        name = target.rpartition("/")[2]
        if not fence:
            return _is_referred_to(text, name)
        intro = next((row for row in reversed(self._lines[max(0, fence - 4) : fence - 1]) if row.strip()), "")[:LONGEST]
        is_example = _SYNTAX.search(intro) or _IMPORTING.search(intro) or _IMPORTING.search(heading)
        return not is_example and bool(_READ.search(intro)) and _is_alone(text, name)


def _is_referred_to(text: str, name: str) -> bool:
    """Whether a code span holds just this `@path`, and the line refers to it."""
    before, span, after = text.partition(f"{name}`")
    label, tick, path = before.rpartition("`")
    if not span or not tick or not path.startswith("@") or " " in path:
        return False
    label = label[_lead(label) :].rstrip("*_ ")
    return label.endswith(":") or bool(_READ.search(label)) or not (label or after.strip(PUNCTUATION + " "))


def _is_alone(text: str, name: str) -> bool:
    words = text[_lead(text) :].split()
    return len(words) == 1 and words[0].startswith("@") and words[0].rstrip(PUNCTUATION).endswith(name)


def _lead(text: str) -> int:
    """The length of what begins a line: the marks of a list item, a quote, a box to tick, emphasis."""
    found = _LEAD.match(text)
    return found.end() if found else 0
