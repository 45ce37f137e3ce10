"""The summary of a session, its title above all, without credentials.

1. A title is the beginning of what was said, cut where it is too long. Credentials are removed from the whole text
   first: half of a key cannot be recognised, and has another fingerprint.
2. Where that text is not found, the word that was cut is removed.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

from foretold.errors import ForetoldError
from foretold.sessions.catalog import messages_of
from foretold.sessions.formats.fields import LONGEST_TITLE, one_line
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.secrets.redactor import Redactor
    from foretold.sessions.model import StoredSession

CUT = "…"
MOST = 200  #: messages that are searched for the text of a title
LONGEST = LONGEST_TITLE * 8  #: characters of a prompt that a title can be made of


def without_credentials(stored: StoredSession, redactor: Redactor) -> StoredSession:
    """A session whose summary has no credentials."""
    values = {name: redactor.value(value) for name, value in stored._asdict().items() if name != "title"}
    return stored._replace(**values, title=clean_title(stored, redactor))  # type: ignore[arg-type]


def clean_title(stored: StoredSession, redactor: Redactor) -> str:
    """The title of a session without credentials: they are removed before it is cut."""
    if not stored.title.endswith(CUT):
        return redactor.text(stored.title)
    start = stored.title.removesuffix(CUT)
    with suppress(ForetoldError):
        parts = (part for message in islice(messages_of(stored), MOST) for part in message.parts)
        for text in (" ".join(part.text[:LONGEST].split()) for part in parts if part.kind == "text"):
            if text.startswith(start):
                clean = redactor.text(text)
                title = one_line(clean)
                mark = title.rfind("[redacted: ")
                end = clean.find("]", mark) + 1  # the replacement of a credential is not cut
                return clean[:end] + CUT if title != clean and 0 <= mark < len(title) <= end else title
    return redactor.text(start.rpartition(" ")[0]) + " " + CUT
