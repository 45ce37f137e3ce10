"""Finding a dialect by name: `claude-code`, or `claude-code@2.1.300`.

1. A version within the history of its agent gives what that release does (`history`), and how well that is known. One
   outside of it gives what the nearest release does, and the answer says that it was assumed.
2. Of an agent without a history one version is known; for another the answer says that it was assumed.
3. Without a version, the version of the program on PATH decides, else the newest known.
4. What the caller of `foretold.load` left out is taken from the process, once: `make_request`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping

from foretold.dialects.releases.history import ReleaseHistory, version_key
from foretold.dialects.schema import Dialect
from foretold.dialects.surroundings import LoadRequest, Surroundings, find_git
from foretold.errors import NotAFolder, UnknownAgent, unknown_keyword
from foretold.storage.tree import read_regular
from foretold.types import TYPE_CHECKING, Finding, NamedTuple

if TYPE_CHECKING:
    from datetime import date
    from typing import Never

    from foretold.dialects.schema import ProgramOptions
    from foretold.storage.tree import Tree

DOCUMENTED = "aider amp crush cursor deepagents goose junie kiro roo vscode-copilot warp windsurf zed".split()
#: agent -> the module of this package that has its tables
AGENTS = {
    **dict.fromkeys(DOCUMENTED, "documented"),
    "claude-code": "claude_code.changes",
    "cline": "cline",
    "code-assist": "seeds.code_assist",
    "codex": "codex",
    "continue": "continue_",
    "copilot-cli": "copilot",
    "ex-athena": "seeds.ex_athena",
    "gemini-cli": "gemini",
    "mink": "seeds.mink",
    "notes": "seeds.notes",
    "opencode": "opencode",
    "qwen-code": "qwen",
}
DEFAULT_AGENT = "claude-code"
OTHER_NAMES = {"chimera": "mink"}  #: the name of the system that a loader is part of -> the loader

RECORDED = 8  #: how many of the agents below, from the first, were recorded

#: agent -> its programs, its folders in the home, and paths of a project that only it has
EVIDENCE: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "claude-code": (("claude",), (".claude",), ("CLAUDE.md", ".claude", "CLAUDE.local.md")),
    "codex": (("codex",), (".codex",), (".codex", "AGENTS.override.md")),
    "opencode": (("opencode",), (".config/opencode",), ("opencode.json", "opencode.jsonc", ".opencode")),
    "gemini-cli": (("gemini",), (".gemini",), ("GEMINI.md", ".gemini")),
    "copilot-cli": (("copilot",), (".copilot",), (".github/copilot-instructions.md", ".github/instructions")),
    "qwen-code": (("qwen",), (".qwen",), ("QWEN.md", ".qwen")),
    "cline": (("cline",), (".cline",), (".clinerules", ".cline")),
    "continue": (("cn",), (".continue",), (".continue",)),
    "zed": (("zed", "zeditor"), (".config/zed",), (".rules", ".zed")),
    "crush": (("crush",), (".config/crush",), ("CRUSH.md", "crush.json", ".crush")),
    "goose": (("goose",), (".config/goose",), (".goosehints",)),
    "roo": ((), (".roo",), (".roo", ".roorules")),
    "vscode-copilot": ((), (), (".vscode",)),
    "cursor": (("cursor", "cursor-agent"), (".cursor",), (".cursor", ".cursorrules")),
    "windsurf": (("windsurf",), (".codeium/windsurf",), (".windsurf", ".windsurfrules")),
    "amp": (("amp",), (".config/amp",), (".amp",)),
    "kiro": (("kiro",), (".kiro",), (".kiro",)),
    "warp": (("warp",), (".warp",), ("WARP.md",)),
    "junie": (("junie",), (".junie",), (".junie",)),
    "aider": (("aider",), (".aider.conf.yml",), (".aider.conf.yml",)),
    "deepagents": (("deepagents",), (".deepagents",), (".deepagents",)),
}
#: agent -> the paths of a project by which `foretold check` knows that it is used there. Folders of editors do not
#: count: most repositories have them. AGENTS.md is first of all what Codex reads.
SIGNS: dict[str, tuple[str, ...]] = {
    **{agent: paths for agent, (_, _, paths) in EVIDENCE.items() if agent != "vscode-copilot"},
    "codex": (".codex", "AGENTS.override.md", "AGENTS.md"),
    "zed": (".rules",),
}
#: agents whose version is not that of just any of their programs
VERSIONED = {"cursor": ("cursor",), "vscode-copilot": ("code",), "zed": ("zed",)}


#: variables that agents set in the shells of their models, and whose they are. From their documents and sources: Claude
#: Code (env-vars), Codex (spawn.rs), Gemini CLI and Qwen Code (the shell tool), opencode, Cursor, Cline, Goose, crush;
#: AI_AGENT is a convention of several.
MARKS = {
    "CLAUDECODE": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini-cli",
    "QWEN_CODE": "qwen-code",
    "OPENCODE": "opencode",
    "CURSOR_AGENT": "cursor",
    "CLINE_ACTIVE": "cline",
    "GOOSE_TERMINAL": "goose",
    "CRUSH": "crush",
    "COPILOT_CLI": "copilot-cli",
    "AI_AGENT": "another agent",
}


def calling_agent(env: Mapping[str, str]) -> str:
    """The agent in whose shell a process was started; empty if it is a person's.

    >>> calling_agent({"CLAUDECODE": "1"}), calling_agent({"HOME": "/home/me"})
    ('claude-code', '')
    """
    said = env.get("AGENT", "")  # of Amp, Goose and crush, with their names; others use this name for other things
    return next((agent for name, agent in MARKS.items() if env.get(name)), said if said in AGENTS else "")


#: agents whose name for people is more than their word with a capital, or stays in small letters
TITLES = {
    "claude-code": "Claude Code",
    "copilot-cli": "Copilot CLI",
    "gemini-cli": "Gemini CLI",
    "qwen-code": "Qwen Code",
    "vscode-copilot": "VS Code Copilot",
    "roo": "Roo Code",
    **{name: name for name in ("code-assist", "deepagents", "ex-athena", "mink", "notes", "opencode")},
}


def title_of_agent(agent: str) -> str:
    """The name of an agent for people.

    >>> title_of_agent("claude-code"), title_of_agent("codex"), title_of_agent("opencode")
    ('Claude Code', 'Codex', 'opencode')
    """
    return TITLES.get(agent, agent.capitalize())


class DialectChoice(NamedTuple):
    """A dialect, and how it was chosen."""

    dialect: Dialect
    asked: str  #: the version that was wanted, or empty
    assumed: bool  #: nothing was recorded that shows what this version does

    @property
    def note(self) -> str:
        """Why the answer may be wrong for the version that was asked for; empty if it is known.

        >>> choose("claude-code@99.0.0").note.partition(";")[0]
        '99.0.0 was not recorded'
        """
        if not self.assumed:
            return ""
        if version_key(self.dialect.version) == version_key(self.asked):
            return f"{self.asked} was not recorded, and what it does changed between the releases next to it that were"
        return f"{self.asked} was not recorded; {self.dialect.version} was"


def history_of(agent: str) -> ReleaseHistory[Dialect]:
    """What an agent does, over its releases; of most agents one version is known."""
    if agent not in AGENTS:
        raise unknown_agent(agent, sorted(AGENTS))
    module = __import__(f"foretold.dialects.{AGENTS[agent]}", fromlist=["DIALECTS"])
    history: ReleaseHistory[Dialect] | None = getattr(module, "HISTORY", None)
    if history is None:
        history = ReleaseHistory(next(dialect for dialect in module.DIALECTS if dialect.agent == agent))
    return history


def dialect_at(agent: str, version: str = "") -> Dialect:
    """What a release of an agent does, or its newest known one."""
    history = history_of(agent)
    first, last = history.ends
    if not last:
        return history.base
    key = version_key(version) or version_key(last)
    version = first if key < version_key(first) else last if key >= version_key(last) else version
    return history.at(version)._replace(evidence=history.evidence_for(version))


def dialects_of(agent: str) -> tuple[Dialect, ...]:
    """What each release of an agent does that was played, oldest first."""
    return tuple(dialect_at(agent, version) for version in history_of(agent).played) or (dialect_at(agent),)


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """What an agent takes from its settings, its command line and its environment."""
    name = request.dialect.surroundings or AGENTS[request.dialect.agent]
    module = __import__(f"foretold.dialects.{name}", fromlist=["read_surroundings"])
    found: Surroundings = module.read_surroundings(tree, request)
    return found._replace(findings=(*found.findings, *_unknown_options(request))) if request.args else found


def command_line_of(dialect: Dialect) -> ProgramOptions | None:
    """What an agent's own command line has: a table next to its others, or next to how its settings are read."""
    for name in (AGENTS[dialect.agent], dialect.surroundings):
        module = __import__(f"foretold.dialects.{name}", fromlist=["COMMAND_LINE"]) if name else None
        found: ProgramOptions | ReleaseHistory[ProgramOptions] | None = getattr(module, "COMMAND_LINE", None)
        if found is not None:
            return found.at(dialect.version) if isinstance(found, ReleaseHistory) else found
    return None


