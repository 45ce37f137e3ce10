"""From a path to text: read, decode, cut the frontmatter, take out comments, find imports.

1. Bytes are UTF-8; what is not becomes U+FFFD.
2. Frontmatter is cut from every file, not only from rules, unless the dialect says so; its `paths` are kept.
3. The Markdown stage, if the dialect has one, gives the text that is shown, and the `@` tokens in it; where a dialect
   has directives, `@include path` is one, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from foretold.dialects.schema import Dialect, TextRules
from foretold.instructions.discover.rule_conditions import (
    Globs,
    find_unread_header,
    find_unread_key,
    globs_of,
    globset_patterns,
)
from foretold.instructions.text.markdown import ImportMention, scan
from foretold.storage.tree import Fault, Tree
from foretold.text.frontmatter import (
    SPACE,
    Front,
    find_open_quote,
    first_line,
    line_value,
    parse,
    parse_lines,
    split,
    split_fenced,
)
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from foretold.instructions.view import Origin


NOTHING: Mapping[str, object] = {}


class FileText(NamedTuple):
    """A file as the agent understands it."""

    raw: str
    shown: str
    size: int
    globs: Globs
    mentions: tuple[ImportMention, ...]
    findings: tuple[Finding, ...]
    offset: int  #: lines that the frontmatter took from the top
    includes: tuple[str, ...] = ()  #: files whose text is in it
    front: Mapping[str, object] = NOTHING  #: the values of its frontmatter
    lost: int = 0  #: bytes that a limit took from its end
    broken: bool = False  #: whether it has bytes that are not UTF-8


FRAGMENT = "\ue023"  #: takes the place of the `#` in a mention, where that is part of the name
NO_GLOBS = Globs((), None)
RUST_SPACE = SPACE.replace("\ufeff", "") + "\x85"


def read_text(
    tree: Tree, path: str, dialect: Dialect, kind: str = "file", limit: int | None = None
) -> FileText | Fault:
    """The text of one file, or of its first bytes; or why there is none."""
    data = tree.read(path, dialect.max_file)
    if isinstance(data, Fault):
        return data
    known: dict[object, tuple[bytes, FileText]] | None = getattr(tree, "understood", None)  # of a tree that remembers
    if known is None:
        return _understand_bytes(path, data, dialect, kind, limit)
    key = path, dialect.agent, dialect.version, kind, limit
    found = known.get(key)
    if found is None or found[0] is not data:
        found = known[key] = data, _understand_bytes(path, data, dialect, kind, limit)
    return found[1]


def _understand_bytes(path: str, data: bytes, dialect: Dialect, kind: str, limit: int | None) -> FileText:
    lost = 0
    if limit is not None and len(data) > limit:
        data, lost = data[:limit], len(data) - limit
    raw = data.decode("utf-8", "replace")
    text = understand(path, raw, len(data), dialect, kind)
    if lost:
        text = text._replace(lost=lost)
    if b"\0" in data or not raw.isascii():
        whole = raw.removesuffix("\ufffd") if lost else raw  # a limit may cut a character in two
        is_broken = "\ufffd" in whole and b"\xef\xbf\xbd" not in data
        text = text._replace(findings=(*text.findings, *_odd_bytes(path, data, whole, dialect)), broken=is_broken)
    return text


def _odd_bytes(path: str, data: bytes, raw: str, dialect: Dialect) -> Iterator[Finding]:
    """What is wrong with the bytes of a text: the model sees it, the author probably does not."""
    is_odd = "\ufffd" in raw and b"\xef\xbf\xbd" not in data
    if is_odd or "\0" in raw:
        said = "bytes that are not UTF-8 are sent as U+FFFD" if is_odd else "the text has NUL characters in it"
        said += ", and it has NUL characters in it" if is_odd and "\0" in raw else ""
        line = raw.count("\n", 0, raw.index("\ufffd" if is_odd else "\0")) + 1
        yield Finding(path, line, "not-utf8", said, "save the file as UTF-8")
    if dialect.reading.invisible:
        yield from _removed(path, raw, dialect.reading)
    if dialect.reading.drops_bom:
        return
    if raw.startswith("\ufeff") and (raw.startswith("<!--", 1) or (raw.startswith("---", 1) and not dialect.after_bom)):
        said = "the byte order mark at its start disables the frontmatter or comment after it"
        yield Finding(path, 1, "byte-order-mark", said, "save the file without it")


def _removed(path: str, raw: str, reading: TextRules) -> Iterator[Finding]:
    """A finding about characters that the agent removes; a byte order mark at the start is not worth one."""
    import re  # only for text that is not ASCII

    starts = (match.start() for match in re.finditer(f"[{reading.invisible}]", raw))
    found = [at for at in starts if at or raw[0] != "\ufeff"]
    if found:
        codes = sorted({f"U+{ord(raw[at]):04X}" for at in found})
        more = f" and {len(codes) - 5} more kinds" if len(codes) > 5 else ""
        count = "an invisible character" if len(found) == 1 else f"{len(found)} invisible characters"
        said = f"the agent removes {count} ({', '.join(codes[:5])}{more}): the model does not see what the file has"
        yield Finding(path, raw.count("\n", 0, found[0]) + 1, "characters-removed", said)


def understand(path: str, raw: str, size: int, dialect: Dialect, kind: str = "file") -> FileText:
    """A decoded text as the agent understands it."""
    reading = dialect.reading
    cuts = reading.frontmatter
    is_cut = cuts == "all" or (cuts in ("rules", "read-rules") and kind == "rule")
    front, body = None, raw
    if is_cut:
        front, body = split_fenced(raw) if reading.fences == "lines" else split(raw, after_bom=dialect.after_bom)
    if front is not None and cuts == "read-rules":
        body = raw
    globs, values = NO_GLOBS, NOTHING
    findings: tuple[Finding, ...] = ()
    offset = 0
    if front is not None:
        globs, findings, values = _conditions(path, front, raw, dialect, is_rule=kind == "rule")
        offset = raw.count("\n", 0, len(raw) - len(body))
    elif is_cut and kind == "rule" and dialect.rules.key and "---" in raw:
        findings = _unread_header(path, raw)
    if not reading.markdown:
        if reading.drops_bom:
            body = body.removeprefix("\ufeff")
        if kind in reading.cuts_comments and "<!--" in body:
            from foretold.text.markdown.blocks import cut_comments  # few agents have need of this

            body = cut_comments(body)
        return FileText(raw, body, size, globs, (), findings, offset, front=values)
    document = scan(body, dialect.imports.directives)
    if document.problem:
        findings = (*findings, Finding(path, None, "markdown-nesting", document.problem))
    shown = document.text if dialect.imports.comments else body
    mentions = document.mentions
    if not dialect.imports.fragments and "#" in body and mentions:
        mentions = _mark_fragments(body, dialect.imports.directives)
    return FileText(raw, shown, size, globs, mentions, findings, offset)


def _mark_fragments(body: str, directives: tuple[str, ...]) -> tuple[ImportMention, ...]:
    """The mentions of a text for a release to which `#…` is part of a name. # claude-code: imp-fragment"""
    import re  # only for releases that nearly nobody runs

    marked = re.sub(r"@[^\s#]+#\S*", lambda token: token[0].replace("#", FRAGMENT), body)
    named = ((mention, mention.path.partition(FRAGMENT)) for mention in scan(marked, directives).mentions)
    return tuple(
        mention._replace(path=path, region="fragment") if mark else mention for mention, (path, mark, _) in named
    )


