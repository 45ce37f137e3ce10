"""Whether a claim is meant: phrases and stand-ins because of which the absence of a thing is not a fault.

1. A thing is not missed if its sentence, its heading or its introduction says that it is gone, planned, elsewhere, an
   example, a convention, optional, generated or ignored, or that somebody is to make it (`find_hedge`). The phrases of
   the drift engine count, and those below: instructions give more examples than memories do.
2. A path with a word that stands for any name (`your-route.ts`, `useMyHook.ts`, `kebab-case.ts`) is a placeholder.
3. What git knows to have been there is missed all the same, unless the text itself says that it is gone, optional, made
   by others or elsewhere (`find_strong_hedge`): nobody makes up a path by chance.
4. These are phrases of English. A text in another language is believed only about what git knows, and only if it has
   none of a few words that cast doubt in that language.
"""

from __future__ import annotations

import re

from foretold.check.truth.documents import Claim
from foretold.memory.drift import vocabulary
from foretold.memory.drift.claims import GONE, NEAR, match_hedge
from foretold.memory.drift.sentences import Sentence
from foretold.text.patterns import lazy

OPTIONAL = "optional"
WIDE = 500  #: characters of a sentence on each side of a thing that are read for hedges
_WORDS = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: a name in capitals that somebody is to fill in: a folder, or a part of a name whose other parts are not
_FILL_IN = lazy(r"(?<=[a-z\d])-[A-Z]+_[A-Z]+(?![a-zA-Z])|\A-[A-Z]+(?:_[A-Z]+)+\Z")
#: words that stand for any name, wherever they are in one
STAND_INS = frozenset(
    "foo bar baz qux foobar my your some xxx xx yyy zzz abc placeholder dummy whatever something anything thing things"
    " kebab snake camel pascal mything todo tbd acme existing namespace".split()
)
#: words that do so at the end of a name of several
ENDINGS = frozenset("name slug feature id example examples sample topic title description x n y z".split())
#: names that do so as a whole
WHOLE = frozenset(
    "file files filename file-name component module feature script page skill agent rule command hook widget item"
    " entity resource service package plugin provider model test tests test_file test_foo new new-file newfile old"
    " helper demo folder dir directory subdir path class function func method app-name project project-name"
    " existing".split()
)
_EXAMPLE = lazy(
    r"\b(?:e\.g|i\.e|eg|for example|for instance|examples?|such as|samples?|snippets?|conventions?|naming"
    r"|formats?|templates?|placeholders?|suppose|imagine|hypothetical\w*|illustrat\w+|rather than"
    r"|wrong|incorrect|anti-?patterns?|analogous|typical\w*|usually|equivalents?"
    r"|should (?:have|be|go|live|look))\b|[❌✅✗✘✓✔🚫→⇒]|=>|->",
    re.IGNORECASE,
)
#: the sentence says that it need not be there
_OPTIONAL = lazy(
    r"\b(?:if (?:\S+ ){0,4}(?:exists?|present|there|available|needed|applicable|missing|found|absent|any|configured)"
    r"|when (?:\S+ ){0,3}(?:exists?|present|available|missing)|where (?:present|available|applicable)|optional\w*"
    r"|may (?:not )?(?:exist|be|have)|can (?:live|go|be placed)|might|whether"
    r"|try to|try reading|check (?:for|if)|look for|looks for|search for"
    r"|fall(?:s|ing)? ?backs?|otherwise|depending|varies|per[- ](?:user|project|repo)\w*"
    r"|or (?:your|similar|equivalent)|(?:only )?while|in flight|temporar\w+)\b",
    re.IGNORECASE,
)
#: the sentence says that a program or somebody makes it, or that it is not of this repository
_OTHERS = lazy(
    r"\b(?:(?:auto-?)?generat(?:es?|ed|ing|or)|scaffold\w*|git-?ignored|gitignored?|untracked|uncommitted"
    r"|not (?:committed|tracked|checked in)|artifacts?|cached?|runtime|planned|future|upcoming|proposed|draft"
    r"|your (?:\w+ )?(?:project|repo|app|package|code)\w*|(?:target|host|consuming|consumer|user['’]s|generated|new"
    r"|another|other|example) (?:project|repo|app|codebase)\w*|repo(?:sitory)?['’]s"
    r"|in (?:the )?(?:container|image|cluster|bucket))\b",
    re.IGNORECASE,
)
_FEW = r"\s+(?:(?!but\b)[\w'’/-]+[,:]?\s+|`\x00+`,?\s+){0,3}[`(\"'*\[]*\Z"  #: up to three words before the thing
_NO = r"no|not|never|without|\w+n['’]t|cannot|nor|neither|avoid|instead of|than|old"
#: what is right before it says that it is to be made, or is not
_BEFORE = lazy(
    r"\b(?:creat\w+|add(?:s|ing)?|introduc\w+|generat\w+|scaffold\w*|write|writes|written|writing|outputs?|emits?"
    r"|produc\w+|saves?|saved|stored?|stores|records?|exports?|dumps?|logs?|logged|downloads?|downloaded|clones?"
    r"|cop(?:y|ies|ied)|put|place|drop|lands?|goes (?:in|into|to)|builds?|built|compil\w+|initiali[sz]\w+|install\w*"
    r"|convert\w*|rename\w*|becomes?|extract\w*|split|move|like|say|named?|called?|lacks?|new|own|mount\w*|former"
    rf"|legacy|{_NO}|(?:as|repo|repository|project)(?=\s+[`(\"'*\[]*\Z)){_FEW}",
    re.IGNORECASE,
)
_WRITTEN = lazy(
    r"\b(?:writes?|written|saves|saved|outputs|emits|produces|generates|generated|dumps|downloads|downloaded|copies"
    rf"|copied|logs|logged|stored|lands){_FEW}",
    re.IGNORECASE,
)
_NEGATED = lazy(rf"\b(?:{_NO}){_FEW}", re.IGNORECASE)
_FILLED = lazy(rf"\b(?:create|add|put|place|drop|write|save|store|generate|scaffold){_FEW}", re.IGNORECASE)
_IN = lazy(r"\b(?:in|under|inside|from|of|within|below)\s+[`(\"'*\[]*\Z", re.IGNORECASE)
_WAS = lazy(
    r"\b(?:was|were|formerly|previously|old|older|former|legacy|previous|ex)[\s-]+(?:\w+\s+){0,2}[`(\"'*\[]*\Z",
    re.IGNORECASE,
)
#: what is right before it gives it as an example of what is not to be done
_LIKE_THIS = lazy(
    r"\b(?:not|never|\w+n['’]t|avoid|no)\s+(?:[\w'’/-]+,?\s+|`\x00+`,?\s+){0,12}(?:like|such as|named|called)\s+"
    r"[`(\"'*\[]*\Z",
    re.IGNORECASE,
)
#: the head of a column whose things are not those of this repository as it is
_COLUMN = lazy(
    r"\b(?:old|legacy|deprecated|previous|former|removed|bad|wrong|avoid|don['’]?t|not|incorrect|instead of|consumers?"
    r"|planned|proposed|examples?|post-install|installed|upstream)\b|\A\W*(?:before|from|was)\W*\Z",
    re.IGNORECASE,
)
#: a line that a test runner or a compiler prints
_PRINTED = lazy(r"(?:\A|\n)[ \t]*(?:FAIL(?:ED)?|PASS(?:ED)?|ERROR|WARN(?:ING)?|INFO|ok|not ok)[:\s]\s*\Z")
#: what is right after it says that it is gone, or to be made
_AFTER = lazy(
    r"[`)\"'*\]]*\s*(?:(?:until|was|were|has been|used to)\b"
    r"|[-–—:(|]+\s*(?:to be |\*+)?(?:creat\w+|new|add|planned|todo|optional|if|generated)\b)",
    re.IGNORECASE,
)
_TICKED = lazy(r"[✅❌✔✗]|\b(?:fixed|resolved)\b|\b20\d\d-[01]\d-[0-3]\d\b", re.IGNORECASE)  #: it is a record
_STRONG = ((GONE, vocabulary.GONE), ("not yet", vocabulary.NOT_YET), ("elsewhere", vocabulary.ELSEWHERE))
#: words that cast doubt in German, French, Spanish, Portuguese, Chinese, Japanese, Korean and Russian
_FOREIGN = lazy(
    r"\b(?:statt|falls|nicht|kein\w*|z\.\s?b|alt\w*|neu\w*|erstell\w*|wenn|oder|ne|pas|plus|si|sinon|ancien\w*"
    r"|nouv\w+|cr[ée]\w+|remplac\w*|ou|par exemple|no|nunca|crear|nuev\w+|antigu\w+|ejemplo|não|nao|se|criar|nov\w+"
    r"|exemplo|salv[ae]\w*|guard[ae]r?|ger(?:ar?|ad[oa]s?)|gener(?:ar?|ad[oa]s?)|enregistr\w+|speicher\w*|erzeug\w*"
    r"|не|нет|если|созда\w*|нов\w*|стар\w*|удал\w*|например|или)\b"
    r"|[不没無无]|新增|创建|建立|例|旧|舊|删除|刪除|移除|已|将|將|若|或|如|新建|ない|新規|作成|場合|削除"
    r"|保存|写入|生成|出力|없|예|새|생성|경우|삭제|또는|저장",
    re.IGNORECASE,
)