def _unknown_options(request: LoadRequest) -> list[Finding]:
    from foretold.dialects.settings_files import find_unknown_options, guess_option

    line = command_line_of(request.dialect)
    if line is None:
        return []
    return [
        Finding(
            request.cwd,
            None,
            "option-unknown",
            f"{name} means nothing to {request.dialect.agent}",
            guess_option(name, line),
        )
        for name in find_unknown_options(request.args, line)
    ]


def unknown_agent(agent: str, known: Iterable[str]) -> UnknownAgent:
    """The error for a name that no agent has, or none of those that a command knows."""
    import difflib

    names, name = list(known), agent.lower().replace("_", "-")
    name = OTHER_NAMES.get(name, name)
    near = [each for each in names if name and each.startswith(name)]
    # at the usual 0.6, `foo` would be `roo`
    near = near or difflib.get_close_matches(name, names, 1, 0.7)
    meant = f", did you mean {near[0]!r}? Known" if near else "; known"
    return UnknownAgent(f"unknown agent {agent!r}{meant} agents: {', '.join(names)}")


def choose(name: str = DEFAULT_AGENT, env: Mapping[str, str] | None = None) -> DialectChoice:
    """The dialect for a name with or without a version."""
    agent, _, version = name.lower().partition("@")
    history_of(agent)  # UnknownAgent, before anything is looked for
    if not version:
        version = installed_version(programs_of(agent), env) if env is not None else ""
    if not version:
        return DialectChoice(dialect_at(agent), "", assumed=False)
    if not version_key(version):
        raise UnknownAgent(f"{version!r} is not a version; known for {agent}: {_known_versions(agent)}")
    dialect = dialect_at(agent, version)
    is_other = version_key(dialect.version) != version_key(version)
    return DialectChoice(dialect, version, assumed=is_other or dialect.evidence == "assumed")


