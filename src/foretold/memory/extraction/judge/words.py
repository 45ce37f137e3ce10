"""The words of a text by which two texts are compared, where one may say in other words what the other says.

1. A text is cut into statements: its lines, and their sentences. Marks of lists, headings and emphasis are no words.
2. Of a statement count its words without the most common ones of a few languages, and without those that memories are
   made of whatever they say (`user`, `prefers`, `why`). What denies (`not`, `never`, `nicht`) is one word, NOT.
3. Of the path of a file its own name counts, and dates do not: models add both to what people say.
4. Words are brought to a stem: forms of irregular verbs are one, endings go, and six letters are kept. Scripts without
   spaces count by pairs of letters. Accents, case and compatibility forms do not count.
5. *Specific* words are what nobody says by chance: addresses, paths, hosts, names of code, flags, longer numbers.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from foretold.memory.recall.query import FORMS, STOPWORDS, letter_pairs
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set

NOT = "¬"
LONGEST = 400  #: characters of a statement; what is longer is cut into several
STEM = 6
_DENIES = frozenset(
    "not never no none nobody without dont doesnt isnt cannot cant wont shouldnt mustnt arent forbidden forbid forbids"
    " avoid stop nicht kein keine keinen keiner nie niemals ohne niemand verboten pas jamais sans aucun interdit ne"
    " non nunca sin jamas tampoco nao sem mai senza нет не никогда без nie bez".split()
)
_MORE = (
    "aber als am an auch auf aus bei bin bitte das dass dem den der des die dies diese dieser du ein eine einem einen"
    " einer er es fur haben hat hier ich ihr im in ist ja kann man mich mir mit muss nach noch nur oder sich sie sind"
    " so soll sollen sollte sondern um und uns unser unsere vom von vor war wenn werden wie wir wird zu zum zur immer"
    " au aux avec ce ces cette dans de des du elle en est et etre il ils je la le les leur lui ma mais me mes mon nous"
    " on ou par plus pour que qui sa se ses son sont sur ta te tes toi ton tu un une vous toujours"
    " al como con cual del el ella ellos en es esa ese esta este ha hay la las lo los mas mi muy nos o para pero por"
    " que se si sobre son su sus te tu un una uno y ya siempre"
    " и в на с по что это мы вы я он она они как для из к у"
)
_OURS = (
    "user users prefer prefers preferred preference preferences want wants wanted like likes liked ask asks asked say"
    " says said tell tells told remember note notes memory memories always please apply applies rule must need needs"
    " nutzer benutzer utilisateur usuario should shall let lets get gets sure thing things way every whenever instead"
    " rather"
)
_COMMON = STOPWORDS | frozenset(_MORE.split()) | frozenset(_OURS.split())
_LEAD = re.compile(r"^[\s>#*+-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s*)?")
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\s+[—–]\s+")
_WORD = re.compile(r"[^\W_]+")
_OWNED = re.compile(r"(?<=\w)['’]s\b")
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_FILE = re.compile(r"(?<![\w:/.])(?:[\w.-]+/)+([\w-]+)\.[a-z]{1,4}\b")
_SPECIFIC = re.compile(
    r"[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'`)\]]+"  # an address
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[\w~.@-]+/)+[\w.*@-]+|/[\w.-]+(?:/[\w.*-]+)*"
    r"|--?[a-z][\w-]+"
    r"|\w+(?:(?:\.|::)\w+)+(?:\(\))?"
    r"|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*"
    r"|\w*\d[\w:,.-]*"
)
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}|20\d\d")
_ABBREVIATED = ("e.g", "i.e", "z.b", "d.h", "p.ex", "etc")
_first: dict[str, str] = {}


def statements(text: str) -> list[str]:
    """A text cut into lines and sentences.

    >>> statements("# Tabs\\n- Use tabs. Never spaces!\\n\\n**Why:** diffs")
    ['Tabs', 'Use tabs.', 'Never spaces!', '**Why:** diffs']
    """
    found = []
    for line in text.splitlines():
        bare = _LEAD.sub("", line, count=1) if not line.lstrip().startswith("**") else line.strip()
        for sentence in _SENTENCES.split(bare):
            found += [sentence[at : at + LONGEST] for at in range(0, len(sentence), LONGEST)]
    return [each.strip() for each in found if each and any(map(str.isalnum, each))]


def words(text: str) -> list[str]:
    """The stems of a text that count, in its order.

    >>> words("The user prefers tabs; she's never used `Spaces` while indenting.")
    ['tab', '¬', 'us', 'spac', 'indent']
    >>> words("使用制表符")
    ['使用', '用制', '制表', '表符']
    """
    plain = _DAY.sub(" ", _OWNED.sub("", folded(text))).replace("'", "").replace("’", "")
    if "/" in plain:
        plain = _FILE.sub(r" \1 ", plain)
    found = []
    for word in _WORD.findall(plain):
        runs = letter_pairs(word) if not word.isascii() else []
        if runs:
            found += runs
        elif word in _DENIES:
            found.append(NOT)
        elif word not in _COMMON and (len(word) > 1 or word.isdigit()):
            found.append(stem(word))
    return found


def folded(text: str) -> str:
    """A text without case, accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", "".join(each for each in plain if unicodedata.category(each) != "Mn"))


