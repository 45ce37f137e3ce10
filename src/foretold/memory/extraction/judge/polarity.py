"""What a statement affirms and denies, so that a claim that says the opposite of what was said is recognised.

1. A denial (`never`, `stop`, `without`, `disable`) changes the sign of what follows it in its clause, a second one
   changes it back: `do not skip the tests` affirms them. The first word of meaning after it is its *focus*; that of a
   denial after its subject (`is forbidden`, `tags never`) is the word before it.
2. Two statements are compared by foci that they share: where none has the same sign in both and one has another, one
   says the opposite. A statement that shares no focus is put in other words, and is not judged.
3. Words that are opposites by themselves (`public`, `private`) count as one word of the other sign.
4. `lint before test` and `test after lint` say the same; `test before lint` does not. So do `over`, `instead of`, and
   `from … to`.
5. What follows `before`, `unless` or `if` is neither affirmed nor denied: `ask before deleting` and `never delete
   without asking` agree.
"""

from __future__ import annotations

import re
from functools import lru_cache

from foretold.memory.extraction.judge.vocabulary import CLAUSES, LIGHT, NEGATING, OPPOSITES, SHORT
from foretold.memory.extraction.judge.words import fold_text, stem
from foretold.memory.recall.query import STOPWORDS
from foretold.types import NamedTuple

_TOKEN = re.compile(r"[^\W_]+|[,;:.!?()—–]")
#: phrases that are replaced before a statement is read; `dont` denies once
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
        (r"^\W*(?:no|nope|nein)\b(?=,| wait| sorry| i meant)", " "),
        (r"\bto (\w+) from (\w+)", r"from \2 to \1"),
        (r"\b(?:spare|save) (?:me|us)\b", " not "),
        (r"\b(\w+) (?:only )?as (?:a|the) last resort\b", r" except \1 "),
        (
            r"\bprefers? ((?:\w+ ){1,4})to ((?:(?:an?|one|the|many|several|few) )?(?:\w+|\w+ ones?))(?=\W*$|[,;.])",
            r" prefer \1 except \2",
        ),
        (r"(?<=/)(?:except|no|not|off|stop|skip|delete|remove)\b", " "),
        (
            r"\b(?:not|never|no|dont|avoid)\b((?: \w+){0,4}) (?!rather|other|better)(?:\w+er|more|less) than\b(?= \w)",
            r"\1 bound ",
        ),
        (r"\b(?:rather|sooner)\b(.{1,60}?)\bthan\b", r" \1 except "),
        (r"\b(?:nobody|no one|nothing|none) but\b", " only "),
        (r"\b(all|everyone|everybody|everything|anyone|anything|any \w+|all \w+) but\b", r"\1 except "),
        (r"\b(?:no|not) (?:more|longer|later|fewer|less|earlier) than\b", " bound "),
        (r"\bdont just\b", " not "),
        (r"\bnot (?:only|just|necessarily)\b|\bno (?:matter|wonder)\b|\bwhy not\b", " "),
        (r"\bnever ?mind\b", " ignore "),
        (r"\b(?:replaced|superseded) by\b", " removed , "),
        (r"\b(?:replac|supersed)(?:es|ed)\b", " except "),
        (r"(?<!\bam )(?<!\bis )(?<!\bim )(?<!\bare )(?<!\bbe )(?<!ided )(?<!ly )\bagainst\b", " on "),
        (r"\b(?:was|were|used to be) ([^,;.]{1,40}?) (?:before|earlier|until then)\b(?=\W*$)", r" formerly \1"),
        (r"\b(?:instead of|(?:rather|other|better) than|apart from|as opposed to|anstelle von|statt)\b", " except "),
        (r"(?<=\w )over (?!everything|anything|all\b)(?=[a-z])", " except "),
        (r"\b(?:do|does|did|is|are|was|must|should|can|could|will|would|have|has)nt\b", " not "),
        (r"\b(?:turn(?:ed)?|switch(?:ed)?) off\b", " disabled "),
        (r"\b(?:mov|migrat|switch|gett)\w* (?:off|away from)\b|\bgot off\b", " not "),
        (r"\b(hates?|dislikes?) (?:it )?(?:when|if|that)(?: you)?\b", r" \1 "),
        (r"\bnever (?:used|tried|worked with|touched|written|seen)\b", " new to "),
        (r"\bprefer(?:red|able)? to\b(?= \w)", " except "),
        (r"\bleave (.{1,40}?) (?:alone|as (?:it |they )?(?:is|are))\b", r" not \1 "),
        (r"\bout of\b|\btoo (?=\w+(?:,|;|\.| and| for|$))", " not "),
        (r"\bper (\w+)", r" per\1 "),
        (r"\b(?:less|fewer) (?!than)(?=[a-z])", " not "),
        (r"\b(mov\w+|migrat\w+|switch\w+)((?: \w+){0,4}?) from (\w+) to\b", r" \1\2 except \3 , "),
        (r"\b(mind|problem|issue|trouble)s?\b", " avoid "),
        (r"\bgo(?:es|ing)? away\b|\bgot rid of\b|\bget rid of\b", " remove "),
    )
)
#: denials that follow what they deny: `is disabled`, `must be off`
_AFTER = frozenset(
    "off disabled forbidden banned prohibited excluded removed deleted dropped unused blocked rejected ignored frozen"
    " deprecated disallowed denied verboten unneeded skipped omitted undocumented untyped unsupported exempt killed"
    " scrapped shelved abandoned retired discontinued obsolete".split()
)
_BE = frozenset("is are be was were been being stay stays remain remains get gets ist sind wird werden".split())
_PLAIN = frozenset("not never cannot cant wont dont".split())
_STOPS = frozenset(",;:.!?()—–")
_MAIN = frozenset("but so just instead then sondern only as".split())  #: clauses that say something by themselves
_NEXT = frozenset("but so because since aber weil denn sondern".split())  #: clauses about something else
_RELATIVE = frozenset("that which who where".split())  #: say something of the word before them, in their next word
_LISTED = frozenset("not never no kein keine keinen nie pas".split())  #: after a comma: one thing, not another
_OF_OBJECT = frozenset(
    "delete deletes deleted deleting remove removes removed removing drop drops dropped dropping strip disable disables"
    " disabled disabling exclude excludes excluded excluding ignore ignores ignored ignoring skip skips skipped"
    " skipping omit omits omitted".split()
)
#: denials that may follow the verb, and deny the whole clause
_WHOLE = frozenset("nicht nie niemals nirgends keinen keiner".split())
_SIDES = re.compile(r"\b(before|after|except|bevor|nachdem)\b")
_FROM_TO, _TO_FROM = re.compile(r"\bfrom (\w+) to (\w+)"), re.compile(r"\bto (\w+) from (\w+)")
_IF, _THEN = re.compile(r"\b(?:if|when)\b"), re.compile(r"[,;]? (?:and )?then\b")
_OPPOSITE: dict[str, tuple[str, int]] = {}
for _one, _two in OPPOSITES:
    if stem(_one) not in _OPPOSITE:
        _OPPOSITE.setdefault(stem(_one), (stem(_one), 1))
    _OPPOSITE.setdefault(stem(_two), (_OPPOSITE[stem(_one)][0], -_OPPOSITE[stem(_one)][1]))