def _known_versions(agent: str) -> str:
    first, last = history_of(agent).ends
    return f"{first} to {last}" if first != last else dialect_at(agent).version


def programs_of(agent: str) -> tuple[str, ...]:
    """The programs whose version is that of an agent."""
    return VERSIONED.get(agent) or EVIDENCE.get(agent, ((),))[0]


def find_agents(tree: Tree, cwd: str, home: str, env: Mapping[str, str] | None = None) -> list[str]:
    """The agents that are set up for a folder or the top of its repository; if none is, those that were recorded.

    An agent is set up if it has a program on PATH, a folder in the home, or a file that only it uses.
    """
    git = find_git(tree, cwd)
    folders = dict.fromkeys((cwd, git.top if git else cwd))
    path = (os.environ if env is None else env).get("PATH", "")
    on_path = [folder for folder in path.split(os.pathsep) if folder]
    found = []
    for agent, (names, homes, files) in EVIDENCE.items():
        places = [f"{home}/{name}" for name in homes]
        places += [f"{folder.rstrip('/')}/{name}" for folder in folders for name in files]
        has_program = any(os.access(os.path.join(each, name), os.X_OK) for each in on_path for name in names)
        if has_program or any(tree.kind(place) != "missing" for place in places):
            found.append(agent)
    return found or list(EVIDENCE)[:RECORDED]


