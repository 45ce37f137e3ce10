"""The words of foretold as values: Entry, Skip, Finding, Message, Block, Attachment.

They import nothing of ours and nothing heavy. `typing` alone costs a third of a bare interpreter start, so
`NamedTuple` here is the same thing for a type checker and a small class builder at run time.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple, TypeAlias

    Message: TypeAlias = dict[str, object]
else:

    class _FromAnnotations(type):
        """Build a named tuple from a class body, as `typing.NamedTuple` does, without importing `typing`."""

        def __new__(meta, name, bases, body):
            if not bases:
                return type.__new__(meta, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = [body.pop(field) for field in fields if field in body]
            base = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            return type(name, (base,), {"__slots__": (), **body})

    class NamedTuple(metaclass=_FromAnnotations):
        pass

    Message = dict


class Entry(NamedTuple):
    """One piece of text the model receives, and where it comes from."""

    path: str  #: as the agent shows it
    layer: str  #: managed, user, project, local, memory
    text: str  #: as the model sees it: frontmatter and comments gone, not yet trimmed
    raw: str  #: as it is on disk, decoded
    kind: str = "file"  #: file, rule, import, setting, index; row and folder-row: only listed
    reason: str = "session_start"  #: or include, nested_traversal, path_glob_match
    parent: str | None = None  #: the file whose import brought it
    trigger: str | None = None  #: the touched file that brought it
    globs: tuple[str, ...] = ()  #: its `paths`, normalised
    size: int = 0  #: bytes on disk
    depth: int = 0  #: hops from the file that was found, not imported
    folder: str = ""  #: the folder it speaks for
    announced: bool = True  #: whether the agent's own InstructionsLoaded hook reports it
    fallback: bool = False  #: whether it was read in place of the agent's own files, or imported from such a file
    name: str = ""  #: of agents that give a rule a name
    includes: tuple[str, ...] = ()  #: files whose text stands in this one, where imports are put in place

    @property
    def tokens(self) -> int:
        """An estimate: four bytes of UTF-8 a token. No tokenizer of a current Claude model is public."""
        return estimate_tokens(self.text)

    @property
    def differs_from_disk(self) -> bool:
        return self.text != self.raw

    @property
    def is_listed(self) -> bool:
        """Whether the model gets only its name, and what it is for, not its text."""
        return self.kind in ("row", "folder-row")


class Skip(NamedTuple):
    """A candidate that is there, or was asked for, and is not delivered."""

    path: str
    reason: str  #: see `foretold.types.REASONS`
    detail: str = ""
    layer: str = ""
    parent: str | None = None
    line: int | None = None
    globs: tuple[str, ...] = ()


class Facts(NamedTuple):
    """What a finding is about, as values: a fix is made of these, never of the words of a message."""

    subject: str  #: what is written: a word, a pattern, a path; of an import, the whole path that it leads to
    meant: str = ""  #: what should be there instead: a word, a path, the name of a file
    detail: str = ""  #: which of several causes it has


class Finding(NamedTuple):
    """Something the author of a file should know. A value, never an exception."""

    path: str
    line: int | None
    code: str
    message: str
    hint: str = ""

    @property
    def facts(self) -> Facts | None:
        """What it is about, if a program can do something about it. Not one of its values: those are for people."""
        return vars(self).get("facts") if hasattr(self, "__dict__") else None


class FactFinding(Finding):
    """A finding with its facts."""

    def __new__(cls, *values: str | int | None, facts: Facts | None) -> FactFinding:
        made = tuple.__new__(cls, values if len(values) == 5 else (*values, ""))
        vars(made)["facts"] = facts
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str | int | None, ...], dict[str, Facts | None]]:
        """What a copy is made of."""
        return tuple(self), {"facts": self.facts}


class Block(NamedTuple):
    """One content block that goes to the model: its role, its type (text or tool_result) and its text.

    The text of a `tool_result` block is what is appended to the tool's own output.
    """

    role: str
    type: str
    text: str


class Slot(NamedTuple):
    """A place in a request and the block that stands there."""

    place: str  #: before-prompt, after-tools, with-prompt
    block: Block


REASONS: dict[str, str] = {
    "already-attached": "it was attached earlier in this conversation",
    "already-loaded": "the model has it already, from the start of the session",
    "bad-encoding": "it has bytes that are not UTF-8, and the agent drops such a file",
    "bad-frontmatter": "its frontmatter does not parse, and the agent drops such a rule",
    "bad-name": "no file can have this name",
    "budget": "the bytes that the agent loads were used up before it",
    "depth-cap": "it is imported more levels deep than the agent follows",
    "disabled": "a switch turns this off",
    "duplicate": "the same file was loaded before, under this or another path",
    "empty": "nothing is left of it after frontmatter, comments and white space",
    "excluded": "an exclude pattern matches it",
    "folder": "a folder stands where a file should",
    "hidden": "its name begins with a dot, and the agent leaves out such names",
    "in-code": "the import stands where the agent does not look for imports",
    "lost": "a compaction or clearing took it; it comes again when a file that it speaks for is touched",
    "missing": "there is no such file",
    "no-match": "its `paths` match nothing that is here",
    "not-a-file": "it is a FIFO, a socket or a device",
    "not-a-text-file": "the agent imports no files with this extension",
    "not-an-import": "the token does not have the form of an import",
    "not-here": "the agent reads files of this name, but not in this folder",
    "not-newest": "more files than the agent attaches again were changed after it",
    "not-started": "the agent refuses to start here",
    "not-walked": "the agent does not look into this folder",
    "not-yet-read": "its `paths` are waiting for a file that matches",
    "outside-project": "it lies outside the working directory",
    "read-itself": "it is the file that was read, so the model has it as the answer of the tool",
    "same-content": "another file with the same content was loaded",
    "shadowed": "another file takes its place",
    "start-only": "the agent reads such files only in the folder that it starts in, and above",
    "symlink-loop": "it is a link that leads back to itself",
    "too-large": "it is larger than the agent reads",
    "touched-outside": "the file that was touched is in neither the working directory nor an added one",
    "unknown-user": "it names the home of a user that this machine does not know",
    "unreadable": "the file system refuses to read it",
    "withheld": "it was loaded but is not sent to the model",
    "worktree": "it belongs to the main repository of this git worktree",
    "wrong-case": "its name has other capitals than the name that the agent looks for",
    "wrong-extension": "the agent reads no files with this ending there",
}


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text.

    >>> estimate_tokens("Use pnpm, never npm.")
    5
    """
    return (len(text.encode("utf-8", "replace")) + 3) // 4


#: characters that count as printable and are not seen: fillers, joiners of graphemes, selectors of variants
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0").union(
    map(chr, range(0xFE00, 0xFE10)), map(chr, range(0xE0100, 0xE01F0))
)


def may_hide(text: str) -> bool:
    """Whether a text may have characters that a person does not see; `secrets.invisible` knows which they are.

    >>> may_hide("caf\u00e9"), may_hide("a\u200bb")
    (False, True)
    """
    is_printable = text.replace("\n", "").replace("\t", "").isprintable()
    return not is_printable or not (text.isascii() or _BLANK.isdisjoint(text))