class SignedWord(NamedTuple):
    """A word of a statement, affirmed (1) or denied (-1)."""

    word: str  #: its stem; of two opposites, the first one's
    sign: int  #: 0: what a later denial says nothing of: `X is not Y`
    is_focus: bool
    is_main: bool  #: not after `if`, `before` and the like
    given: str  #: its own stem
    is_contrast: bool  #: the focus of `instead of`, `over`, or `not` after a comma
    clause: int  #: its number


def plain_words(text: str) -> str:
    """A folded text without apostrophes, with phrases that deny made plain."""
    plain = fold_text(text).replace("'", "").replace("’", "")
    for pattern, instead in _PHRASES:
        plain = pattern.sub(instead, plain)
    return plain


class SignedText(NamedTuple):
    """A statement, read."""

    words: tuple[SignedWord, ...]
    denied: tuple[frozenset[str], ...]  #: the words of each clause that denies
    has_denial: bool  #: also one that another cancels out
    is_denying: bool  #: and not only by `instead of`, `over`, or `not` after a comma


@lru_cache(1 << 12)
def signed_text(text: str) -> SignedText:
    """The words of a statement, with their signs."""
    reader = _Reader()
    for token in _TOKEN.findall(plain_words(text)):
        reader.read(token)
    reader.end_clause()
    return SignedText(tuple(reader.found), tuple(reader.denied), reader.has_denial, reader.is_new)