def installed_version(programs: tuple[str, ...], env: Mapping[str, str]) -> str:
    """The version of an agent's program on PATH, read from what its installer put next to it; runs nothing.

    An npm package has a `package.json` above the program; a native install names the version in its path.
    """
    for program in programs:
        for folder in env.get("PATH", "").split(os.pathsep):
            path = os.path.join(folder, program)
            if folder and os.path.isfile(path) and os.access(path, os.X_OK):
                return _version_near(os.path.realpath(path))
    return ""


def _version_near(path: str) -> str:
    folder = path
    if path.endswith(f"/.bin/{os.path.basename(path)}"):  # a script that pnpm wrote: what is above is the project's own
        return ""
    for _ in range(3):
        folder = os.path.dirname(folder)
        manifest = os.path.join(folder, "package.json")
        if os.path.isfile(manifest):
            return _manifest_version(manifest)
    for name in reversed(path.split("/")):
        if version_key(name) and name.count(".") >= 2:
            return name
    return ""


MANIFEST = 1 << 20  #: bytes of a program's package.json that are read


def _manifest_version(path: str) -> str:
    import json

    try:
        version = json.loads(read_regular(path, MANIFEST)).get("version", "")
    except (OSError, ValueError, AttributeError):
        return ""
    return version if isinstance(version, str) and version_key(version) else ""


#: what `foretold.load` and its like take; for what a misspelt one may have meant
KEYWORDS = "cwd agent home managed env args settings model now trust add_dirs tree".split()
CHOSEN: dict[tuple[str, str], DialectChoice] = {}  #: by the name of an agent and PATH


def make_request(
    cwd: str | os.PathLike[str],
    agent: str = DEFAULT_AGENT,
    *,
    home: str | os.PathLike[str] | None = None,
    managed: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    args: Iterable[str] = (),
    settings: Mapping[str, object] | None = None,
    model: str | None = None,
    now: date | str | None = None,
    trust: bool | None = None,
    add_dirs: Iterable[str] = (),
    **unknown: Never,
) -> tuple[DialectChoice, LoadRequest]:
    """Fill in what a caller left out from the process. TypeError for a keyword that is not one of these."""
    if unknown:
        raise unknown_keyword(next(iter(unknown)), KEYWORDS)
    env = os.environ if env is None else env
    choice, managed, seen = _place(agent, env, None if managed is None else os.path.abspath(managed))
    try:
        folder = os.path.realpath(cwd)
    except (OSError, ValueError) as error:
        raise NotAFolder(f"{cwd!r} is not a folder: {error}") from None
    return choice, LoadRequest(
        dialect=choice.dialect,
        cwd=folder,
        home=os.path.abspath(home if home is not None else env.get("HOME") or os.path.expanduser("~")),
        managed=managed,
        env=seen,
        args=tuple(args),
        settings=settings or {},
        model=model,
        date=str(now)[:10] if now is not None else time.strftime("%Y-%m-%d"),
        add_dirs=tuple(str(path) for path in add_dirs),
        trust=trust,
    )


def make_request_for(
    request: LoadRequest, agent: str, env: Mapping[str, str] | None, *, managed: bool
) -> tuple[DialectChoice, LoadRequest]:
    """The same question to another agent; `managed` if the organisation's folder was given."""
    choice, folder, seen = _place(agent, os.environ if env is None else env, request.managed if managed else None)
    return choice, request._replace(dialect=choice.dialect, managed=folder, env=seen)


def _place(agent: str, env: Mapping[str, str], managed: str | None) -> tuple[DialectChoice, str, dict[str, str]]:
    """The dialect of an agent, its organisation's folder, and the variables that it reads."""
    key = (agent, env.get("PATH", ""))
    if key not in CHOSEN:
        CHOSEN[key] = choose(agent, env)
    dialect = CHOSEN[key].dialect
    places = dict(dialect.managed)
    folder = managed if managed is not None else places.get(sys.platform, places[""])
    return CHOSEN[key], folder, {name: env[name] for name in dialect.environment if name in env}