def trim_text(text: FileText, reading: TextRules, origin: Origin) -> str:
    """A text without white space at its ends, if the dialect trims such texts: by layer, by kind, or if `fronted`."""
    fronted = "fronted" if text.offset else ""
    if any(each in reading.trims for each in (origin.kind, origin.layer, fronted)):
        return text.shown.strip(RUST_SPACE if reading.space == "rust" else SPACE)
    return text.shown


def clean_text(text: str, reading: TextRules) -> str:
    """A text without the characters that the dialect removes, in composed form. # copilot-cli: copilot-clean-*"""
    if text.isascii() or not reading.invisible:
        return text
    import re  # only for text that is not ASCII
    import unicodedata

    return unicodedata.normalize("NFC", re.sub(f"[{reading.invisible}]", "", text))


def _conditions(
    path: str, front: str, raw: str, dialect: Dialect, *, is_rule: bool
) -> tuple[Globs, tuple[Finding, ...], Mapping[str, object]]:
    """The `paths` of a frontmatter, what is wrong with it, and all its values."""
    rules, is_fenced = dialect.rules, dialect.reading.fences == "lines"
    keys = (rules.key, rules.other_key) if rules.other_key else (rules.key,)
    reading = dialect.reading
    if reading.form == "lines":
        parsed = parse_lines(front)
    else:
        parsed = parse(front, strict=is_fenced or reading.strict, repairs=not is_fenced, colons=reading.colons)
    values, problem = parsed.values, parsed.problem
    if problem and is_fenced:
        values, problem = _one_line(front, keys, problem)
    findings: tuple[Finding, ...] = ()
    key = next((key for key in keys if key in values), None)
    unread = find_unread_key(front, rules) if is_rule and key is None else None
    if unread:
        said = f"`{unread.key}` is not a key that the agent reads, so the rule is always loaded"
        line = first_line(raw) + unread.line
        findings = (Finding(path, line, "rule-key-unread", said, f"write `{rules.key}`, with the patterns in quotes"),)
    elif problem:
        findings = (_invalid(path, raw, front, parsed)._replace(message=problem),)
    if key is None:
        return NO_GLOBS, findings, values
    if rules.patterns == "globset":
        return globset_patterns(values[key]), findings, values
    globs = globs_of(values[key], whole=rules.wakes == "exists", joins=rules.joins)
    if globs.problem and key != "paths":
        globs = globs._replace(problem=globs.problem.replace("`paths`", f"`{key}`"))
    return globs, findings, values


def _invalid(path: str, raw: str, front: str, parsed: Front) -> Finding:
    """The finding about frontmatter that is not valid YAML: read after a repair, or not at all."""
    code = "frontmatter-repaired" if parsed.values else "frontmatter-invalid"
    quote = find_open_quote(front) if not parsed.values else 0
    line = quote or parsed.line
    hint = "close the quote" if quote else "put the value in quotes"
    return Finding(path, first_line(raw) + line - 1 if line else None, code, parsed.problem or "", hint)


def _unread_header(path: str, raw: str) -> tuple[Finding, ...]:
    """A rule whose frontmatter the agent does not take as such, so that its patterns do not count."""
    header = find_unread_header(raw)
    if header is None:
        return ()
    said = f"its frontmatter is sent as text, and its `{header.key}` does not count: {header.why}"
    return (Finding(path, header.line, "frontmatter-unread", said, header.fix),)


def _one_line(front: str, keys: tuple[str, ...], problem: str) -> tuple[dict[str, object], str]:
    """What still counts of a frontmatter that is not valid: one line with its patterns."""
    key, value = line_value(front, keys)
    if not key:
        return {}, problem
    said = problem.replace("so nothing of it counts", f"so only its line `{key}: {value[:80]}` counts")
    return {key: value}, said
