"""The tables a dialect is made of.

A dialect says what one agent, in a range of versions, does. It holds data, or the name of a strategy that lives
in `instructions/`; it holds no code. A *plan* is a tuple of `Source`s in the order in which the agent looks:
one plan for the start of a session, one for a touched file.
"""

from __future__ import annotations

from headnote.types import NamedTuple


class Source(NamedTuple):
    """One kind of candidate.

    `base` is where it is looked for: `managed`, `user` (the agent's folder in the home), `walk` (every folder
    from the top of the walk down to the working directory), `closest` (the innermost folder of the walk that has
    it), `cwd`, `added` (folders given with a flag), `below` (folders between the working directory and a touched
    file), `memory`, or `settings`. Neighbours with one of the bases that stand for many folders are looked for
    together, folder by folder.
    """

    layer: str
    base: str
    name: str
    kind: str = "file"  #: file, rules (a folder of them), setting, index
    when: str = "always"  #: of rules: always = those without `paths`, matching = those whose `paths` match
    switch: str = ""  #: the setting source that turns it off when it is left out
    others: tuple[str, ...] = ()  #: names that are tried in turn where the first gives no text


class Imports(NamedTuple):
    """How `@path` in a file brings in another file."""

    depth: int  #: hops that are followed
    extensions: frozenset[str]
    free: tuple[str, ...]  #: layers whose files may import from anywhere
    contain: tuple[str, ...]  #: what must be inside the working directory: the path as spelled, as real
    mode: str = "separate"  #: each file an entry of its own, or `inline`: its text in place of the token


class Rules(NamedTuple):
    """Files that may wait for a path."""

    suffix: str
    key: str
    links: str  #: anywhere, or inside: a rule behind a link must be inside the working directory
    excluded_by: tuple[str, ...]  #: which of its paths an exclude pattern is tested against: real, spelled
    free: tuple[str, ...]  #: layers whose rules may link anywhere
    deep: bool = True  #: whether folders in the folder are looked at
    ordered: bool = False  #: by name; else as the file system lists them
    wakes: str = "touch"  #: what a rule with the key waits for: a touched file, or that a file that matches `exists`


class Reading(NamedTuple):
    """What becomes of a file's text before it is an entry."""

    frontmatter: str = "all"  #: the files it is cut from: all, rules, none
    markdown: bool = True  #: whether comments and imports are looked for among the blocks of its Markdown
    drops_bom: bool = False  #: whether a byte order mark at the start is no part of the text
    blank: str = "skip"  #: a file of nothing but white space: skip, keep unless it is `empty`, or always keep


class Fallback(NamedTuple):
    """Other files that are read where the agent's own are not."""

    names: tuple[str, ...]
    unless: tuple[str, ...]  #: files of the walk (or of the nested folder) that hide them
    hidden_unread_by: str  #: a layer that hides even when it is switched off
    layer: str
    switch: str
    modes: tuple[str, ...]  #: never, instead, beside, managed-only: as the setting spells them
    tools: tuple[str, ...]  #: what attaches nested ones
    through_links: bool  #: whether a nested folder behind a link may lie outside the working directory


class Index(NamedTuple):
    """The memory index as the last entry, and how it is cut."""

    lines: int
    units: int  #: UTF-16 code units
    warning: str
    cleans: bool  #: whether invisible characters and reserved tags are taken out


class Template(NamedTuple):
    """How entries become text."""

    header: str
    entry: str  #: at the start of a session: {path}, {layer}, {description}, {text}
    nested: str  #: of a touched file: {path}, {text}
    join: str
    escapes: bool  #: whether reserved tags in attached text are escaped
    descriptions: tuple[tuple[str, str], ...]
    trim: str = "both"  #: the ends of a text that are trimmed: both, right, none


class Envelope(NamedTuple):
    """What stands around the text of a session's start."""

    name: str
    before: str
    after: str
    after_last: str  #: the end when the user's prompt is the next block
    without: str  #: what is sent when there is no text: {date}; empty = nothing
    role: str = "user"
    place: str = "before-prompt"
    sentinel: str = ""  #: the tag of the envelope, if a text must not be able to close it
    per_entry: bool = False  #: whether each entry is a message of its own
    message: str = ""  #: the name that such a message bears


class Placement(NamedTuple):
    """How nested entries travel, for one family of models.

    `files` and `fallback` name a form: `user-blocks`, `system`, `system-tagged`, `tool-result`, or `envelope`: in the
    one of the session's start.
    """

    models: tuple[str, ...]  #: names contain one of these, or are what follows `=`; empty = every other model
    files: str
    fallback: str
    block: int  #: index of the instruction block among the blocks of the first message
    date_follows: bool = False  #: whether the date is a block of its own behind it


class Trigger(NamedTuple):
    """A tool whose use attaches nested files."""

    tool: str
    key: str  #: the field of its input that names the file; a shell command is read for files
    despite: tuple[str, ...] = ()  #: errors that do not stop it


class Dialect(NamedTuple):
    """What one agent does, in the versions from `version` on."""

    agent: str
    version: str
    evidence: str  #: recorded, source or documented
    surroundings: str  #: the module of `dialects/` that reads its settings, flags and environment
    programs: tuple[str, ...]  #: names on PATH
    environment: tuple[str, ...]  #: the variables it reads
    managed: tuple[tuple[str, str], ...]  #: platform -> the organisation's folder; "" = every other platform
    model: str  #: when none is named
    start: tuple[Source, ...]
    touch: tuple[Source, ...]
    max_file: int
    after_bom: bool  #: whether frontmatter may follow a byte order mark
    again: str  #: what a touched file may attach: `anything` once, or only what is `new` to the session
    added_undoes_bare: bool  #: whether an added folder turns loading back on
    local_settings: str  #: where they are: `cwd`, or also the top folder of the main `repository`
    worktree_rules: bool  #: whether rules of the main repository still wait for files of a nested worktree
    imports: Imports
    rules: Rules
    fallback: Fallback | None
    memory_index: Index | None
    template: Template
    envelope: Envelope
    placements: tuple[Placement, ...]
    triggers: tuple[Trigger, ...]
    mention_missing: bool  #: whether mentioning a file that is not there attaches what its folders have
    subagents_without: tuple[str, ...]
    types: tuple[tuple[str, str], ...]  #: how the agent itself calls a layer, in its reports
    user: str = ".claude"  #: the agent's folder in the home
    walk: str = "below-top"  #: where it starts: below-top of the file system, top, repository, cwd
    opt_in: tuple[str, ...] = ()  #: switches that are off unless asked for
    reading: Reading = Reading()

    @property
    def name(self) -> str:
        return f"{self.agent}@{self.version}"
