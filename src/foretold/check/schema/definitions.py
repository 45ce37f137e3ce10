"""Agents, commands and prompts: their frontmatter.

1. A file that the agent does not load is an error: an agent without a name or a description, frontmatter that is not
   YAML, a command with the wrong ending.
2. A key that is nearly a known one, or a value that its key cannot have, is read as if it were not there.
3. Names of tools are checked for slips only: servers and releases bring others. A name of a model is checked for slips,
   and for the models of other vendors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.schema.catalog import Catalog, FoundDefinition
from foretold.check.schema.source import DefinitionHead, SourceFile, is_unclosed, read_head, read_toml, report_slip
from foretold.check.schema.spelling import find_near
from foretold.check.schema.values import find_slips, find_wrong
from foretold.dialects.extensions.registry import KNOWN_KEYS
from foretold.dialects.extensions.tables import DefinitionTable
from foretold.types import Facts

_FOREIGN_MODEL = re.compile(
    r"(?:gpt|gemini|grok|deepseek|llama|mistral|qwen|kimi|glm|codex|o[134])(?:[-.\d].*)?", re.IGNORECASE
)
_TOOL_LISTS = ("tools", "allowed-tools", "disallowedTools", "disallowed-tools")
_BARE = re.compile(r"(?m)^([A-Za-z][\w-]{0,40})[ \t]{1,20}([^:\n]{1,60})$")
CLOSE = "write --- in a line of its own after the keys"
_PLACEHOLDER = re.compile(r"[{<\[$]|\.\.\.|…")


def check_definition(project: Project, found: FoundDefinition, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    """What is wrong with an agent, a command or a prompt."""
    table, name = found.table, found.path.rpartition("/")[2]
    if not found.path.endswith(table.suffix):
        if not read_head(found.path, project.read(found.path) or "").is_there:
            return  # a text that definitions refer to
        stem = name[: -len(next(end for end in table.wrong_suffixes if name.endswith(end)))]
        said = f"a {table.kind} must end with {table.suffix} here, so this file is not one"
        facts = Facts(name, f"{stem}{table.suffix}")
        yield CheckFinding(
            found.path, None, "definition-extension", said, f"rename it to {facts.meant}", agents, facts=facts
        )
        return
    text = project.read(found.path)
    if text is None:
        return
    head = _read_head(found, text)
    if not head.is_there:
        if table.needs_head and text.strip():
            wrong = "the closing --- of its frontmatter is missing" if is_unclosed(text) else "it has no frontmatter"
            said = f"{wrong}, so it is not {_a(table.kind)}"
            keys = ", ".join(f"{key}: …" for key in table.needed)
            hint = CLOSE if is_unclosed(text) else f"begin it with ---, {keys}, ---"
            # it may be a text about the others
            yield CheckFinding(found.path, 1, "definition-incomplete", said, hint, agents, severity="warning")
        return
    yield from check_head(head, table, agents)


def _read_head(found: FoundDefinition, text: str) -> DefinitionHead:
    if found.table.form == "toml":
        return DefinitionHead(read_toml(found.path, text), is_there=True)
    return read_head(found.path, text)


def check_head(head: DefinitionHead, table: DefinitionTable, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    """What is wrong with the frontmatter of a definition."""
    source = head.source
    if source.fault and table.is_rule:
        return
    if source.fault:
        said, hint = describe_fault(source), advise_fault(source)
        finding = CheckFinding(source.path, source.line, "definition-invalid", said, hint, agents)
        yield finding if table.is_skipped else finding._replace(severity="warning")
        return
    if head.repaired and not table.is_rule:
        said = f"its frontmatter is {head.repaired}"
        yield CheckFinding(source.path, source.line, "definition-repaired", said, "put the value into quotes", agents)
    slips = dict(find_slips(source.values, table.keys, KNOWN_KEYS - {*table.keys}))
    for key, near in slips.items():
        said = f"`{key}` is not a key that this agent reads"
        yield report_slip(source, key, "definition-key", said, Facts(key, near), agents)
    yield from _check_needed(head, table, agents, {*slips.values()})
    for wrong in find_wrong(source.values, table.keys, is_strict=source.form == "toml"):
        said = f"`{wrong.key}` is not {wrong.wanted}"
        hint = f"write {wrong.near}" if wrong.near else ""
        yield CheckFinding(source.path, source.line_of(wrong.key), "definition-value", said, hint, agents)
    yield from check_tools(source, table, agents)
    yield from check_model(source, table, agents)


def describe_fault(source: SourceFile) -> str:
    """What is wrong with a head that cannot be read."""
    form = "TOML" if source.form == "toml" else "frontmatter"
    fault = source.fault.removeprefix("not valid YAML, so nothing of it counts: ")
    return f"its {form} is not valid, so nothing in it counts: {fault}"


def advise_fault(source: SourceFile) -> str:
    """What to do about a head that cannot be read, if that is plain: a key without its colon. Else nothing."""
    bare = _BARE.finditer(source.text) if source.form == "yaml" else ()
    found = next((each for each in bare if each[1] in KNOWN_KEYS), None)
    return f"write a colon after the key: {found[1]}: {found[2].strip()}" if found else ""


def _check_needed(
    head: DefinitionHead, table: DefinitionTable, agents: tuple[str, ...], slipped: set[str]
) -> Iterator[CheckFinding]:
    if any(str(head.source.values.get(key)).lower() == value for key, value in table.unneeded.items()):
        return
    if table.is_skipped and source_is_prose(head.source, table):
        return
    missing = [key for key in table.needed if not str(head.source.values.get(key) or "").strip() and key not in slipped]
    if not missing:
        return
    effect = (
        "the agent does not load it" if table.is_skipped else f"the model does not know when to use the {table.kind}"
    )
    said = f"it has no `{'` and no `'.join(missing)}`, so {effect}"
    line = head.source.line_of(missing[0]) or 1
    finding = CheckFinding(head.source.path, line, "definition-incomplete", said, f"add {missing[0]}", agents)
    yield finding if table.is_skipped else finding._replace(severity="warning")


def source_is_prose(source: SourceFile, table: DefinitionTable) -> bool:
    """Whether a head has nothing of what a definition has, as that of a page about definitions."""
    return source.form == "yaml" and not any(key in table.keys for key in source.values)


# -- agents together


def check_agents(project: Project, catalog: Catalog) -> Iterator[CheckFinding]:
    """Agents of one folder that have the same name, and skills that they ask for and that are not there."""
    names: dict[tuple[str, str, str], str] = {}
    skills = {each.below[-1] for each in catalog.skills if each.below}
    for found in catalog.definitions:
        if found.table.kind != "agent" or not found.table.is_skipped:
            continue
        source = read_head(found.path, project.read(found.path) or "").source
        name, agents = str(source.values.get("name") or ""), catalog.agents_of(found.table.agents)
        key = (found.base, found.table.folders[0], name)
        if name and key in names:
            said = f"`{name}`: {project.relative(names[key])} has the same name, so only one of the two is used"
            yield CheckFinding(
                found.path, source.line_of("name"), "agent-duplicate", said, "give it another name", agents
            )
        names.setdefault(key, found.path)
        for skill in tools_of(source.values.get("skills")) if "skills" in found.table.keys else ():
            if skill not in skills and re.fullmatch(r"[\w-]+", skill):
                said = f"`{skill}`: the repository has no such skill"
                hint = "add it, or correct its name; others do not have a skill of your own"
                yield CheckFinding(found.path, source.line_of("skills"), "agent-skill-missing", said, hint, agents)


# -- tools and models


def tools_of(value: object) -> list[str]:
    """The entries of a list of tools, which may be one text; what is in brackets belongs to its tool.

    >>> tools_of("Read, Bash(git log:*, git diff) Grep"), tools_of(["Read", "Edit"])
    (['Read', 'Bash(git log:*, git diff)', 'Grep'], ['Read', 'Edit'])
    """
    if isinstance(value, list):
        return [str(each).strip() for each in value if isinstance(each, str)]
    return re.findall(r"[^\s,()]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?", value) if isinstance(value, str) else []


def check_tools(source: SourceFile, table: DefinitionTable, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    """Names of tools that are slips, and entries that are not closed."""
    for key in _TOOL_LISTS if table.tools else ():
        value = source.values.get(key)
        if isinstance(value, str) and value.count("(") != value.count(")"):
            said = f"`{key}`: a bracket is not closed"
            yield CheckFinding(source.path, source.line_of(key), "definition-tools", said, "write Tool(…)", agents)
            continue
        for entry in tools_of(value):
            name = entry.partition("(")[0]
            if name in table.tools or "_" in name or "*" in name or "/" in name or ":" in name:
                continue
            near = find_near(name, table.tools)
            if near:
                said = f"`{key}`: there is no tool `{name}`"
                yield report_slip(source, key, "definition-tools", said, Facts(name, near), agents)


def check_model(source: SourceFile, table: DefinitionTable, agents: tuple[str, ...]) -> Iterator[CheckFinding]:
    """A model that the agent surely does not have."""
    model = source.values.get("model")
    if not table.models or not isinstance(model, str) or model.lower() in table.models or _PLACEHOLDER.search(model):
        return
    near = find_near(model, [each for each in table.models if each.isalpha()])
    if near and near != model.lower():
        said = f"there is no model `{model}`"
        yield report_slip(source, "model", "definition-model", said, Facts(model, near), agents)
    elif _FOREIGN_MODEL.fullmatch(model):
        said = f"`{model}` is a model of another vendor, which this agent cannot ask"
        yield CheckFinding(source.path, source.line_of("model"), "definition-model", said, "", agents)


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
