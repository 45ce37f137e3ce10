"""What a memory claims about a repository: the paths, symbols, flags, commits and pieces of code that it names.

1. Claims are in backticks, in links, in fenced blocks, and in the frontmatter (`anchors`, `paths`, `symbols`,
   `commit`). In plain prose only a path with a slash and a known ending, a file with a known ending, a folder with its
   final slash, a commit that is called one, and a flag that is called one are claims.
2. `classify` says what a text is by its spelling; a text in doubt is not a claim.
3. A claim can be *hedged*: the sentence says that the thing is gone ("removed `a.py`"), is planned, is forbidden, is an
   example, or is elsewhere. A hedged claim is looked up all the same, but its absence is `unknown`, not drift.
   `vocabulary` has the phrases.
4. Names in a memory about a person or about another place (types `user` and `reference`) are hedged: they are often
   not from this repository. Paths are not.
5. A fenced block is a claim if its language is a programming language, not one of shells, output or changes. It is
   hedged unless its introduction, or the info string of the fence, names a file: else it may be an example. A piece of
   code in backticks is a claim only in a sentence that names a file.
6. With `places`, a name is claimed with the file that the sentence puts it into, and values are claims (`statements`).
7. Each thing is claimed once: where it is said to be gone, else where it is not hedged, else where it comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from foretold.memory.drift import classify, vocabulary
from foretold.memory.drift.classify import GONE as GONE, DriftClaim as DriftClaim, TypedName
from foretold.memory.drift.sentences import HIDDEN, Fence, Sentence, Span, split_sentences
from foretold.memory.note import Memory
from foretold.text.patterns import lazy

KINDS = ("path", "symbol", "flag", "commit", "code", "value")
NEAR = 200  #: characters before a thing in which words may forbid it
PUNCTUATION = "`(\"'* "
EXAMPLE = "it may be an example"
NO_COMMIT = "nothing says that it is a commit"


def find_claims(memory: Memory, *, places: bool = False) -> tuple[DriftClaim, ...]:
    """What a memory claims, in the order of its lines; with `places`, also in which files, and values."""
    found = [*_anchors(memory)]
    for part in (memory.description, memory.body):
        for piece in split_sentences(part, _line_at(memory.text, memory.text.rfind(part) if part else 0)):
            if isinstance(piece, Fence):
                found += _claims_of_fence(piece)
            else:
                found += _claims_of_sentence(piece, memory.type, places=places)
    kept: dict[tuple[str, str], DriftClaim] = {}
    for claim in found:  # each thing once, by rule 7
        key = (claim.kind, claim.text)
        other = kept.setdefault(key, claim)
        if claim.place and not other.place and not claim.hedge:
            other = kept[key] = other._replace(place=claim.place, is_near=claim.is_near)
        if (claim.is_gone and not other.is_gone) or (other.hedge and not other.is_gone and not claim.hedge):
            kept[key] = claim
    return tuple(sorted(kept.values(), key=lambda claim: claim.line))


def _line_at(text: str, at: int) -> int:
    """The line of an offset, from 1."""
    return text.count("\n", 0, max(at, 0)) + 1


# Sentences

_PLAIN_PATH = lazy(
    r"(?<![\w/.@:~$<{\[(`\x00*-])(?:~/|\./|/)?[A-Za-z_.][\w.@+-]*(?:/[\w.@+*-]+)*/?(?::\d+)?(?![\w/`\x00(<{*])"
)
_DOTTED = lazy(r"\.\w")
_PLAIN_FLAG = lazy(r"(?<![\w`\x00-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?![\w=`\x00-])")
_PLAIN_HEX = lazy(r"(?<![\w/#`\x00.-])[0-9a-f]{7,40}(?![\w/`\x00-])")
_PLAIN_ENV = lazy(r"(?<![\w`\x00$-])[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9](?![\w`\x00*-])")


class SentenceContext:
    """What a sentence says about everything in it."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence, text = sentence, f"{sentence.lead} {sentence.text}"
        tables = ((GONE, vocabulary.GONE), ("not yet", vocabulary.NOT_YET), ("elsewhere", vocabulary.ELSEWHERE))
        self.hedge = next(filter(None, (match_hedge(why, words, text) for why, words in tables)), "")
        self.is_of_commits = bool(vocabulary.COMMIT.search(text))
        self.is_of_environment = bool(vocabulary.ENVIRONMENT.search(text))
        words = re.findall(r"[a-z][a-z0-9-]+", sentence.text.lower())
        words += [word for span in sentence.spans for word in span.text.split()[:1]]
        #: a program that it names
        self.tool = next((word for word in words if word in vocabulary.TOOLS and word not in _WORDS), "")


