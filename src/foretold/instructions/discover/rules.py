"""The rules of a folder: which files they are, which are taken now and which wait for a path.

1. Every name that ends in the suffix, at any depth, hidden ones too, in the file system's own order; a folder is
   expanded where it is listed. Links are followed; each folder is entered once, so a loop ends.
2. The target of a linked rule must be inside the working directory, where the dialect says so.
3. A rule with `paths` waits, and so does what a rule imports, if that has `paths`. The imports of a waiting rule that
   have none are taken now. Waiting is worked out apart from what was taken: a rule that something else imported still
   waits. # claude-code@2.1.197: rule-cond-claudemd-import
4. In a dialect whose rules wait for what `exists`, all rules of a folder are read, their globs are looked for in one
   walk below the working directory, seen from there and from the folder that has the rules, and those without a hit
   are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from foretold.dialects.schema import FileSource, Rules
from foretold.dialects.surroundings import join
from foretold.instructions.discover.rule_conditions import WAITS, never_matches, refusal_of
from foretold.instructions.text.read import FileText, clean_text, read_text, trim_text
from foretold.instructions.view import Origin, Wait, Waiting
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.text.frontmatter import trim
from foretold.types import TYPE_CHECKING, Entry, FactFinding, Facts, Finding, NamedTuple, Skip

if TYPE_CHECKING:
    from typing import Any

    from foretold.instructions.engine import Loader


ABSOLUTE = "it is an absolute path: write it as seen from the working directory"


class RuleFile(NamedTuple):
    """A rule file, as spelled below its rules folder and as it really is."""

    path: str
    real: str


def find_rules(
    tree: Tree, folder: str, table: Rules, may_enter: Callable[[RuleFile], bool] = lambda _: True, *, wide: bool = False
) -> Iterator[RuleFile | Skip]:
    """Every rule below a folder, and a skip for what cannot be one; in a `wide` folder, only for what might have been.

    The suffix of the table is that of the folder.
    """
    entered: set[str] = set()
    open_folders = [_names(tree, folder, entered)]
    while open_folders:
        for found in open_folders[-1]:
            if isinstance(found, Skip):
                yield found
                continue
            rule, kind = found
            name = rule.path.rpartition("/")[2]
            is_rule = (name.lower() if table.any_case else name).endswith(table.suffix)
            if not table.hidden and name.startswith("."):
                if not wide or (is_rule and kind != "folder"):
                    yield Skip(rule.path, "hidden")
            elif kind == "folder" and not table.deep:
                yield Skip(rule.path, "not-walked")
            elif kind == "folder" and not table.linked_folders and rule.real != _below(tree, rule.path):
                yield Skip(rule.path, "not-walked", "it is a link")
            elif kind == "folder" and not may_enter(rule):
                yield Skip(rule.path, "outside-project", f"it is a link to {rule.real}")
            elif kind == "folder":
                open_folders.append(_names(tree, rule.path, entered))
                break
            elif is_rule:
                yield rule if kind == "file" else Skip(rule.path, "not-a-file")
            elif kind == "file" and not wide:
                endings = (table.suffix,) if isinstance(table.suffix, str) else table.suffix
                yield Skip(rule.path, "wrong-extension", f"only {' or '.join(endings)}")
        else:
            open_folders.pop()


def _below(tree: Tree, path: str) -> str:
    """Where a name would really be if it were not a link itself."""
    folder, _, name = path.rpartition("/")
    return f"{tree.real(folder).rstrip('/')}/{name}"


def _names(tree: Tree, folder: str, entered: set[str]) -> Iterator[tuple[RuleFile, str] | Skip]:
    items = tree.scan(folder)
    if isinstance(items, Fault):
        yield Skip(folder, items.reason, items.detail)
        return
    real = tree.real(folder)
    if real in entered:
        loops = is_inside(tree.real(folder.rpartition("/")[0]), real)
        yield Skip(folder, "symlink-loop" if loops else "duplicate", f"{real} was entered before")
        return
    entered.add(real)
    for name, kind in items:
        path = f"{folder}/{name}"
        if kind != "link":
            yield RuleFile(path, f"{real}/{name}"), kind
        elif (kind := tree.kind(path)) == "missing":
            yield Skip(path, "missing", "the link is broken")
        else:
            yield RuleFile(path, tree.real(path)), kind


def _files_first(rule: RuleFile | Skip) -> list[tuple[bool, str]]:
    """At each level the files by name, then the folders."""
    *folders, name = rule.path.split("/")
    return [*((True, folder) for folder in folders), (False, name)]


#: the order of `localeCompare` in JavaScript: root collation, as seen by asking Cline 3.0.65 with names of all kinds
PUNCTUATION = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"


def collation_key(text: str) -> tuple[list[tuple[int, int, str]], str, list[bool]]:
    """What `localeCompare` sorts by: punctuation before digits before letters; then accents, then upper case."""
    import unicodedata

    marks, primary, upper = "", [], []
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.combining(char):
            marks += char
            continue
        for part in char.casefold():
            place = PUNCTUATION.find(part)
            kind = 0 if place >= 0 else 1 if part.isdigit() else 2 if part.isalpha() else 3
            primary.append((kind, max(place, 0), "" if place >= 0 else part))
        upper.append(char != char.lower())
    return primary, marks, upper


ORDERS: dict[str, Callable[[RuleFile | Skip], Any]] = {
    "path": lambda rule: rule.path,
    "names": lambda rule: rule.path.split("/"),
    "files-first": _files_first,
    "base-name": lambda rule: rule.path.rpartition("/")[2].lower(),
    "locale": lambda rule: collation_key(rule.path.rpartition("/")[2]),
}


def take_rules(loader: Loader, path: str, source: FileSource, holder: str, *, only_waiting: bool = False) -> bool:
    """Take the rules of a folder that do not wait; let the others wait. Whether there are any."""
    real = loader.tree.real(path)
    if real in loader.rule_folders:  # claude-code: disc-under-home: the user's rules are not the project's too
        return False
    loader.rule_folders.add(real)
    table = loader.dialect.rules
    table = table._replace(suffix=source.suffix or table.suffix)
    if not table.once:
        loader.rules_here = set()  # each rules folder has its own
    base = holder if source.layer == "project" and source.base != "path" else loader.surroundings.cwd
    base = loader.surroundings.top if table.base == "repository" else base
    origin = Origin(source.layer, holder, "rule", Wait(base, source, only_waiting) if table.wakes == "touch" else None)
    free = table.links == "anywhere" or source.layer in table.free

    def may_enter(rule: RuleFile) -> bool:
        """A linked folder whose rules would all be refused is not walked: it may be the whole disk."""
        is_near = free or rule.real.startswith(real) or is_inside(rule.real, loader.surroundings.cwd)
        return is_near or loader.surroundings.approved(rule.real)

    rules: Iterable[RuleFile | Skip] = find_rules(loader.tree, path, table, may_enter, wide=source.wide)
    if table.ordered:
        rules = sorted(rules, key=ORDERS[table.ordered])
    taken = []
    for rule in rules:
        if isinstance(rule, Skip):
            if rule.reason == "missing" and not rule.detail and rule.path.endswith(source.name):
                loader.absent.append(rule.path)
            else:
                loader.skips.append(rule._replace(layer=source.layer))
        elif not _is_refused(loader, rule, origin, path.rpartition("/")[0] if table.moved else holder):
            taken.append(rule)
            if table.wakes == "touch":
                plain = rule.real == rule.path
                linked = origin if plain else origin._replace(folder=_folder_of(rule.real))
                label = loader.label(source, holder, rule.real) if "{" in source.label else ""
                known = loader.rule_names.setdefault(label, rule.path) if table.once_named and label else rule.path
                if known != rule.path:
                    loader.skip(rule.path, "duplicate", origin, known)
                    continue
                linked = linked._replace(name=label, literal=source.literal)
                loader.take_file(rule.path, linked, rule.real, rule.real)
    if table.wakes == "exists":
        _take_existing(loader, taken, origin)
    return bool(taken)


def _take_existing(loader: Loader, rules: list[RuleFile], origin: Origin) -> None:
    """Take the rules that have no `paths`, and those with a path that is there."""
    from foretold.text.globs.fnmatch_walk import first_hits, is_usable

    texts = [read_text(loader.tree, rule.path, loader.dialect, "rule") for rule in rules]
    globs = [() if isinstance(text, Fault) else text.globs.patterns for text in texts]
    hits = first_hits(loader.tree, loader.surroundings.cwd, globs, root=origin.folder)
    for rule, text, patterns, hit in zip(rules, texts, globs, hits, strict=True):
        if isinstance(text, Fault) or not patterns or hit is not None:
            taken = loader.take_file(rule.path, origin, real=rule.real, text=text)
            if taken and hit is not None:
                trigger = join(loader.surroundings.cwd, hit)
                loader.entries[-1] = loader.entries[-1]._replace(reason="path_glob_match", trigger=trigger)
            if not isinstance(text, Fault) and text.globs.problem:
                loader.findings.append(Finding(rule.path, None, "paths-ignored", text.globs.problem))
            continue
        loader.skips.append(Skip(rule.path, "no-match", ", ".join(patterns)[:200], origin.layer, globs=patterns))
        loader.findings += text.findings
        alone = all(glob.startswith("!") for glob in patterns)
        for glob in patterns:
            why = ABSOLUTE if glob.startswith("/") else never_matches(glob, alone=alone)
            why = why if is_usable(glob) else "it has too many stars: write fewer"
            if why and not is_inside(glob, loader.surroundings.cwd):
                loader.findings.append(
                    FactFinding(rule.path, None, "glob-never-matches", f"`{glob}`: {why}", "", facts=Facts(glob))
                )


def _is_refused(loader: Loader, rule: RuleFile, origin: Origin, above: str) -> bool:
    """Whether a rule is excluded, or refused because of a link below the folder `above`."""
    rules = loader.dialect.rules
    if loader.excludes:
        tested = {"real": rule.real, "spelled": rule.path}
        if any(loader.is_excluded(tested[which], origin.layer) for which in rules.excluded_by):
            loader.skip(rule.real, "excluded", origin)
            return True
    if rule.real == rule.path or rules.links == "anywhere" or origin.layer in rules.free:
        return False
    if rule.real == loader.tree.real(above) + rule.path[len(above) :]:
        return False
    if is_inside(rule.real, loader.surroundings.cwd) or loader.surroundings.approved(rule.real):
        return False
    loader.skip(rule.path, "outside-project", origin, f"it is a link to {rule.real}")
    return True


def is_taken_now(loader: Loader, path: str, real: str, text: FileText, origin: Origin, wait: Wait) -> bool:
    """Whether a file of a rules folder is taken like any other; if it has `paths`, it waits."""
    if real in loader.rules_here:
        loader.skip(path, "duplicate", origin, path)
        return False
    loader.rules_here.add(real)
    reason, detail = refusal_of(loader.dialect.rules.admits, text)
    if reason and reason != WAITS:
        loader.findings += text.findings
        loader.skip(path, reason, origin, detail)
        return False
    if loader.dialect.rules.admits and not reason:
        return True
    if text.globs.problem:
        loader.findings.append(Finding(path, None, "paths-ignored", text.globs.problem))
    if text.globs.patterns:
        _wait(loader, path, real, text, origin, wait)
        return False
    if real in loader.files and text.mentions:
        loader.take_imports(path, real, text, origin)
    return True


def _wait(loader: Loader, path: str, real: str, text: FileText, origin: Origin, wait: Wait) -> None:
    loader.files.setdefault(real, path)
    loader.findings += text.findings
    if wait.source.base == "added":
        loader.skip(path, "disabled", origin, "rules with paths of an added folder are never attached")
    elif not trim(text.shown):
        loader.skip(path, "empty", origin)
    else:
        reading = loader.dialect.reading
        text = text._replace(shown=clean_text(trim_text(text, reading, origin), reading))
        entry = loader.entry(path, text, origin, "path_glob_match")
        rule = Waiting(entry, wait.base, wait.source)
        if loader.wakes is not None and loader.wakes(rule):
            loader.entries.append(entry)
            return
        loader.skips.append(Skip(path, "not-yet-read", "", origin.layer, origin.parent, None, entry.globs))
        loader.waiting.append(rule)
        if loader.dialect.rules.lists and not loader.trigger:
            loader.entries.append(_row(loader.dialect.rules, entry, text))
    if text.mentions:
        loader.take_imports(path, real, text, origin)


def _row(table: Rules, entry: Entry, text: FileText) -> Entry:
    """A waiting rule as it is listed at the start."""
    described = text.front.get("description")
    shown = {
        "patterns": ", ".join(entry.globs),
        "name": entry.name,
        "description": trim(described) if isinstance(described, str) else "",
    }
    row = table.lists.format(**{key: escape_cell(value) for key, value in shown.items()})
    return Entry(entry.path, entry.layer, row, row, "row")


def escape_cell(text: str) -> str:
    """A text as a cell of a Markdown table. # copilot-cli: copilot-193, copilot-194; backslashes seen on 1.0.102"""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _folder_of(path: str) -> str:
    """The folder that a linked rule applies to: the one that has its `.claude`, or its own."""
    head, found, _ = path.partition("/.claude/")
    return head if found else path.rpartition("/")[0]
