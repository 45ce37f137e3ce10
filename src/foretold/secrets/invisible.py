"""Characters that a person does not see and a model reads.

Joiners inside emoji and in scripts that need them, flags of regions, and marks of right-to-left text are legitimate.
Other tags, runs of variation selectors or joiners, zero-width characters next to Latin letters and overrides of text
direction are reported.
"""

from __future__ import annotations

import re

from foretold.types import Finding

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
    found = []
    for name, pattern in CLASSES:
        match = next((match for match in pattern.finditer(text) if match[1]), None)
        if match:
            said = f"it has {name}, U+{ord(match[1][0]):04X}, that a person does not see and a model reads"
            line = text.count("\n", 0, match.start()) + 1
            found.append(Finding(file, line, "hidden-character", said, "look at the bytes, and delete it"))
    return found