def _claims_of_sentence(sentence: Sentence, type_: str, *, places: bool) -> Iterator[DriftClaim]:
    plain = [*find_plain(sentence.text)]
    if not plain and not sentence.spans and not (places and vocabulary.STATED.search(sentence.text)):
        return
    context = SentenceContext(sentence)
    spans = [(span, named) for span in sentence.spans for named in _named(span, context)]
    names_file = any(named.kind == "path" and classify.is_sure(named.text) for _, named in spans)
    found = [
        (DriftClaim(*named, span.line, quoted=True, hedge=_hedge(named, context, span.at, type_)), span.at)
        for span, named in spans
        if named.kind != "code" or names_file
    ]
    for named, at in plain:
        line = sentence.line + sentence.text.count("\n", 0, at)
        found.append((DriftClaim(*named, line, quoted=False, hedge=_hedge(named, context, at, type_)), at))
    if places:
        from foretold.memory.drift.statements import add_places

        found = add_places(found, sentence, partial(_hedge, context=context, type_=type_))
    yield from (claim for claim, _ in found)


def _named(span: Span, context: SentenceContext) -> tuple[TypedName, ...]:
    """What a code span or a link names in its sentence."""
    if span.is_link:
        is_memory = "/" not in span.text and span.text.endswith(".md")
        target = span.text.partition("#")[0]
        outside = is_memory or not target or ":" in target or target.startswith("/")
        return () if outside else tuple(named for named in classify.classify_text(target) if named.kind == "path")
    if context.is_of_commits and _PLAIN_HEX.fullmatch(span.text):
        return (TypedName("commit", span.text),)
    found = classify.classify_text(span.text)
    if context.is_of_environment:
        return tuple(TypedName("flag", each.text) if _PLAIN_ENV.fullmatch(each.text) else each for each in found)
    return found


def find_plain(prose: str) -> Iterator[tuple[TypedName, int]]:
    """What a sentence names outside of backticks, and where."""
    if prose.lstrip("-* ").startswith(("$ ", "❯ ", "% ", "> $")):  # a shell prompt with a command
        return
    for found in _PLAIN_PATH.finditer(prose) if "/" in prose or _DOTTED.search(prose) else ():
        text = found[0].rstrip(".,")
        named = classify.path_of(text) if "/" in text or "." in text else ()
        is_product = "/" not in text and text[:1].isupper() and text.endswith((".js", ".go", ".rs", ".py", ".cs"))
        if named and classify.is_sure(text) and not is_product:
            yield named[0], found.start()
    for kind, sign, words, names in (
        ("flag", "--", vocabulary.FLAG, _PLAIN_FLAG),
        ("commit", "", vocabulary.COMMIT, _PLAIN_HEX),
        ("flag", "_", vocabulary.ENVIRONMENT, _PLAIN_ENV),
    ):
        for found in names.finditer(prose) if sign in prose and names.search(prose) and words.search(prose) else ():
            if found[0] not in vocabulary.NAMES and (kind != "commit" or classify.is_hash(found[0])):
                yield TypedName(kind, found[0]), found.start()


