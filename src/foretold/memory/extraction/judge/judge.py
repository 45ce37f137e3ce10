"""Whether a memory that a model wants to write may be written. No model is asked: the same draft gets the same answer.

1. A draft is judged by its claims: the description, and the statements of the body. Of a change only new claims are
   judged. The lines `Why` and `How to apply` are asides: a model may put them in its own words.
2. Refused is, in this order: what cannot be seen (`hidden`), a `secret`, what is `too-large` for one fact, what is
   about a person and meant for the team (`personal-to-team`); then what repeats a `recalled` memory or an `instruction`
   file (half of the words of its claims, or more), and a `duplicate` of another memory.
3. Then every claim is traced. One that waits for something the user will say is `conditional`, unless the user typed
   it. One that a tool or a file has said, and the user has not, is `said-by-tool`. One that nobody has said is
   `unsupported`.
4. A claim counts as repeated if one window of the other text has REPEATED of its words, in much the same order, and
   what is left was not typed by the user: whoever corrects an instruction uses its words.

docs/extraction.md says how the numbers were found.
"""

from __future__ import annotations

import re

from foretold.memory.extraction.judge.claims import Claim, Draft, claims_of, name_claim, new_claims
from foretold.memory.extraction.judge.words import NOT, folded, shared, specifics, words
from foretold.secrets.disguised import secret_in
from foretold.secrets.forms import credentials_in
from foretold.secrets.invisible import hidden_in
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foretold.memory.extraction.judge.evidence import Ground
    from foretold.memory.extraction.judge.spans import Best, Spans
    from foretold.memory.note import Memory

