"""Characters that a person does not see and a model reads.

Joiners inside emoji and in scripts that need them, flags of regions, and marks of right-to-left text are legitimate.
Other tags, runs of variation selectors or joiners, zero-width characters next to Latin letters and overrides of text
direction are reported.

`show_hidden` makes them visible in what a model is told: `[U+202E]`. It loses nothing, so it is stricter than a report:

1. Kept are a joiner between two emoji, or after a letter of a script that needs it; the selector that makes a character
   an emoji, after one that can be; the flags of England, Scotland and Wales; a mark of direction in a line with letters
   that are written from right to left; a selector in Mongolian text. Each once, never in a row.
2. Shown is every other character of the classes above, and every other one without a glyph: controls, format
   characters, private and unassigned ones, separators of lines; but not new emoji, which Python may not know.
"""

from __future__ import annotations

import re

from foretold.types import FactFinding, Facts, Finding

#: the flag of a part of a country: a black flag, its code in tags, and the end of them
_FLAG = "(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
_PLAIN = " -~\u00a0-\u024f"
_JOINER = "[\u200c\u200d]"
#: what each class is called; the first that matches names a character
CLASSES = (
    ("a character of the tags block", re.compile(f"{_FLAG}|([\U000e0000-\U000e007f])")),
    ("an override of text direction", re.compile("([\u202a-\u202e\u2066-\u2069])")),
    (
        "a hidden variation selector",
        re.compile("([\ufe00-\ufe0d\U000e0100-\U000e01ef]|[\ufe0e\ufe0f]{2,}|(?<=[a-zA-Z\\s])[\ufe0e\ufe0f])"),
    ),
    (
        "a zero-width character",
        re.compile(
            f"([\u200b\u2060-\u2065\u206a-\u206f\u180e\u00ad\u034f\ufff9-\ufffb\U0001d173-\U0001d17a]"
            "|(?<![\u1820-\u18aa])[\u180b-\u180d\u180f]"
            f"|{_JOINER}{{2,}}|(?:(?<=[{_PLAIN}\\s])|^){_JOINER}(?=[{_PLAIN}\\s]|$)|(?<!^)\ufeff)"
        ),
    ),
    ("a control character", re.compile("([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f])")),
    ("a blank letter", re.compile("([\u115f\u1160\u17b4\u17b5\u3164\uffa0])")),
)


def hidden_in(file: str, text: str) -> list[Finding]:
    """A finding per class of hidden characters in a text, with the first line that has one."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable():
        return []
    found = list[Finding]()
    for name, pattern in CLASSES:
        match = next((match for match in pattern.finditer(text) if match[1]), None)
        if match:
            said = f"it has {name}, U+{ord(match[1][0]):04X}, that a person does not see and a model reads"
            line = text.count("\n", 0, match.start()) + 1
            hint = "look at the bytes, and delete it"
            found.append(FactFinding(file, line, "hidden-character", said, hint, facts=Facts(name)))
    return found


_EMOJI = "#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
#: scripts in which joiners change how letters look: Arabic, Syriac, Indic, Tibetan, Myanmar, Khmer, Mongolian
_JOINING = "\u0600-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc\U00011000-\U00011fff\U0001e900-\U0001e95f"
_RIGHT = re.compile("[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_COUNTRIES = "(?:gbeng|gbsct|gbwls)".translate({code: code + 0xE0000 for code in range(ord("a"), ord("z") + 1)})
_KEPT = (
    f"(?<=\U0001f3f4){_COUNTRIES}\U000e007f"
    f"|(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINING}])[\u200c\u200d](?![\u200c\u200d])"
    f"|(?<=[{_EMOJI}])[\ufe0e\ufe0f](?![\ufe00-\ufe0f])"
    "|(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f](?![\u180b-\u180f])"
)
_MARKS = "\u200e\u200f\u061c"  #: of direction
_BLANK = "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
_BLANK += "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
_SEEN = re.compile(f"{_KEPT}|([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c{_BLANK}])")


def show_hidden(text: str) -> str:
    """A text in which a character that a person does not see is visible, as `[U+202E]`.

    >>> show_hidden("deploy \u202edone\U000e0041"), show_hidden("na\u00efve caf\u00e9 \u2764\ufe0f")
    ('deploy [U+202E]done[U+E0041]', 'na\u00efve caf\u00e9 \u2764\ufe0f')
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable():
        return text
    odd = {ord(char): name_of(char) for char in set(text) if _is_odd(char)}
    shown = _SEEN.sub(lambda found: found[0] if not found[1] else _show_mark(found), text)
    return shown.translate(odd) if odd else shown


def name_of(char: str) -> str:
    """A character by its number.

    >>> name_of("\u200b")
    '[U+200B]'
    """
    return f"[U+{ord(char):04X}]"


def _show_mark(found: re.Match[str]) -> str:
    """A mark of direction stays in a line with letters from right to left, unless it is one of several in a row."""
    char, text = found[1], found.string
    if char not in _MARKS or text[found.end() : found.end() + 1] in tuple(_MARKS):
        return name_of(char)
    start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
    return char if _RIGHT.search(text, start, end if end >= 0 else len(text)) else name_of(char)


def _is_odd(char: str) -> bool:
    """Whether a character has no glyph, and none of the classes above; half a surrogate pair is not our subject."""
    if char.isprintable() or char.isspace() or _SEEN.match(char) or "\ud800" <= char <= "\udfff":
        return False
    return not (char in "\u200c\u200d\u200e\u200f\u061c" or "\U0001f000" <= char <= "\U0001faff" or char in "\t\n\r")