@lru_cache(1 << 16)
def stem(word: str) -> str:
    """What forms of a word have in common, as far as that can be had cheaply.

    >>> [stem(word) for word in ("deploys", "deployment", "running", "went", "tests", "tested", "writing", "write")]
    ['deploy', 'deploy', 'run', 'go', 'test', 'test', 'writ', 'writ']
    """
    if not _first:
        for line in FORMS.split("|"):
            _first.update(dict.fromkeys(line.split(), line.split()[0]))
    word = _first.get(word, word)
    for ending in ("ings", "ing", "edly", "ed", "es", "s", "ly", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 2 and word[-2:] != "ss":
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:STEM]


def specifics(text: str) -> set[str]:
    """What nobody says by chance. Dates and small numbers are none: a model makes dates of `Thursday`.

    >>> sorted(specifics("Deploy to evil.example.com with --force on 2026-03-05, 3 times, e.g. in src/a_b.py"))
    ['--force', 'evil.example.com', 'src/a_b.py']
    """
    found = set()
    for match in _SPECIFIC.finditer(text):
        word = match[0].rstrip(".,:;-").lower().removesuffix("()")
        if len(word) > 2 and not _DATE.fullmatch(word) and word not in _ABBREVIATED:
            found.add(word)
    return found


def exact(text: str) -> set[str]:
    """What two statements must have in common, letter for letter, to be one: dates, specific and longer words.

    >>> sorted(exact("No merges of src/a.py until 2026-03-05, in production"))
    ['2026-03-05', 'production', 'src/a.py']
    """
    plain = folded(text)
    long = {word for word in _WORD.findall(plain) if len(word) > STEM and word not in _COMMON}
    return long | specifics(text) | set(_DAY.findall(plain))


def shared(some: Set[str], others: Set[str]) -> float:
    """How much of some words is among others.

    >>> shared({"tab", "us"}, {"tab", "spac"}), shared(set(), {"tab"})
    (0.5, 0.0)
    """
    return len(some & others) / len(some) if some else 0.0


def neighbours(given: list[str]) -> set[tuple[str, str]]:
    """Words that stand side by side, whichever comes first; but what is denied comes behind NOT.

    >>> neighbours(words("use tabs")) == neighbours(words("tabs are used"))
    True
    >>> neighbours(words("tabs, not spaces")) & neighbours(words("spaces, not tabs"))
    set()
    """
    return {pair if NOT in pair or pair[0] < pair[1] else pair[::-1] for pair in pairwise(given)}
