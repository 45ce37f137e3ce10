"""Whether a memory that a model wants to write may be written. No model is asked: the same draft gets the same answer.

1. A draft is judged by its claims: the description, and the statements of the body. A description, and the lines `Why`
   and `How to apply`, are asides: a model may put them in its own words. So are the name of a memory, which its index
   shows, and that of its file.
2. Of a change only those claims are judged that the memory did not make before. Dates, paths and longer words are
   compared whole there: a freeze that is moved by a week is another claim.
3. Refused are, in this order: what cannot be seen (`hidden`), a `secret`, what is `too-large` for one fact, what is
   about a person and meant for the team (`personal-to-team`); then what repeats a `recalled` memory or an `instruction`
   file (half of the words of its claims, or more), and a `duplicate` of another memory.
4. Then every claim is traced. One that waits for something the user will say is `conditional`, unless the user typed
   it. One that a tool or a file has said, and the user has not, is `said-by-tool`. One that no one has said, or that
   the assistant only offered, is `unsupported`.
5. Then its facts are compared (`facts`): what says otherwise than the user `contradicts`, numbers, dates and addresses
   that the user did not give are `unsupported`, and other names that the user did not give are kept, as `inferred`.
6. A claim counts as repeated if one window of the other text has REPEATED of its words, in much the same order, and
   what is left was not typed by the user: a correction of an instruction uses its words.

docs/extraction.md says how the numbers were found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foretold.memory.extraction.judge.facts import compare_facts, without_given
from foretold.memory.extraction.judge.phrases import CONDITION, OFFER, WAITING
from foretold.memory.extraction.judge.vocabulary import SHORT
from foretold.memory.extraction.judge.words import (
    NOT,
    exact_words,
    fold_text,
    share_of,
    specific_words,
    statements,
    words,
)
from foretold.secrets.disguised import secret_in
from foretold.secrets.forms import credentials_in
from foretold.secrets.invisible import hidden_in
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foretold.memory.extraction.judge.evidence import Best, ConversationEvidence, Spans
    from foretold.memory.note import Memory


REASONS: dict[str, str] = {
    "conditional": "it waits for something that the user will say, and the user did not say so",
    "contradicts": "it says otherwise than the user: another name, value or path, or the opposite",
    "duplicate": "another memory says it already; that one may be updated",
    "hidden": "it has characters that a person does not see and a model reads",
    "instruction": "an instruction file that is in force says it already",
    "not-a-memory": "it is not a memory: frontmatter with name, description and type is missing",
    "outside": "only files below the memory directories can be read and written",
    "personal-to-team": "it is about a person, and stays private",
    "policy": "the write policy does not let agents write here",
    "recalled": "it repeats a memory that was recalled",
    "said-by-tool": "a tool or a file said it, not the user",
    "secret": "it has what looks like a credential",
    "too-large": "it is longer than one fact needs",
    "unsupported": "nothing that the user said supports it",
}
LARGEST = 6000  #: characters of a memory
LONGEST = 300  #: characters of a description
MOST = 100  #: statements of a memory
BRIEF = 2  #: words of a description that need no source
REPEATED = 0.75  #: of a claim's words in one window
IN_ORDER = 0.25  #: of its pairs of adjacent words there
VERBATIM = 0.8  #: of its pairs of adjacent words: then whatever else it says does not count
SAME = 0.6  #: of the words of the shorter of two memories
WITHIN = 0.75  #: of a draft's words in another memory
LEADING = 0.5  #: of a claim's words in two prompts: what follows it may be in other words
SUPPORT = 0.3  #: of a claim's words in two prompts that follow each other
SAID, SAID_MORE = 0.6, 0.3  #: of its words in a window of a tool, and by how much that is more than the support
ASKED, ASKED_MORE = 0.4, 0.2  #: the same, if that window demands something
ASIDE, ASIDE_MORE = 0.8, 0.5  #: the same, of a description or an aside
OFFERED = 0.6  #: of its words in a window of the assistant that offers something
CHANCE = 0.4  #: of its pairs of adjacent words in a window of a tool; with fewer, it has the words by chance
TYPED = 0.6  #: of a conditional claim in what the user typed, with a condition in it
_ADDRESS = re.compile(r"://|\w@\w|^[\w-]+(?:\.[\w-]*[a-z][\w-]*){2,}$")
_ASIDE = re.compile(r"\W*(?:why|how to apply)\b\W*:", re.IGNORECASE)


class Draft(NamedTuple):
    """A memory that a model wants to write."""

    file: str
    name: str
    description: str
    type: str
    body: str
    scope: str = "private"
    before: Memory | None = None  #: the one that it would change


class DraftClaim(NamedTuple):
    """A statement of a draft."""

    text: str
    words: tuple[str, ...]
    is_aside: bool

    @property
    def set(self) -> set[str]:
        return set(self.words)

    @property
    def essence(self) -> tuple[object, ...]:
        """What two claims have in common that say the same."""
        return self.words, frozenset(exact_words(self.text))


def new_claims(draft: Draft) -> list[DraftClaim]:
    """The claims of a draft that the memory before it did not make."""
    before = claims_of(draft.before.description, draft.before.body) if draft.before else []
    known = {each.essence for each in before}
    return [each for each in claims_of(draft.description, draft.body) if each.essence not in known]


def name_claim(draft: Draft) -> DraftClaim:
    """What the name of a new memory and that of its file say."""
    if draft.before is not None:
        return DraftClaim("", (), is_aside=True)
    file = draft.file.rpartition("/")[2].removesuffix(".md").removeprefix(f"{draft.type}_")
    text = re.sub(r"[-_]+", " ", f"{draft.name.removeprefix(draft.type)} {file}").strip()
    return DraftClaim(text, tuple(dict.fromkeys(words(text))), is_aside=True)


def is_nothing_new(draft: Draft) -> bool:
    """Whether a change says what is said already, and leaves nothing out."""
    if draft.before is None or draft.type != draft.before.type or new_claims(draft):
        return False
    return len(claims_of(draft.description, draft.body)) >= len(claims_of(draft.before.description, draft.before.body))


def claims_of(description: str, body: str) -> list[DraftClaim]:
    """The claims of a memory, its description first."""
    found = [DraftClaim(description, tuple(words(description)), is_aside=True)]
    for line in body.splitlines():
        is_aside = bool(_ASIDE.match(line))
        for each in statements(line):
            own = _ASIDE.sub("", each, count=1) if is_aside else each
            found.append(DraftClaim(each, tuple(words(own)), is_aside))
    return [claim for claim in found if claim.words or specific_words(claim.text)]


class Judgement(NamedTuple):
    """Why a draft is not written; an empty reason: it is. `source` is the message that it comes from."""

    reason: str = ""
    detail: str = ""
    source: str = ""
    warning: str = ""  #: what should be known of one that is written
    is_found: bool = False  #: whether it is what the assistant found with tools, and no tool asked for it
    inferred: tuple[str, ...] = ()  #: what one that is written names, and the user did not


def judge(
    draft: Draft,
    evidence: ConversationEvidence,
    others: Sequence[Memory],
    *,
    secrets: Sequence[str] = (),
    largest: int = LARGEST,
) -> Judgement:
    """Judge a draft against what was said, and other memories that are near it."""
    formal = _judge_form(draft, secrets, largest)
    if formal:
        return formal
    claims = new_claims(draft)
    verdict = (
        _find_repeated(claims, evidence.recalled, evidence, "recalled")
        or _find_repeated(claims, evidence.instructions, evidence, "instruction")
        or _find_duplicate(draft, claims, others)
        or _judge_name(draft, claims, evidence)
        or _trace(claims, evidence, draft)
    )
    return verdict._replace(source=evidence.source({word for claim in claims for word in claim.words}))


def _judge_form(draft: Draft, secrets: Sequence[str], largest: int) -> Judgement | None:
    """What can be said of a draft by itself."""
    text = f"{draft.file}\n{draft.name}\n{draft.description}\n{draft.type}\n{draft.body}"
    if hidden := hidden_in(draft.file, text):
        return Judgement("hidden", hidden[0].message)
    if kind := secret_in(text, secrets):
        return Judgement("secret", f"it looks like a credential: {kind}")
    if len(draft.body) > largest:
        return Judgement("too-large", f"{len(draft.body):,} characters; one fact needs {largest:,} at most")
    if len(claims_of("", draft.body)) > MOST:
        return Judgement("too-large", f"more than {MOST} statements; one fact needs fewer")
    if len(draft.description) > LONGEST:
        return Judgement("too-large", f"a description of {len(draft.description)} characters; {LONGEST} at most")
    if draft.scope == "team" and draft.type == "user":
        return Judgement("personal-to-team", "a memory of type user is about a person, and stays private")
    return None


# What is known already


def _find_repeated(
    claims: Sequence[DraftClaim], spans: Spans, evidence: ConversationEvidence, reason: str
) -> Judgement | None:
    own = [claim for claim in claims if not claim.is_aside] or list(claims)
    repeated = [claim for claim in own if is_repeated(claim, spans, evidence)]
    if not repeated or 2 * sum(len(claim.set) for claim in repeated) < sum(len(claim.set) for claim in own):
        return None
    where = spans.best(list(repeated[0].words)).window.text
    return Judgement(reason, f"{_quote(repeated[0].text)} is said there: {_quote(where)}")


def is_repeated(claim: DraftClaim, spans: Spans, evidence: ConversationEvidence) -> bool:
    """Whether a text says what a claim says; see rule 4."""
    best = spans.best(list(claim.words))
    if not claim.words or best.share < REPEATED:
        return False
    if (NOT in best.window.words) != (NOT in claim.set) and evidence.typed(claim.set) >= REPEATED:
        return False  # the user says the opposite
    if best.order >= VERBATIM and best.share == 1.0:
        return True
    left = claim.set - best.window.words
    return best.order >= IN_ORDER and not any(left & unit.typed for unit in evidence.units)


def _find_duplicate(draft: Draft, claims: Sequence[DraftClaim], others: Sequence[Memory]) -> Judgement | None:
    """Whether another memory says it. A change may come nearer to another one than a new memory may."""
    own = {word for claim in claims if not claim.is_aside for word in claim.words}
    for memory in others:
        theirs = claims_of(memory.description, memory.body)
        whole = {word for claim in theirs for word in claim.words}
        lead = {word for claim in theirs if not claim.is_aside for word in claim.words}
        is_within = len(own) > 1 and share_of(own, whole) >= WITHIN
        fewest = min(len(own), len(lead))
        is_same = draft.before is None and fewest > 2 and len(own & lead) / fewest >= SAME
        if is_within or is_same or (draft.before is None and memory.name == draft.name and memory.type == draft.type):
            return Judgement("duplicate", f"{memory.file} says it already; update that one if it has changed")
    return None


# Who said it


def _trace(claims: Sequence[DraftClaim], evidence: ConversationEvidence, draft: Draft) -> Judgement:
    if not claims and draft.before is not None:
        return Judgement()  # it only leaves something out; the history keeps that
    warning, has_lead = "", False
    inferred: dict[str, None] = {}
    for claim in claims:
        if WAITING.search(fold_text(claim.text)):
            typed = evidence.user.best(list(claim.words))
            if typed.share < TYPED or not CONDITION.search(fold_text(typed.window.text)):
                return Judgement("conditional", f"{_quote(claim.text)} waits for what the user will say")
            warning = f"{_quote(claim.text)} waits for what the user will say"
        verdict = (
            _find_tool_source(claim, evidence)
            or _demand_support(claim, evidence, has_lead=has_lead)
            or _find_offer(claim, evidence)
            or _judge_facts(claim, evidence, draft)
        )
        if verdict is not None and verdict.reason:
            return verdict
        inferred.update(dict.fromkeys(verdict.inferred if verdict else ()))
        has_lead = has_lead or (not claim.is_aside and evidence.support(claim.set) >= LEADING)
    if not any(_is_supported(claim, evidence) for claim in claims):
        return Judgement("unsupported", "nothing that the user said supports it" if claims else "it says nothing")
    return Judgement(warning=warning, inferred=tuple(inferred))


def _is_supported(claim: DraftClaim, evidence: ConversationEvidence) -> bool:
    """Whether enough words of a claim were said; numbers and dates that the user gave in other words do not count."""
    if evidence.support(claim.set) >= SUPPORT:
        return True
    return evidence.support(set(words(without_given(claim.text, evidence.speech)))) >= SUPPORT


def _judge_facts(claim: DraftClaim, evidence: ConversationEvidence, draft: Draft) -> Judgement | None:
    """Whether the numbers, dates, names of a claim, and what it denies, are the user's."""
    is_description = claim.is_aside and claim.text == draft.description
    if is_description and claim.text in draft.body:
        return None
    known = f"{draft.before.description}\n{draft.before.body}" if draft.before else ""
    is_aside = claim.is_aside and not is_description
    found = compare_facts(claim.text, evidence.speech, known=known, is_aside=is_aside, is_topic=is_description)
    if found.contradicted:
        return Judgement("contradicts", f"{_quote(claim.text)}: {found.contradicted}")
    if found.invented:
        return Judgement("unsupported", f"{_quote(claim.text)}: {found.invented}; keep to what the user said")
    return Judgement(inferred=found.inferred) if found.inferred else None