def _hedge(named: TypedName, context: SentenceContext, at: int, type_: str) -> str:
    """The phrase because of which the absence of a thing is not drift: in its sentence, or just before it."""
    before = context.sentence.text[max(at - NEAR, 0) : at]
    is_name = named.kind in ("symbol", "flag")
    hedge = context.hedge or match_hedge("to be made", vocabulary.MADE, before)
    if is_name:
        hedge = hedge or match_hedge("not wanted", vocabulary.FORBIDDEN, before)
        hedge = hedge or match_hedge("of another", vocabulary.OWNED, before)
    elif named.kind == "path":
        hedge = hedge or match_hedge("written by a program", vocabulary.WRITTEN, before)
    elif named.kind == "commit" and not context.is_of_commits:
        hedge = hedge or NO_COMMIT
    if hedge:
        return hedge
    if named.kind == "flag" and named.text.startswith("--") and context.tool:
        return f"it may be of {context.tool}"
    return f"a memory of type {type_}" if is_name and type_ in ("user", "reference") else ""


def match_hedge(why: str, words: re.Pattern[str], text: str) -> str:
    """A hedge, if a text has such a phrase."""
    found = words.search(text)
    return f'{why}: "{" ".join(found[0].replace(HIDDEN, "").split()).strip(PUNCTUATION).lower()}"' if found else ""


#: programs whose names are words of English
_WORDS = frozenset(
    "find go head just kill less make next open source tail time touch which export echo cat just black".split()
)

# Fenced blocks

_NO_CODE = frozenset(
    "sh bash zsh fish shell console shell-session terminal cmd powershell ps1 text txt plain plaintext output log "
    "diff patch markdown md mermaid http tree ascii prompt".split()
)
_CUT = lazy(r"\s*(?:#|//|--|/\*|<!--)?\s*(?:\.\.\.|…)\s*(?:\*/|-->)?\s*")
LEAST = 20  #: characters of a block without white space; a shorter one occurs anywhere


def _claims_of_fence(fence: Fence) -> Iterator[DriftClaim]:
    """The pieces of a fenced block, cut where it says `...`."""
    language, _, rest = fence.info.partition(" ")
    language, _, name = language.partition(":")
    if not language or language.lower() in _NO_CODE:
        return
    intro = fence.intro or Sentence("", fence.line)
    titles = [word.strip("'\"") for word in f"{name} {rest}".replace("=", " ").split()]
    names = [named for named, _ in find_plain(intro.text)]
    for text in (*(span.text for span in intro.spans), *titles):
        names += classify.classify_text(text)
    is_quoted = any(named.kind == "path" and classify.is_sure(named.text) for named in names)
    hedge = SentenceContext(intro).hedge if is_quoted else EXAMPLE
    lines, start = fence.text.split("\n"), 0
    for at in (*(at for at, line in enumerate(lines) if _CUT.fullmatch(line)), len(lines)):
        piece = "\n".join(lines[start:at]).strip("\n")
        if len("".join(piece.split())) >= LEAST:
            yield DriftClaim("code", piece, fence.line + start, quoted=True, hedge=hedge)
        start = at + 1


# Frontmatter

_KEYS = {"path": "path", "paths": "path", "file": "path", "files": "path", "symbol": "symbol", "symbols": "symbol"}
_KEYS |= {"commit": "commit", "commits": "commit", "flag": "flag", "flags": "flag", "code": "code", "snippet": "code"}


def _anchors(memory: Memory) -> Iterator[DriftClaim]:
    """The claims that the frontmatter makes: they say what they are, whatever their spelling."""
    given = {key: memory.metadata.get(key) for key in ("anchors", "paths", "symbols", "commit")}
    for named in _listed(given):
        yield DriftClaim(named.kind, named.text, _line_at(memory.text, memory.text.find(named.text)), quoted=True)


def _listed(value: object, kind: str = "") -> Iterator[TypedName]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _listed(each, _KEYS.get(str(key), kind))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _listed(each, kind)
    elif isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        yield from _anchor(str(value).strip(), kind)


def _anchor(text: str, kind: str) -> Iterator[TypedName]:
    """One anchor: `path:a.py` says its kind, else its key does, else its spelling."""
    prefix, colon, rest = text.partition(":")
    if not kind and colon and prefix in _KEYS:
        yield TypedName(_KEYS[prefix], rest.strip())
    elif kind:
        yield TypedName(kind, text)
    else:
        named = classify.classify_text(text)
        is_word = not named and re.fullmatch(r"[A-Za-z_]\w*", text)
        yield from (TypedName("symbol", text),) if is_word else named