def find_strong_hedge(claim: Claim, *, is_english: bool = True) -> str:
    """Why a thing that was there once is not missed; empty if it is."""
    if claim.sentence is None:
        return ""
    text, said = _whole(claim.sentence, claim.at), claim.sentence.text[max(claim.at - WIDE, 0) : claim.at + WIDE]
    at = min(claim.at, WIDE)
    before, after = said[max(at - NEAR, 0) : at], said[at:].lstrip("`\x00 ")
    doubts = () if is_english else (("in doubt", _FOREIGN, text),)
    is_thing = claim.kind not in ("command", "version")  # those are run, not made
    making = (("to be made", vocabulary.MADE, before), ("written", _WRITTEN, before)) if is_thing else ()
    tables = (
        *((why, words, text) for why, words in _STRONG),
        *doubts,
        *making,
        ("not wanted", vocabulary.FORBIDDEN, before),
        ("made by others", _OTHERS, text),
        ("not wanted", _LIKE_THIS, before),
        ("printed", _PRINTED, before),
        ("in a column", _COLUMN, claim.head),
        ("past", _WAS, before),
        ("past", _TICKED, said),
        (OPTIONAL, _OPTIONAL, said),
    )
    found = next(filter(None, (match_hedge(*each) for each in tables)), "")
    return found or ("said after it" if _AFTER.match(after) else "")


