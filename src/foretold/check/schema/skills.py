"""Skills: where they are, what they are called, and what their frontmatter says.

1. By the standard (agentskills.io) a skill has a name, equal to that of its folder, and a description of at most 1,024
   characters. Claude Code does without both; other agents skip such a skill.
2. Where an agent looks one level down, a SKILL.md without a folder of its own, or in a folder within a folder, is never
   offered. A folder with a SKILL.md of its own may keep others below it: they are parts of that skill.
3. The name of the file is SKILL.md, in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.check.schema.catalog import PROSE, Catalog, FoundSkill
from foretold.check.schema.definitions import CLOSE, advise_fault, check_model, check_tools, describe_fault
from foretold.check.schema.source import DefinitionHead, is_unclosed, read_head, report_slip
from foretold.check.schema.values import find_slips, find_wrong
from foretold.dialects.extensions import agent_skills
from foretold.dialects.extensions.registry import KNOWN_KEYS, SKILL
from foretold.types import Facts

_TEMPLATE = re.compile(r"[{<\[$]|\byour[-_ ]", re.IGNORECASE)
_TEMPLATE_FOLDER = re.compile(r"(?:^|[-_])(?:template|templates|example|examples|boilerplate|skeleton)s?(?:$|[-_])")


def check_skill(project: Project, catalog: Catalog, skill: FoundSkill) -> Iterator[CheckFinding]:
    """What is wrong with one skill."""
    yield from _check_place(project, catalog, skill)
    text = project.read(skill.path)
    if text is None:
        return
    head = read_head(skill.path, text)
    source = head.source
    if not head.is_there:
        if text.strip() and (skill.folder is not None or _is_offered(skill)):
            wrong = "the closing --- of its frontmatter is missing" if is_unclosed(text) else "it has no frontmatter"
            said = f"{wrong}: agents know the skill neither by a name nor by what it is for"
            hint = CLOSE if is_unclosed(text) else "begin it with ---, name: …, description: …, ---"
            yield CheckFinding(skill.path, 1, "skill-incomplete", said, hint)
        return
    if source.fault:
        said, hint = describe_fault(source), advise_fault(source)
        yield CheckFinding(skill.path, source.line, "definition-invalid", said, hint)
        return
    if head.repaired:
        said = f"its frontmatter is {head.repaired}"
        yield CheckFinding(skill.path, source.line, "definition-repaired", said, "put the value into quotes")
    yield from _check_keys(catalog, skill, head)
    yield from _check_standard(project, skill, head)


def _is_offered(skill: FoundSkill) -> bool:
    """Whether a skill that is in no agent's folder is part of a plugin, or of a collection that people install from."""
    inside = skill.path[len(skill.base) + 1 :]
    return inside.startswith("skills/") and inside.count("/") == 2


def _check_place(project: Project, catalog: Catalog, skill: FoundSkill) -> Iterator[CheckFinding]:
    folder, _, name = skill.path.rpartition("/")
    if name != agent_skills.FILE and skill.folder is not None:
        said = f"a skill is called {agent_skills.FILE}, in capitals: {name} is not found on most systems"
        agents, hint = catalog.agents_of(skill.folder.agents), f"rename it to {agent_skills.FILE}"
        facts = Facts(name, agent_skills.FILE)
        yield CheckFinding(skill.path, None, "skill-place", said, hint, agents, severity="warning", facts=facts)
        return
    agents = catalog.agents_of(skill.folder.one_level) if skill.folder else ()
    if not agents or skill.folder is None:
        return
    top = f"{skill.base}/{skill.folder.folder}"
    if not skill.below:
        said = f"a skill has a folder of its own, which is missing here: {skill.folder.folder}/NAME/{agent_skills.FILE}"
        yield CheckFinding(skill.path, None, "skill-place", said, "move it into a folder with its name", agents)
    elif len(skill.below) > 1 and not _is_part(project, top, skill, folder):
        said = f"it is {len(skill.below)} folders down, and the agent looks one folder down: it is not found"
        hint = f"move it to {skill.folder.folder}/{skill.below[-1]}/{agent_skills.FILE}"
        yield CheckFinding(skill.path, None, "skill-place", said, hint, agents)


def _is_part(project: Project, top: str, skill: FoundSkill, folder: str) -> bool:
    """Whether a skill further down belongs to a skill or a plugin above it, or is reached by a link."""
    above = top
    for name in skill.below[:-1]:
        above = f"{above}/{name}"
        if any(project.tree.kind(f"{above}/{each}") != "missing" for each in (agent_skills.FILE, ".claude-plugin")):
            return True
    if skill.below[0].startswith((".", "_")):
        return True
    linked = f"{top}/{skill.below[-1]}"
    return project.tree.kind(linked) != "missing" and project.tree.real(linked) == project.tree.real(folder)