class _Reader:
    """Reads one statement, token by token."""

    def __init__(self) -> None:
        self.found: list[SignedWord] = []
        self.denied: list[frozenset[str]] = []
        self.sign, self.is_main, self.is_pending, self.is_contrast = 1, True, False, False
        self.first, self.count, self.last, self.has_denial = 0, 0, "", False
        self.is_new, self.is_whole, self.clause = False, False, 0
        self.is_relative, self.of_object = False, 1  # the sign that a denial of an object has added

    def read(self, word: str) -> None:
        word = SHORT.get(word, word)
        is_noun = word == "freeze" and len(self.found) > self.first and self.found[-1].given == stem(self.last)
        is_after = word in _AFTER and (self.last in _BE or (self.is_pending and self.last in _PLAIN))
        if word in _STOPS or word in CLAUSES:
            self.end_clause()
            self.clause += word in _STOPS or word in _NEXT
            self.is_main, self.is_relative = word in _STOPS or word in _MAIN, word in _RELATIVE
        elif is_noun or is_after:
            self._deny_last()
        elif word in NEGATING:
            self._deny(word)
        elif word not in LIGHT and word not in STOPWORDS and (len(word) > 1 or word.isdigit()):
            self._add(stem(word))
        self.last = word

    def _deny(self, word: str) -> None:
        is_listed = word in _LISTED and bool(self.found) and (self.last in _STOPS or self.last in ("and", "but"))
        self.is_contrast, self.is_whole = word == "except" or is_listed, self.is_whole or word in _WHOLE
        if word == "without":
            self.sign *= self.of_object  # `delete it without asking` does not ask
        self.of_object = -1 if word in _OF_OBJECT and self.sign * self.of_object > 0 else 1
        self.sign, self.is_pending, self.count = -self.sign, True, self.count + 1
        self.is_new = self.is_new or not self.is_contrast
        for at in range(self.first, len(self.found)):
            each = self.found[at]
            if self.is_whole:
                self.found[at] = each._replace(sign=-each.sign, is_focus=True)
            elif word in _PLAIN and not self.is_contrast and not each.is_focus:
                self.found[at] = each._replace(sign=0)

    def _add(self, word: str) -> None:
        same, sign = _OPPOSITE.get(word, (word, 1))
        is_contrast = self.is_pending and self.is_contrast
        is_focus = self.is_pending or self.is_whole
        made = SignedWord(same, sign * self.sign, is_focus, self.is_main, word, is_contrast, self.clause)
        self.found.append(made)
        self.is_main, self.is_relative = self.is_main or self.is_relative, False
        self.is_pending = False

    def _deny_last(self) -> None:
        """A denial after what it denies; one before it cancels out."""
        if len(self.found) > self.first and not self.found[-1].is_focus:
            last = self.found[-1]
            self.found[-1] = last._replace(sign=-(last.sign or 1) * self.sign, is_focus=True)
            self.count, self.is_new = self.count + 1, True
        self.is_pending = False

    def end_clause(self) -> None:
        if self.is_pending and len(self.found) > self.first and not self.found[-1].is_focus:
            last = self.found[-1]
            self.found[-1] = last._replace(sign=(last.sign or 1) * self.sign, is_focus=True)
        self.denied += [frozenset(each.word for each in self.found[self.first :])] * (self.count % 2)
        self.has_denial = self.has_denial or self.count > 0
        self.sign, self.is_pending, self.first, self.count = 1, False, len(self.found), 0
        self.is_whole, self.of_object = False, 1


class Agreement(NamedTuple):
    """How the foci of two statements compare."""

    same: int
    opposed: tuple[str, ...]
    is_new: bool = False  #: the first one denies something, and the second one nothing


def compare_signs(claim: str, said: str) -> Agreement:
    """Compare what two statements affirm and deny."""
    own, theirs = signed_text(claim), signed_text(said)
    pairs = [_WordPair.of(word, own, theirs) for word in dict.fromkeys(each.word for each in own.words)]
    compared = [pair for pair in pairs if pair.is_comparable]
    same = sum(pair.is_same and pair.is_agreed for pair in compared)
    changed = [pair for pair in compared if not pair.is_same]
    if {pair.mine[0].sign for pair in changed} == {1, -1}:
        return Agreement(same, tuple(pair.word for pair in changed))  # what was denied is affirmed, and the reverse
    opposed = [pair for pair in changed if _is_opposed(pair, own, theirs)]
    if opposed and not any(pair.is_contrast for pair in opposed) and _deny_alike(own, theirs):
        return Agreement(same + 1, ())
    is_new = bool(own.denied) and own.is_denying and not theirs.has_denial and not same
    return Agreement(same, tuple(pair.word for pair in opposed), is_new)


