"""Mentions in a prompt, and what they attach.

1. What counts as a mention, and the range of lines behind it: `instructions.prompt`.
2. A file is attached as text: UTF-8 with U+FFFD for what is none, no byte order mark, `\\r\\n` as `\\n` (later version:
   also UTF-16 with its mark). `totalLines` is its newlines and one more; a range has no final newline.
3. An image and a PDF are attached as their bytes, a notebook as its cells. A name with the ending of another binary
   format is left out, whatever is inside.
4. Left out: what is not there, over 256 KiB (the later version names it), or over 25,000 tokens, which the agent lets
   its provider count and we estimate.
5. A folder is attached as its names, in the file system's own order, the first 1,000 of them.
6. `@agent-NAME` asks for an agent, if there is one of that name.

# claude-code: at-01, at-02, at-03, at-07; tests/context/mentions.jsonl
"""

from __future__ import annotations

import os
import re

from foretold.context.attachments import Attachment
from foretold.context.media import IMAGES, image_content, notebook_content, pdf_content
from foretold.dialects.claude_code.context import TurnContext, turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT
from foretold.dialects.surroundings import join
from foretold.instructions.text.prompt_mentions import PromptMention as PromptMention, parse_mentions as parse_mentions
from foretold.storage.tree import Disk, Fault
from foretold.text.frontmatter import SPACE
from foretold.types import TYPE_CHECKING, NamedTuple, Skip, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foretold.storage.tree import Tree

_AGENT = re.compile(rf"(?:^|[{SPACE}])@agent-([\w:.@-]+)")
LARGEST = 262_144  #: bytes
MOST_TOKENS = 25_000
MOST_NAMES = 1_000
BINARY = frozenset(
    "3ds 7z a aac ai aiff app avi bin blend bmp bz2 class dat data db deb dll doc docx dylib ear eot eps exe fig fla"
    " flac flv gz ico idx iso jar lib lockb m4a m4v max mdb mkv mov mp3 mp4 mpeg mpg msi node o obj odp ods odt ogg"
    " opus otf ppt pptx psd pyc pyo rar rlib rpm sketch so sqlite sqlite3 swf tar tgz tif tiff ttf war wasm wav webm"
    " wma wmv woff woff2 xd xls xlsx xz z zip".split()
)


class ResolvedMentions(NamedTuple):
    """What mentions attach, and what they do not."""

    attachments: tuple[Attachment, ...]
    skips: tuple[Skip, ...] = ()


def mentions(
    prompt: str,
    cwd: str | os.PathLike[str] = ".",
    tree: Tree | None = None,
    *,
    agent: str = DEFAULT_AGENT,
    home: str = "",
    agents: Iterable[str] = (),
) -> tuple[Attachment, ...]:
    """What the mentions of a prompt attach.

    >>> import tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> with open(os.path.join(folder, "a.txt"), "w", encoding="utf-8") as file:
    ...     _ = file.write("alpha\\nbeta\\n")
    >>> [found.fields["content"]["file"]["content"] for found in mentions("look @a.txt#L2", folder)]
    ['beta']
    """
    return resolve_mentions(prompt, cwd, tree, agent=agent, home=home, agents=agents).attachments


def resolve_mentions(
    prompt: str,
    cwd: str | os.PathLike[str] = ".",
    tree: Tree | None = None,
    *,
    agent: str = DEFAULT_AGENT,
    home: str = "",
    agents: Iterable[str] = (),
) -> ResolvedMentions:
    """The same, with what is left out and why."""
    folder, disk = os.path.realpath(cwd), Disk() if tree is None else tree
    look = _Look(folder, home or os.path.expanduser("~"), disk, turn_context_of(agent))
    known = frozenset(agents)
    named = [name for name in dict.fromkeys(_AGENT.findall(prompt)) if name in known]
    calls = {f"agent-{name}" for name in named}
    found = [look.at(mention) for mention in parse_mentions(prompt) if mention.path not in calls]
    attached = [each for each in found if isinstance(each, Attachment)]
    attached += [Attachment("agent_mention", {"agentType": name}) for name in named]
    return ResolvedMentions(tuple(attached), tuple(each for each in found if isinstance(each, Skip)))