def _check_keys(catalog: Catalog, skill: FoundSkill, head: DefinitionHead) -> Iterator[CheckFinding]:
    """Keys and values, by the table of the agent with the most keys; others ignore what they do not know."""
    source, known = head.source, {**SKILL.keys, **agent_skills.KEYS}
    folders = (skill.folder,) if skill.folder is not None else agent_skills.FOLDERS
    others = KNOWN_KEYS - {*known} | {key for folder in folders for key in folder.keys}
    for key, near in find_slips(source.values, known, others):
        said = f"`{key}` is not a key of a skill"
        yield report_slip(source, key, "definition-key", said, Facts(key, near))
    is_its = bool(skill.folder.one_level) if skill.folder is not None else bool(skill.plugin)
    agents = catalog.agents_of(SKILL.agents) if is_its else ()
    if not agents:
        return
    for wrong in find_wrong(source.values, SKILL.keys, is_strict=False):
        said = f"`{wrong.key}` is not {wrong.wanted}"
        hint = f"write {wrong.near}" if wrong.near else ""
        yield CheckFinding(source.path, source.line_of(wrong.key), "definition-value", said, hint, agents)
    yield from check_tools(source, SKILL, agents)
    yield from check_model(source, SKILL, agents)


def _check_standard(project: Project, skill: FoundSkill, head: DefinitionHead) -> Iterator[CheckFinding]:
    source, values = head.source, head.source.values
    slipped = {near for _, near in find_slips(values, agent_skills.KEYS, KNOWN_KEYS - {*agent_skills.KEYS})}
    name, description = (str(values.get(key) or "").strip() for key in ("name", "description"))
    missing = [key for key, value in (("name", name), ("description", description)) if not value and key not in slipped]
    if missing:
        said = f"it has no `{'` and no `'.join(missing)}`, which the standard requires"
        finding = CheckFinding(
            source.path, source.line_of(missing[0]) or 1, "skill-incomplete", said, f"add {missing[0]}"
        )
        yield finding if "description" in missing else finding._replace(severity="note")
    if name and not _TEMPLATE.search(name):
        yield from _check_name(project, skill, name, source.line_of("name"))
    for key, value, most in (
        ("description", description, agent_skills.LONGEST_DESCRIPTION),
        ("compatibility", str(values.get("compatibility") or ""), agent_skills.LONGEST_COMPATIBILITY),
    ):
        if len(value) > most:
            said = f"`{key}` has {len(value):,} characters, and the standard allows {most:,}"
            yield CheckFinding(source.path, source.line_of(key), "skill-description-long", said)


def _check_name(project: Project, skill: FoundSkill, name: str, line: int | None) -> Iterator[CheckFinding]:
    if len(name) > agent_skills.LONGEST_NAME:
        said = f"the name has {len(name)} characters, and the standard allows {agent_skills.LONGEST_NAME}"
        yield CheckFinding(skill.path, line, "skill-name", said)
    elif not agent_skills.NAME.fullmatch(name):
        meant = re.sub(r"-+", "-", re.sub(r"[^a-z0-9]+", "-", name.lower())).strip("-")
        said = f"`{name}`: a name has lower-case letters, digits and single dashes"
        yield CheckFinding(
            skill.path, line, "skill-name", said, f"write {meant}" if meant else "", facts=Facts(name, meant)
        )
    folder = skill.path.rpartition("/")[0]
    own = folder.rpartition("/")[2]
    is_top = folder in (project.top, skill.plugin) or not skill.below or own == "skills"
    is_top = is_top or (own == "skill" and skill.folder is None)  # the source of one that is installed elsewhere
    if own != name and not is_top and agent_skills.NAME.fullmatch(name) and not _TEMPLATE_FOLDER.search(own.lower()):
        said = f"`{name}`: the folder of the skill is called {own}"
        hint = (
            f"call the skill {own}, or rename the folder" if agent_skills.NAME.fullmatch(own) else "rename the folder"
        )
        yield CheckFinding(skill.path, line, "skill-folder", said, hint)


def check_flat(project: Project, catalog: Catalog) -> Iterator[CheckFinding]:
    """Texts in a folder of skills that were meant to be skills: they have frontmatter with a description."""
    for path, folder in catalog.flat_skills:
        text = project.read(path)
        if text is None or PROSE.fullmatch(path.rpartition("/")[2]):
            continue
        head = read_head(path, text)
        if "description" in head.source.values:
            stem = path.rpartition("/")[2].removesuffix(".md")
            said = "a skill has a folder of its own: this file is not found"
            hint = f"move it to {folder.folder}/{stem}/{agent_skills.FILE}"
            yield CheckFinding(path, None, "skill-place", said, hint, catalog.agents_of(folder.one_level))