class _WordPair(NamedTuple):
    """A word of a claim, and of a statement."""

    word: str
    mine: tuple[SignedWord, ...]
    other: tuple[SignedWord, ...]

    @staticmethod
    def of(word: str, own: SignedText, theirs: SignedText) -> _WordPair:
        mine = tuple(each for each in own.words if each.word == word)
        return _WordPair(word, mine, tuple(each for each in theirs.words if each.word == word))

    @property
    def is_pole(self) -> bool:
        """Whether the two have words that are opposites by themselves."""
        return not {each.given for each in self.mine} & {each.given for each in self.other}

    @property
    def is_contrast(self) -> bool:
        return self.is_pole or any(each.is_contrast for each in (*self.mine, *self.other))

    @property
    def is_comparable(self) -> bool:
        """Whether both have the word, one of them denies it, and it is what the claim is about."""
        both = (*self.mine, *self.other)
        if not self.other or not all(each.sign for each in both):
            return False
        return (self.is_pole or any(each.is_focus for each in both)) and any(each.is_main for each in self.mine)

    @property
    def is_same(self) -> bool:
        return bool({each.sign for each in self.mine} & {each.sign for each in self.other})

    @property
    def is_agreed(self) -> bool:
        """Whether a word of the same sign shows that both say the same: it is what the statement is about."""
        is_said = any(each.is_main and (each.is_focus or self.is_pole) for each in self.other)
        return is_said or any(each.is_contrast for each in self.mine)


def _is_opposed(pair: _WordPair, own: SignedText, theirs: SignedText) -> bool:
    """Whether a word of another sign shows that a claim says the opposite."""
    if not pair.is_contrast:
        return _is_about(own, pair.mine, theirs, pair.other)
    if pair.is_pole or any(each.is_contrast for each in pair.other):
        return True
    # a model may set what was said off against something else
    return any(each.is_main for each in pair.other) and not theirs.has_denial


def _is_about(own: SignedText, mine: tuple[SignedWord, ...], theirs: SignedText, other: tuple[SignedWord, ...]) -> bool:
    """Whether a word is in the clause of a statement that has most in common with the clause of a claim it is in."""
    clauses = {each.clause for each in mine}
    shared = {each.word for each in own.words if each.clause in clauses} - {each.word for each in mine}
    counts: dict[int, int] = {}
    for each in theirs.words:
        counts[each.clause] = counts.get(each.clause, 0) + (each.word in shared)
    return max(counts[each.clause] for each in other) >= max(counts.values())


def _deny_alike(own: SignedText, theirs: SignedText) -> bool:
    """Whether both deny, if in other words (`never on Fridays`, `no deploys`), in clauses about the same."""
    shared = {each.word for each in own.words}
    denied = sum(not clause or bool(clause & shared) for clause in theirs.denied)
    return bool(own.denied) and denied % 2 == len(own.denied) % 2


Sides = tuple[frozenset[str], frozenset[str]]


def sides_of(text: str) -> list[tuple[str, Sides]]:
    """What stands on either side of words whose sides cannot be exchanged; `after` is `before` the other way round."""
    plain = plain_words(text)
    if not _IF.search(plain):
        plain = _THEN.sub(" before ", plain)
    found: list[tuple[str, Sides]] = []
    for match in _FROM_TO.finditer(_TO_FROM.sub(r"from \2 to \1", fold_text(text))):
        found.append(("from", (_meaning(match[1]), _meaning(match[2]))))
    for match in _SIDES.finditer(plain):
        before = re.split(r"[,;:.!?()]", plain[: match.start()])[-1]
        after, *rest = re.split(r"[,;:.!?()]", plain[match.end() :])
        if not _meaning(before) and rest:
            before = rest[0]  # `before you test, lint`
        left, right = _meaning(before), _meaning(after)
        if match[1] in ("after", "nachdem"):
            left, right = right, left
        kind = "except" if match[1] == "except" else "before"
        if left and right:
            found.append((kind, (left, right)))
    return found


def _meaning(text: str) -> frozenset[str]:
    words = (SHORT.get(word, word) for word in re.findall(r"[^\W_]+", text))
    light = LIGHT - {"run", "add", "use", "keep"}
    return frozenset(stem(word) for word in words if word not in light and word not in STOPWORDS)


def is_swapped(claim: str, said: str) -> bool:
    """Whether a claim has exchanged the sides of what was said."""
    for kind, (left, right) in sides_of(claim):
        for other, (one, two) in sides_of(said):
            left_only, right_only, one_only, two_only = left - right, right - left, one - two, two - one
            is_crossed = bool(left_only & two_only) and bool(right_only & one_only)
            if kind == other and is_crossed and not (left_only & one_only or right_only & two_only):
                return True
    return False