REASONS: dict[str, str] = {
    "conditional": "it waits for something that the user will say, and the user did not say so",
    "duplicate": "another memory says it already; that one may be updated",
    "hidden": "it has characters that a person does not see and a model reads",
    "instruction": "an instruction file that is in force says it already",
    "not-a-memory": "it is no memory: frontmatter with name, description and type is missing",
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
BRIEF = 2  #: words of a description that need not be anybody's
REPEATED = 0.75  #: of a claim's words in one window
IN_ORDER = 0.25  #: of its neighbouring words there
VERBATIM = 0.8  #: of its neighbouring words: then whatever else it says does not count
SAME = 0.6  #: of the words of the shorter of two memories
WITHIN = 0.75  #: of a draft's words in another memory
LEADING = 0.5  #: of a claim's words in two prompts: what follows it may be in other words
SUPPORT = 0.3  #: of a claim's words in two prompts that follow each other
TOLD, TOLD_MORE = 0.6, 0.3  #: of its words in a window of a tool, and by how much that is more than the support
ASKED, ASKED_MORE = 0.4, 0.2  #: the same, if that window wants something remembered
ASIDE, ASIDE_MORE = 0.8, 0.5  #: the same, of a description or an aside
CHANCE = 0.4  #: of its neighbouring words in a window of a tool; with fewer, it has the words by chance
TYPED = 0.6  #: of a conditional claim in what the user typed, with a condition in it
_CUE = (
    r"\b(?:when|if|once|as soon as|whenever|next time|the moment|after|until|wenn|sobald|falls|quand|des que|si"
    r"|cuando)\b"
)
_ADDRESS = re.compile(r"://|\w@\w|^[\w-]+(?:\.[\w-]*[a-z][\w-]*){2,}$")
_IF = re.compile(_CUE)
_WAITS = re.compile(
    _CUE + r".{0,60}\b(?:users?|they|he|she|someone|anyone|somebody|person|human|nutzer\w*|benutzer\w*|anwender\w*"
    r"|utilisateur|usuario)\b"
    r".{0,30}\b(?:say|ask|typ|writ|repl|answer|respond|confirm|agree|mention|thank|approv|greet|sag|frag|schreib|antwort"
    r"|bestatig|erwahn|dank|dit|demand|dice|pide|responde)"
)


class Verdict(NamedTuple):
    """Why a draft is not written; an empty reason: it is. `source` is the message that it comes from."""

    reason: str = ""
    detail: str = ""
    source: str = ""
    warning: str = ""  #: what should be known of one that is written
    is_found: bool = False  #: whether it is what the assistant found with tools, and no tool asked for it


def judge(
    draft: Draft, ground: Ground, others: Sequence[Memory], *, secrets: Sequence[str] = (), largest: int = LARGEST
) -> Verdict:
    """Judge a draft against what was said, and other memories that are near it."""
    formal = _form(draft, secrets, largest)
    if formal.reason:
        return formal
    claims = new_claims(draft)
    source = ground.source({word for claim in claims for word in claim.words})
    checks = (
        _repeats(claims, ground.recalled, ground, "recalled"),
        _repeats(claims, ground.instructions, ground, "instruction"),
        _duplicate(draft, claims, others),
    )
    found = next((verdict for verdict in checks if verdict.reason), None)
    traced = found or _named(draft, claims, ground) or _traced(claims, ground, is_change=draft.before is not None)
    return traced._replace(source=source)


def _form(draft: Draft, secrets: Sequence[str], largest: int) -> Verdict:
    """What can be said of a draft by itself."""
    hidden = hidden_in(draft.file, f"{draft.file}\n{draft.text}")
    if hidden:
        return Verdict("hidden", hidden[0].message)
    kind = secret_in(f"{draft.file}\n{draft.text}", secrets)
    if kind:
        return Verdict("secret", f"it looks like a credential: {kind}")
    if len(draft.body) > largest:
        return Verdict("too-large", f"{len(draft.body):,} characters; one fact needs {largest:,} at most")
    if len(claims_of("", draft.body)) > MOST:
        return Verdict("too-large", f"more than {MOST} statements; one fact needs fewer")
    if len(draft.description) > LONGEST:
        return Verdict("too-large", f"a description of {len(draft.description)} characters; {LONGEST} at most")
    if draft.scope == "team" and draft.type == "user":
        return Verdict("personal-to-team", "a memory of type user is about a person, and stays private")
    return Verdict()


# What is known already


def _repeats(claims: Sequence[Claim], spans: Spans, ground: Ground, reason: str) -> Verdict:
    own = [claim for claim in claims if not claim.is_aside] or list(claims)
    repeated = [claim for claim in own if is_repeated(claim, spans, ground)]
    if not repeated or 2 * sum(len(claim.set) for claim in repeated) < sum(len(claim.set) for claim in own):
        return Verdict()
    where = spans.best(list(repeated[0].words)).window.text
    return Verdict(reason, f"{_quoted(repeated[0].text)} is said there: {_quoted(where)}")


def is_repeated(claim: Claim, spans: Spans, ground: Ground) -> bool:
    """Whether a text says what a claim says; see rule 4."""
    best = spans.best(list(claim.words))
    if not claim.words or best.share < REPEATED:
        return False
    if (NOT in best.window.words) != (NOT in claim.set) and ground.typed(claim.set) >= REPEATED:
        return False  # the user says the opposite
    if best.order >= VERBATIM and best.share == 1.0:
        return True
    left = claim.set - best.window.words
    return best.order >= IN_ORDER and not any(left & unit.typed for unit in ground.units)


def _duplicate(draft: Draft, claims: Sequence[Claim], others: Sequence[Memory]) -> Verdict:
    """Whether another memory says it. A change may come nearer to another one than a new memory may."""
    own = {word for claim in claims if not claim.is_aside for word in claim.words}
    for memory in others:
        theirs = claims_of(memory.description, memory.body)
        whole = {word for claim in theirs for word in claim.words}
        lead = {word for claim in theirs if not claim.is_aside for word in claim.words}
        is_within = len(own) > 1 and shared(own, whole) >= WITHIN
        fewest = min(len(own), len(lead))
        is_same = draft.before is None and fewest > 2 and len(own & lead) / fewest >= SAME
        if is_within or is_same or (draft.before is None and memory.name == draft.name and memory.type == draft.type):
            return Verdict("duplicate", f"{memory.file} says it already; update that one if it has changed")
    return Verdict()


# Who said it


def _traced(claims: Sequence[Claim], ground: Ground, *, is_change: bool) -> Verdict:
    if not claims and is_change:
        return Verdict()  # it only leaves something out; the history keeps that
    warning, has_lead = "", False
    for claim in claims:
        if _WAITS.search(folded(claim.text)):
            typed = ground.user.best(list(claim.words))
            if typed.share < TYPED or not _IF.search(folded(typed.window.text)):
                return Verdict("conditional", f"{_quoted(claim.text)} waits for what the user will say")
            warning = f"{_quoted(claim.text)} waits for what the user will say"
        verdict = _tool(claim, ground) or _supported(claim, ground, has_lead=has_lead)
        if verdict is not None:
            return verdict
        has_lead = has_lead or (not claim.is_aside and ground.support(claim.set) >= LEADING)
    if not any(ground.support(claim.set) >= SUPPORT for claim in claims):
        return Verdict("unsupported", "nothing that the user said supports it" if claims else "it says nothing")
    return Verdict(warning=warning)


def _named(draft: Draft, claims: Sequence[Claim], ground: Ground) -> Verdict | None:
    """Whether what an index shows of a memory, and its asides where somebody pleads, is about what it says."""
    name, told = name_claim(draft), None
    if len(name.set) > BRIEF:
        told = _tool(name, ground)
    body = {word for claim in claims_of("", draft.body) if not claim.is_aside for word in claim.words}
    for claim in (name, *claims):
        is_shown = claim is name or claim.text == draft.description
        if told or not claim.is_aside or len(claim.set) <= BRIEF or not (is_shown or ground.told.pleads):
            continue
        if max(shared(claim.set, body), ground.support(claim.set)) < SUPPORT:
            said = f"{_quoted(claim.text)} is not what the memory is about, and the user did not say it"
            return _tool(claim, ground) or Verdict("unsupported", said)
    return told


def _tool(claim: Claim, ground: Ground) -> Verdict | None:
    """Whether a tool or a file has said a claim, and the user has not."""
    for word in sorted(specifics(claim.text)):
        if ground.told.has(word) and not ground.backed.has(word) and not _is_meant(word, ground):
            asked = ground.told.best(list(claim.words), asking=True).share >= ASKED
            return Verdict("said-by-tool", f"{_quoted(word)} was named by a tool or a file only", is_found=not asked)
        if _ADDRESS.search(word) and not ground.backed.has(word):
            return Verdict("unsupported", f"nobody named {_quoted(word)}; keep to the user's words")
    support, given = ground.support(claim.set), list(claim.words)
    if len(claim.set) < 2:
        return None
    asking, best = ground.told.best(given, asking=True), ground.told.best(given)
    if asking.share >= ASKED and (asking.share - support >= ASKED_MORE or _is_twisted(claim, asking, ground)):
        return Verdict("said-by-tool", _told(claim, asking.window.text))
    least, more = (ASIDE, ASIDE_MORE) if claim.is_aside else (TOLD, TOLD_MORE)
    if _says(best, least) and best.share - support >= more:
        return Verdict("said-by-tool", _told(claim, best.window.text), is_found=True)
    found = ground.assistant.best(given)
    if ground.told.windows and not claim.is_aside and _says(found, ASIDE) and found.share - support >= TOLD_MORE:
        said = f"{_quoted(claim.text)} is what the assistant said after it had used tools; the user did not"
        return Verdict("said-by-tool", said, is_found=True)
    return None


def _is_twisted(claim: Claim, asking: Best, ground: Ground) -> bool:
    """Whether words of the user were put together as a tool wants them: in its order, or without the user's `not`."""
    own = ground.backed.best(list(claim.words))
    if asking.share < ASIDE:
        return False
    denied = NOT in claim.set
    if denied == (NOT in asking.window.words) != (NOT in own.window.words):
        return True
    return asking.order >= TOLD > 2 * own.order


def _says(best: Best, least: float) -> bool:
    """Whether a window says it, and does not just have its words by chance: code has many words."""
    return best.share >= least and (best.order >= CHANCE or best.share >= ASIDE)


def _told(claim: Claim, text: str) -> str:
    return f"{_quoted(claim.text)} is what a tool or a file said: {_quoted(text)}"


def _is_meant(word: str, ground: Ground) -> bool:
    """Whether a file is meant that the user called by its name: the importer, `src/importer.py`."""
    if "://" in word or "/" not in word or "@" in word or ground.told.asks_for(word):
        return False
    name = words(word.rpartition("/")[2].rpartition(".")[0])
    return bool(name) and ground.support(set(name)) == 1.0


def _supported(claim: Claim, ground: Ground, *, has_lead: bool) -> Verdict | None:
    """Whether the user said a claim. Behind one that the user made, a model may say in its own words what follows."""
    if claim.is_aside or not claim.words or ground.support(claim.set) >= SUPPORT:
        return None
    given = list(claim.words)
    told = _says(ground.told.best(given), ASKED) or _says(ground.assistant.best(given), ASKED)
    if ground.told.windows and told:
        said = f"{_quoted(claim.text)} was found with tools; the user did not say it"
        return Verdict("said-by-tool", said, is_found=True)
    is_own = has_lead and not told and not ground.told.pleads
    if is_own and not any(not ground.backed.has(word) for word in specifics(claim.text)):
        return None
    said = f"nothing that the user said supports {_quoted(claim.text)}; keep to the user's words"
    return Verdict("unsupported", said)


def _quoted(text: str) -> str:
    """A text for a report; one with a credential is not repeated."""
    if credentials_in(text):
        return "(a text with a credential)"
    return repr(text if len(text) <= 80 else text[:79] + "…")