def find_hedge(claim: Claim) -> str:
    """Why a thing that never was there is not missed; empty if it is."""
    if claim.sentence is None or (found := find_strong_hedge(claim)):
        return found if claim.sentence is not None else ""
    text = _whole(claim.sentence, claim.at)
    before = claim.sentence.text[max(claim.at - NEAR, 0) : claim.at]
    if found := match_hedge("example", _EXAMPLE, text) or match_hedge(OPTIONAL, _OPTIONAL, text):
        return found
    if claim.source == "program":
        return match_hedge("negated", _NEGATED, before)
    if claim.text.endswith("/") and _IN.search(before):  # `new files in x/`: the folder is there
        return match_hedge("negated", _NEGATED, before) or match_hedge("to be made", _FILLED, before)
    return match_hedge("to be made", _BEFORE, before)


def is_example(claim: Claim) -> bool:
    """Whether a sentence gives an example, or says that the thing need not be there."""
    if claim.sentence is None:
        return False
    text = _whole(claim.sentence, claim.at)
    return bool(_EXAMPLE.search(text) or _OPTIONAL.search(text))


_PLATFORMS = lazy(r"\b(?:Chrome|Safari|Firefox|Edge|browsers?)\b")


def is_of_platforms(claim: Claim) -> bool:
    """Whether a sentence says since which releases something is available, not what the project needs."""
    return claim.sentence is not None and bool(_PLATFORMS.search(_whole(claim.sentence, claim.at)))


def _whole(sentence: Sentence, at: int) -> str:
    """A sentence with what leads to it, on one line; of a very long one, what is around a place."""
    near = sentence.text[max(at - WIDE, 0) : at + WIDE]
    return " ".join(f"{sentence.lead[-WIDE:]} {near}".split())


# -- languages

_ENGLISH = frozenset(
    "the a to and of in for is with use or not this it on be as are if when from by that all must".split()
)
_OTHER = frozenset(
    "der die das und nicht für ist mit auf ein eine den dem le la les des et une un pour dans est sur el los las del"
    " que con para por una não uma os da das em é il di che per".split()
)


def is_english(text: str) -> bool:
    """Whether a text is in English, as far as its words tell.

    >>> is_english("Use the tools in scripts"), is_english("Die Werkzeuge sind in scripts")
    (True, False)
    """
    start = text[:4_000]
    letters = sum(map(str.isalpha, start))
    if letters and sum(1 for char in start if char.isalpha() and not char.isascii()) > letters / 20:
        return False
    words = re.findall(r"[^\W\d_]+", start.lower())
    return sum(word in _ENGLISH for word in words) >= 2 * sum(word in _OTHER for word in words)


# -- placeholders


def has_stand_in(path: str) -> bool:
    """Whether a part of a path is a word for any name.

    >>> [has_stand_in(path) for path in ("src/your-route.ts", "hooks/useMyHook.ts", "src/hooks/useBerth.ts")]
    [True, True, False]
    """
    return any(_is_stand_in(part) for part in path.strip("/").split("/") if part not in (".", ".."))


def stands_for_any(name: str) -> bool:
    """Whether the name of a script, a target or a package is a word for any.

    >>> [stands_for_any(name) for name in ("script-name", "your-script", "test:foo", "rename", "build:examples")]
    [True, True, True, False, False]
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    return not STAND_INS.isdisjoint(words) or (len(words) > 1 and words[-1] == "name")


def _is_stand_in(part: str) -> bool:
    stem = part.partition(".")[0] or part
    words = [word.lower() for word in _WORDS.findall(part)]
    if stem.isupper() and stem.isalpha() and len(stem) > 2:  # SKILL.md, TODO
        return False
    if _FILL_IN.search(stem if "." in part else f"-{stem}"):
        return True
    if (stem.lower() in WHOLE and "." in part) or part.lower() == "path":
        return True
    if not words or STAND_INS.intersection(words) or "case" in words[1:2]:
        return True
    last = [word.lower() for word in _WORDS.findall(stem)][-1:]
    return bool(last) and last[0] in ENDINGS and len(words) > 1
