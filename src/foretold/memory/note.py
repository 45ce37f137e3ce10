"""One memory as a value: what a file of the store says, and how a new file is named.

1. A memory is a Markdown file. Frontmatter gives `name`, `description` and `metadata.type` (an older form has `type` at
   the top level; both are read). Without them the name is that of the file, and the description is empty.
2. The body is what follows the frontmatter, trimmed.
3. Nothing in a file raises. What is wrong with it is in `findings`.
4. A file is named by its path below the store's folder, which is safe (`foretold.storage.names`) and ends in `.md`. New
   files are `<type>_<topic>.md`, the topic in lower case, with one `_` for every run of other characters.
"""

from __future__ import annotations

from foretold.errors import BadName
from foretold.storage.digest import digest_of
from foretold.text.frontmatter import first_line, parse, split, trim
from foretold.types import Finding, NamedTuple

INDEX = "MEMORY.md"
MAX_FILE = 4 * 1024 * 1024  #: bytes; a larger file is not read as a memory
TYPES = ("user", "feedback", "project", "reference")


class Memory(NamedTuple):
    """One memory: a file of the store."""

    file: str  #: its path below the folder of the store, with `/`
    name: str
    description: str
    type: str  #: user, feedback, project, reference; empty if the file names none of these
    body: str
    metadata: dict[str, object]  #: everything under `metadata`, and top-level keys other than name and description
    text: str  #: the whole file, decoded
    digest: str  #: SHA-256 of its bytes, in hexadecimal; what an edit compares
    changed: float = 0.0  #: when the file was last changed, in seconds since 1970
    findings: tuple[Finding, ...] = ()
    scope: str = "private"  #: private or team

    @property
    def title(self) -> str:
        """The name for people.

        >>> read_note("user_role.md", b"---\\nname: user-role\\n---\\nA chemist.\\n").title
        'User role'
        """
        given = self.metadata.get("title")
        if isinstance(given, str) and given.strip():
            return " ".join(given.split())
        words = " ".join(self.name.replace("_", " ").replace("-", " ").split())
        return words[:1].upper() + words[1:]


def read_note(file: str, data: bytes, changed: float = 0.0, scope: str = "private") -> Memory:
    """The memory that a file's bytes hold."""
    findings: list[Finding] = []
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        message = "bytes that are not UTF-8 are shown as U+FFFD"
        findings.append(Finding(file, None, "not-utf8", message, "save the file as UTF-8"))
    front, body = split(text, after_bom=False)
    values: dict[str, object] = {}
    if front is not None:
        values, problem, line = parse(front)
        if problem:
            at = first_line(text) + (line or 1) - 1
            findings.append(Finding(file, at, "frontmatter-invalid", problem, "repair the frontmatter"))
    given = values.get("metadata")
    metadata = {key: value for key, value in values.items() if key not in ("name", "description", "metadata")}
    metadata |= given if isinstance(given, dict) else {}
    kind = metadata.get("type")
    word = kind.strip().lower() if isinstance(kind, str) else ""
    return Memory(
        file=file,
        name=_text(values.get("name")) or file.rpartition("/")[2].removesuffix(".md"),
        description=_text(values.get("description")),
        type=word if word in TYPES else "",
        body=trim(body),
        metadata=metadata,
        text=text,
        digest=digest_of(data),
        changed=changed,
        findings=tuple(findings),
        scope=scope,
    )


def _text(value: object) -> str:
    """A value of one line. Numbers and dates are names too; lists and mappings are not."""
    if value is None or isinstance(value, list | dict):
        return ""
    return " ".join(str(value).split())


MAX_TOPIC = 80


def safe_file(file: str) -> tuple[str, ...]:
    """The parts of a memory's path below the store's folder; BadName if it is not a safe path that ends in .md."""
    from foretold.storage.names import safe_parts

    return safe_parts(file, ".md")


def new_file(type_: str, topic: str) -> str:
    """The file of a new memory."""
    stem = slug_of(topic).replace("-", "_")
    return f"{stem}.md" if stem.startswith(f"{type_}_") else f"{type_}_{stem}.md"


def slug_of(topic: str) -> str:
    """A topic as the `name` of a memory: lower case, dashes."""
    import unicodedata

    from foretold.storage.names import MAX_PART

    text = unicodedata.normalize("NFC", topic).lower()
    words = "".join(char if char.isalnum() else " " for char in text).split()
    name = "-".join(words)[:MAX_TOPIC].rstrip("-")
    while len(name.encode()) > MAX_PART - 40:
        name = name[:-1]
    if not name:
        raise BadName(f"{topic!r} has no letter or digit to make a name from")
    return name