def _find_offer(claim: DraftClaim, evidence: ConversationEvidence) -> Judgement | None:
    """Whether the assistant offered what a claim says, and the user did not agree."""
    found, support = evidence.assistant.best(list(claim.words)), evidence.support(claim.set)
    if claim.is_aside or found.share < OFFERED or found.share - support < ASKED_MORE:
        return None
    if not OFFER.search(fold_text(found.window.text)):
        return None
    return Judgement("unsupported", f"the assistant offered {_quote(claim.text)}, and the user did not agree")


def _judge_name(draft: Draft, claims: Sequence[DraftClaim], evidence: ConversationEvidence) -> Judgement | None:
    """Whether the name and description of a memory, and its asides where a tool pleads, are about what it says."""
    name = name_claim(draft)
    if len(name.set) > BRIEF and (source := _find_tool_source(name, evidence)):
        return source
    body = {word for claim in claims_of("", draft.body) if not claim.is_aside for word in claim.words}
    for claim in (name, *claims):
        is_shown = claim is name or claim.text == draft.description
        if not claim.is_aside or len(claim.set) <= BRIEF or not (is_shown or evidence.tools.pleads):
            continue
        if max(share_of(claim.set, body), evidence.support(claim.set)) < SUPPORT:
            said = f"{_quote(claim.text)} is not what the memory is about, and the user did not say it"
            return _find_tool_source(claim, evidence) or Judgement("unsupported", said)
    return None