class _Look:
    """How mentions are looked up in one folder."""

    def __init__(self, cwd: str, home: str, tree: Tree, around: TurnContext) -> None:
        self.cwd, self.home, self.tree, self.around = cwd, home, tree, around

    def at(self, mention: PromptMention) -> Attachment | Skip:
        path = join(self.home, mention.path[2:]) if mention.path[:2] == "~/" else join(self.cwd, mention.path)
        kind = self.tree.kind(path)
        if kind == "folder":
            return self._folder(path)
        data = self.tree.read(path, LARGEST)
        if isinstance(data, Fault):
            return self._fault(path, data)
        return self._file(path, data, mention)

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.cwd)

    def _folder(self, path: str) -> Attachment | Skip:
        items = self.tree.scan(path)
        if isinstance(items, Fault):
            return Skip(path, items.reason, items.detail)
        names = [item.name for item in items[:MOST_NAMES]]
        if len(items) > MOST_NAMES:
            names.append(f"… and {len(items) - MOST_NAMES} more entries")
        fields = {"path": path, "content": "\n".join(names), "displayPath": self._shown(path)}
        return Attachment("directory", fields)

    def _fault(self, path: str, fault: Fault) -> Attachment | Skip:
        size, ending = fault.detail.partition(" ")[0], ending_of(path)
        is_named = ending and ending not in IMAGES and not self._is_binary(ending)  # one without an ending is not
        if fault.reason != "too-large" or not self.around.too_large or not size.isdigit() or not is_named:
            return Skip(path, fault.reason, fault.detail)
        fields = {"mentions": [path], "unread": "too_large", "fileSize": int(size), "displayPath": self._shown(path)}
        return Attachment("at_mention_reference", fields)

    def _file(self, path: str, data: bytes, mention: PromptMention) -> Attachment | Skip:
        ending = ending_of(path)
        content: dict[str, object] | None
        if ending in IMAGES:
            content = image_content(data, IMAGES[ending])
        elif ending == "pdf":
            content = pdf_content(path, data) if data.startswith(b"%PDF-") else None
        elif ending == "ipynb":
            content = notebook_content(path, data)
        elif self._is_binary(ending):
            content = None
        else:
            content = {"type": "text", "file": _lines_of(path, self._decoded(data), mention)}
            if estimate_tokens(str(content["file"]["content"])) > MOST_TOKENS:  # type: ignore[index]
                return Skip(path, "too-large", f"more than {MOST_TOKENS:,} tokens")
        if content is None:
            return Skip(path, "not-a-text-file", f"the agent attaches no .{ending} of this content")
        fields = {"filename": path, "content": content, "displayPath": self._shown(path), **self.around.file_fields}
        return Attachment("file", fields)

    def _is_binary(self, ending: str) -> bool:
        return ending in BINARY or ending in self.around.binary

    def _decoded(self, data: bytes) -> str:
        if self.around.decodes_utf16 and data[:2] == b"\xff\xfe":
            return data[2:].decode("utf-16-le", "replace").replace("\r\n", "\n")
        return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def ending_of(path: str) -> str:
    """The ending of a file's name, in lower case.

    >>> ending_of("/a.b/F.ZIP"), ending_of("/a.b/Makefile")
    ('zip', '')
    """
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _lines_of(path: str, text: str, mention: PromptMention) -> dict[str, object]:
    """The lines of a range, or all. `#L0` is the whole file, from line 0."""
    lines = text.split("\n")
    total, first = len(lines), 1 if mention.first is None else mention.first
    kept = lines
    if mention.first and mention.last is not None:
        kept = lines[first - 1 : max(first - 1, mention.last)]
    return {
        "filePath": path,
        "content": "\n".join(kept),
        "numLines": len(kept),
        "startLine": first,
        "totalLines": total,
    }
