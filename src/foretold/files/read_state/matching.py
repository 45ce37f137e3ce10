r"""Where a text to be replaced is in a file, and what takes its place.

1. What the model writes is repaired first: `\uXXXX` becomes the character, unless its backslash is itself escaped or
   half of a pair is missing, or, in newer versions, it is a control character; then white space at the ends of lines
   is removed, unless the file is Markdown.
2. A text is searched as it is; then with curly quotes equal to straight ones; then with `\uXXXX` in the file for
   every character beyond ASCII; then with characters in the file for what is still `\uXXXX`.
3. Where curly quotes were found, straight quotes of the new text become curly: opening ones at the start, after white
   space, brackets and dashes, and apostrophes between letters. Where escapes were found, characters become escapes.
4. A text that is replaced by nothing takes the newline after it along.
"""

from __future__ import annotations

import re

from foretold.text.patterns import lazy
from foretold.types import NamedTuple

#: white space of JavaScript that ends no line
SPACE = (
    "\t\v\f \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_ENDS = lazy(r"(\r\n|\n|\r)")
_ESCAPE = lazy(r"(?<!\\)(\\+)u(?:([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|([0-9a-fA-F]{4}))")
_CURLY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})
_OPENS_AFTER = frozenset(" \t\n\r([{—–")


class Match(NamedTuple):
    """A text of the file that is meant, and how it was found: exact, quotes, escapes or characters."""

    text: str
    how: str = "exact"


def repair_text(text: str, path: str, *, keeps_controls: bool = False) -> str:
    r"""A new text as the agent takes it.

    >>> repair_text("caf\\u00e9  \nx\t", "a.py"), repair_text("x  \n", "a.md"), repair_text(r"\\u00e9", "a.py")
    ('café\nx', 'x  \n', '\\\\u00e9')
    """
    text = unescape(text, keeps_controls=keeps_controls)
    if path.lower().endswith((".md", ".mdx")):
        return text
    parts = _ENDS.split(text)
    parts[::2] = [part.rstrip(SPACE) for part in parts[::2]]
    return "".join(parts)


def unescape(text: str, *, keeps_controls: bool = False) -> str:
    r"""A text with `\uXXXX` as characters.

    >>> unescape(r"\u00e9 \ud83d\ude00 \ud83d \\u00e9")
    'é 😀 \\ud83d \\\\u00e9'
    """
    if "\\u" not in text:
        return text

    def character(found: re.Match[str]) -> str:
        slashes, high, low, code = found.groups()
        number = int(code, 16) if code else 0x10000 + (int(high, 16) - 0xD800 << 10) + int(low, 16) - 0xDC00
        is_control = number < 0x20 or 0x7F <= number < 0xA0
        if len(slashes) % 2 == 0 or 0xD800 <= number <= 0xDFFF or (keeps_controls and is_control):
            return found[0]
        return slashes[:-1] + chr(number)

    return _ESCAPE.sub(character, text)


def find_match(text: str, old: str) -> Match | None:
    """What is meant by a text to be replaced.

    >>> find_match("say “hi”", '"hi"')
    Match(text='“hi”', how='quotes')
    """
    if old in text:
        return Match(old)
    at = text.translate(_CURLY).find(old.translate(_CURLY))
    if at >= 0:
        return Match(text[at : at + len(old)], "quotes")
    if not old.isascii() and (met := re.search("".join(map(_either_case, old)), text)):
        return Match(met[0], "escapes")
    plain = unescape(old)
    return Match(plain, "characters") if plain in text else None


def _either_case(character: str) -> str:
    return re.escape(character) if character.isascii() else f"(?i:{re.escape(_escaped(character))})"


def _escaped(character: str, *, upper: bool = False) -> str:
    data = character.encode("utf-16-be", "surrogatepass").hex()
    data = data.upper() if upper else data
    return "".join(f"\\u{data[at : at + 4]}" for at in range(0, len(data), 4))


def fit_style(match: Match, new: str) -> str:
    r"""The new text in the style of what it replaces.

    >>> fit_style(Match("“a”", "quotes"), '"b" isn\'t'), fit_style(Match("\\u00E9", "escapes"), "è")
    ("“b” isn't", '\\u00E8')
    """
    if match.how == "quotes":
        if "“" in match.text or "”" in match.text:
            new = _curled(new, '"', "“", "”")
        if "‘" in match.text or "’" in match.text:
            new = _curled(new, "'", "‘", "’")
    elif match.how == "escapes":
        upper = bool(re.search(r"\\u[0-9a-fA-F]*[A-F]", match.text))
        new = "".join(c if c.isascii() else _escaped(c, upper=upper) for c in new)
    return unescape(new) if match.how == "characters" else new


def _curled(text: str, straight: str, opening: str, closing: str) -> str:
    made = []
    for at, character in enumerate(text):
        if character != straight:
            made.append(character)
            continue
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        is_apostrophe = straight == "'" and before.isalpha() and after.isalpha()
        made.append(opening if not is_apostrophe and (not before or before in _OPENS_AFTER) else closing)
    return "".join(made)


def replace_text(text: str, old: str, new: str, *, every: bool) -> str:
    """The text after an edit."""
    if not old:
        return new
    if not new and not old.endswith("\n") and old + "\n" in text:
        old += "\n"
    return text.replace(old, new) if every else text.replace(old, new, 1)