def _find_tool_source(claim: DraftClaim, evidence: ConversationEvidence) -> Judgement | None:
    """Whether a tool or a file has said a claim, and the user has not."""
    for word in sorted(specific_words(without_given(claim.text, evidence.speech))):
        is_backed = evidence.backed.has(word) or evidence.backed.has(SHORT.get(word, word))
        if evidence.tools.has(word) and not is_backed and not _is_meant(word, evidence):
            asked = evidence.tools.best(list(claim.words), demanding=True).share >= ASKED
            return Judgement("said-by-tool", f"{_quote(word)} was named by a tool or a file only", is_found=not asked)
        if _ADDRESS.search(word) and not evidence.backed.has(word):
            return Judgement("unsupported", f"no one named {_quote(word)}; keep to what the user said")
    support, given = evidence.support(claim.set), list(claim.words)
    if len(claim.set) < 2:
        return None
    said = f"{_quote(claim.text)} is what a tool or a file said: "
    asking, best = evidence.tools.best(given, demanding=True), evidence.tools.best(given)
    if asking.share >= ASKED and (asking.share - support >= ASKED_MORE or _is_twisted(claim, asking, evidence)):
        return Judgement("said-by-tool", said + _quote(asking.window.text))
    least, more = (ASIDE, ASIDE_MORE) if claim.is_aside else (SAID, SAID_MORE)
    if _has_claim(best, least) and best.share - support >= more:
        return Judgement("said-by-tool", said + _quote(best.window.text), is_found=True)
    found = evidence.assistant.best(given)
    is_repeated = evidence.tools.windows and not claim.is_aside and _has_claim(found, ASIDE)
    if is_repeated and found.share - support >= SAID_MORE:
        said = f"{_quote(claim.text)} is what the assistant said after it had used tools; the user did not"
        return Judgement("said-by-tool", said, is_found=True)
    return None


