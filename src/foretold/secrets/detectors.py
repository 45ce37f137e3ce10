"""The detectors of detect-secrets (the maintained fork `bc-detect-secrets`), where the extra `secrets` is installed.

1. They get one line at a time, and long lines in pieces that overlap. None of them contacts a server.
2. Those that take every hash for a secret, and those that ours replace, are excluded.
3. They are slow: they get a line only if it has something they could find, and results are cached, because sessions
   repeat the same lines many times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from foretold.secrets.tokens import find_all
from foretold.secrets.values import is_placeholder

Detector = Callable[[str], "list[tuple[str, int, int]]"]

LONGEST_LINE = 1_024  #: a detector sees pieces of at most so many characters
SHORTEST = 8  #: characters of a line with a credential
OVERLAP = 256  #: of two pieces of a long line, so that nothing is cut in two
KEYWORD = "Secret Keyword"
_EXCLUDED = (
    "Base64 High Entropy String",  # every commit hash
    "Hex High Entropy String",
    "Azure Storage Account access key",  # every checksum of a package, every picture
    "Private Key",  # a first line alone is not a key
)
#: eleven characters with a digit, sixteen letters in a row, or a URL: a token without these is one in thousands
_WORTH = re.compile(r"(?<![\w+/=.-])(?=[\w+/=.-]{11})[A-Za-z_+/=.-]*\d|[A-Za-z+]{16}|://")
REMEMBERED = 8_192  #: lines
MOST_NAMES = 40  #: more of them in a piece, and the detector would take seconds
_NAMED = re.compile(r"(?i)pass|pwd|token|secret|key|contrase")


@lru_cache(1)
def load_detectors() -> Detector | None:
    """Kind and place of what the detectors find in a text; None if they are not installed."""
    try:
        from detect_secrets.core.plugins.util import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
            get_mapping_from_secret_type_to_class,
        )
    except ImportError:
        return None
    kinds = get_mapping_from_secret_type_to_class()
    plugins = [plugin() for name, plugin in kinds.items() if name not in (*_EXCLUDED, KEYWORD)]
    named = [plugin() for name, plugin in kinds.items() if name == KEYWORD]

    @lru_cache(REMEMBERED)
    def in_line(line: str) -> tuple[tuple[str, int, int], ...]:
        found = []
        worth = plugins if _WORTH.search(line) else []
        for plugin in [*worth, *named] if 0 < len(_NAMED.findall(line)) <= MOST_NAMES else worth:
            for value in plugin.analyze_string(line):
                if len(value) >= 4 and not (plugin in named and is_placeholder(value)):
                    found += [(plugin.secret_type, at, at + len(value)) for at in find_all(line, value)]
        return tuple(found)

    def spans(text: str) -> list[tuple[str, int, int]]:
        return [
            (kind, at + start, at + end)
            for at, line in _split_lines(text)
            if len(line) >= SHORTEST
            for kind, start, end in in_line(line)
        ]

    return spans


def _split_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with where they begin; long ones in pieces."""
    at = 0
    for line in text.split("\n"):
        for start in range(0, len(line), LONGEST_LINE - OVERLAP):
            yield at + start, line[start : start + LONGEST_LINE]
        at += len(line) + 1
