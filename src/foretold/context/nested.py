"""Nested instructions as attachments, from what `instructions.session.Session` attaches.

`contentDiffersFromDisk` is set when the text was changed on its way (frontmatter, comments); then `rawContent` is what
is on disk. Whoever keeps a state of read files keeps that text as a partial view: it tells of changes to the file, but
an edit still needs a read.
"""

from __future__ import annotations

import os

from foretold.context.attachments import Attachment
from foretold.types import TYPE_CHECKING, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foretold.instructions.view import View


def nested_attachments(entries: Iterable[Entry], view: View) -> list[Attachment]:
    """Entries that a touched file brought, as the agent's transcript records them.

    >>> import foretold, tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> os.mkdir(os.path.join(folder, "api"))
    >>> with open(os.path.join(folder, "api", "CLAUDE.md"), "w", encoding="utf-8") as file:
    ...     _ = file.write("Handlers return JSON.\\n")
    >>> session = foretold.Session(folder, agent="claude-code@2.1.325", home=folder, env={})
    >>> nested_attachments(session.read("api/users.py").entries, session.view)[0].fields["displayPath"]
    'api/CLAUDE.md'
    """
    types = dict(view.dialect.types)
    return [_attachment(entry, types.get(entry.layer, entry.layer), view.surroundings.cwd) for entry in entries]


def _attachment(entry: Entry, kind: str, cwd: str) -> Attachment:
    content: dict[str, object] = {"path": entry.path, "type": kind, "content": entry.text}
    if entry.globs:
        content["globs"] = list(entry.globs)
    content["contentDiffersFromDisk"] = entry.differs_from_disk
    if entry.differs_from_disk:
        content["rawContent"] = entry.raw
    fields = {"path": entry.path, "content": content, "displayPath": os.path.relpath(entry.path, cwd)}
    return Attachment("nested_memory", fields)