def _is_twisted(claim: DraftClaim, asking: Best, evidence: ConversationEvidence) -> bool:
    """Whether words of the user were put together as a tool wants them: in its order, or without the user's `not`."""
    own = evidence.backed.best(list(claim.words))
    is_reversed = (NOT in claim.set) == (NOT in asking.window.words) != (NOT in own.window.words)
    return asking.share >= ASIDE and (is_reversed or asking.order >= SAID > 2 * own.order)


def _has_claim(best: Best, least: float) -> bool:
    """Whether a window says it, and does not just have its words by chance: code has many words."""
    return best.share >= least and (best.order >= CHANCE or best.share >= ASIDE)


def _is_meant(word: str, evidence: ConversationEvidence) -> bool:
    """Whether a file is meant that the user called by its name: the importer, `src/importer.py`."""
    if "://" in word or "/" not in word or "@" in word or evidence.tools.demands(word):
        return False
    name = words(word.rpartition("/")[2].rpartition(".")[0])
    return bool(name) and evidence.support(set(name)) == 1.0


def _demand_support(claim: DraftClaim, evidence: ConversationEvidence, *, has_lead: bool) -> Judgement | None:
    """Whether the user said a claim. After one that the user made, a model may say in its own words what follows."""
    if claim.is_aside or not claim.words or _is_supported(claim, evidence):
        return None
    given = list(claim.words)
    is_found = _has_claim(evidence.tools.best(given), ASKED) or _has_claim(evidence.assistant.best(given), ASKED)
    if evidence.tools.windows and is_found:
        said = f"{_quote(claim.text)} was found with tools; the user did not say it"
        return Judgement("said-by-tool", said, is_found=True)
    is_own = has_lead and not is_found and not evidence.tools.pleads
    if is_own and all(map(evidence.backed.has, specific_words(claim.text))):
        return None
    said = f"nothing that the user said supports {_quote(claim.text)}; keep to what the user said"
    return Judgement("unsupported", said)


def _quote(text: str) -> str:
    """A text for a report; one with a credential is not repeated."""
    if credentials_in(text):
        return "(a text with a credential)"
    return repr(text if len(text) <= 80 else text[:79] + "…")
