"""Tags that attached text must not contain, because the agent itself uses them.

1. In attached files and in the memory index, the nearest `<` before a reserved name becomes `<\\`. Whatever is neither
   a letter, a digit, `-`, `_` nor a backslash may be between the two, and the name must end there.
2. Letters count by what they look like: full-width and mathematical forms, accents, Greek and Cyrillic look-alikes,
   invisible characters in between, other dashes, other opening brackets.
3. In attached fallback files only `<system-reminder` counts, and its `<` becomes `&lt;`.

Nothing is escaped at the start of a session. # claude-code@2.1.325, seen in attached files of all kinds
"""

from __future__ import annotations

import re

from foretold.text.frontmatter import SPACE

#: what the agent reserves; `-` is also `_`
NAMES = (
    "system-reminder total-tokens persisted-output user-prompt-submit-hook local-command-stdout local-command-stderr"
    " local-command-caveat command-name command-message command-args bash-input bash-stdout bash-stderr"
    " task-notification teammate-message agent-message cross-session-message remote-review tick tool-use-error"
    " function-results sandbox-violations"
).split()
PREFIX = "ant" + "ml:"
BRACKETS = "<‹〈⟨﹤＜ᐸ≺˂❮"
_RESERVED = rf"(?:{'|'.join(name.replace('-', '[-_]') for name in NAMES)})(?![A-Za-z0-9_-])|{PREFIX}"
_ALIKE = str.maketrans(
    "аеорсухіѕјһԁԛԝոցⅼᴀᴇᴏꜱᴛᴍɴʀᴜɪᴅʏᴄʜʟɢᴘʙ" + "αεορτυικνχ" + "‐‑‒–—―−﹣－",
    "aeopcyxisjhdqwnglaeostmnruidychlgpb" + "aeoptuiknx" + "-" * 9,
)
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"})
_FALLBACK = rf"(?i)<(?=[{SPACE}]*/?[{SPACE}]*system-reminder(?![A-Za-z0-9_]))"


def escape_html(text: str) -> str:
    """A text without characters that mean something in HTML. # copilot-cli: copilot-257, copilot-357"""
    return text.translate(_HTML)


def escape_fallback(text: str) -> str:
    """Text of an attached fallback file."""
    return re.sub(_FALLBACK, "&lt;", text)


def escape_reserved(text: str) -> str:
    """Text of an attached file in which no reserved tag is left."""
    if text.isascii():
        return _escaped(text, _hits(text, text, None)) if "<" in text else text
    if not any(bracket in text for bracket in BRACKETS):
        return text
    folded, places = _fold(text)
    return _escaped(text, _hits(text, text, None) | _hits(text, folded, places))


def _hits(text: str, looks: str, places: list[int] | None, names: str = _RESERVED) -> set[int]:
    """The places of the brackets before reserved names; `looks` is the text as it looks."""
    found = set()
    for name in re.finditer(names, looks, re.IGNORECASE):
        at = places[name.start()] if places is not None else name.start()
        while at and text[at - 1] not in BRACKETS and not (text[at - 1].isalnum() or text[at - 1] in "-_\\"):
            at -= 1
        if at and text[at - 1] in BRACKETS:
            found.add(at - 1)
    return found


def _escaped(text: str, hits: set[int], mark: str = "<\\") -> str:
    parts, start = [], 0
    for at in sorted(hits):
        parts += [text[start:at], mark]
        start = at + 1
    return "".join(parts) + text[start:]


def _fold(text: str) -> tuple[str, list[int]]:
    """The text as it looks, and the place of each of its characters in the text."""
    import unicodedata  # only for text that is not ASCII and has a bracket

    chars, places = [], []
    for at, char in enumerate(text):
        plain = char if char.isascii() else unicodedata.normalize("NFKD", char)
        for each in plain:
            if each.isascii() or unicodedata.category(each) not in ("Mn", "Me", "Cf"):
                chars.append(each.translate(_ALIKE)[:1] or each)
                places.append(at)
    return "".join(chars), places


def seal_tag(text: str, tag: str) -> str:
    """A text in which neither tag of an envelope, nor what looks like one, can be found: there `<` is `&lt;`."""
    names = rf"{re.escape(tag).replace(re.escape('-'), '[-_]')}(?![A-Za-z0-9_-])"
    hits = _hits(text, text, None, names)
    if not text.isascii():
        hits |= _hits(text, *_fold(text), names)
    return _escaped(text, hits, "&lt;")


def escape_tag(text: str, tag: str, end: str = r"(?![\w-])") -> str:
    """A text in which neither tag of an envelope can be found, in upper or lower case: there `<` is `&lt;`.

    `end` is what follows the name; by default, that it ends there.
    """
    return re.sub(rf"<(?=/?{re.escape(tag)}{end})", "&lt;", text, flags=re.IGNORECASE) if tag else text
