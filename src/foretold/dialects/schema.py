"""The tables a dialect is made of.

A dialect says what one agent does in a range of versions. It holds data, or the name of a strategy of
`instructions/`, and no code. A *plan* is a tuple of `FileSource`s in the order in which the agent looks:
one plan for the start of a session, one for a touched file.
"""

from __future__ import annotations

from foretold.types import NamedTuple


class FileSource(NamedTuple):
    """One kind of candidate.

    `base` is where it is looked for: `managed`, `user` (the agent's folder in the home), `walk` (every folder
    from the top of the walk down to the working directory), `upward` (the same, nearest first), `edges` (the top, and
    the working directory), `between` (those between them, nearest first), `closest` (the
    innermost folder of the walk that has it), `cwd`, `home`, `project` (the top of the repository), `path` (the name is
    a whole path), `added` (folders given with a flag), `below` (folders between the working directory and a touched
    file), `around` (folders of the repository that a touched file is in and the start of the session did not look in),
    `reach` (folders from the top of the walk to a touched file), `memory`, or `settings`. Neighbours that share a base
    of many folders are looked for together, folder by folder.
    """

    layer: str
    base: str
    name: str
    kind: str = "file"  #: file, rules (a folder of them), setting, index, listed (only its name is sent), unread (known
    #: elsewhere, not here)
    when: str = "always"  #: of rules: always = those without `paths`, matching = those whose `paths` match
    switch: str = ""  #: the setting source that turns it off when it is left out
    others: tuple[str, ...] = ()  #: names that are tried in turn
    pick: str = "text"  #: which of its names counts in a folder: the first that gives a text, that is a `file`, that is
    #: a file or any `link`, that is there as a `path`; `any-case`: a file of this name, else the first that differs
    #: only in case; or `walk`: the first that is there in any folder of the walk, in all of them
    label: str = ""  #: the name of its entry, if not that of the file; or how its real path is shown: {path} whole,
    #: {relative} to the folder that it was looked for in, {project} to the top of the repository
    suffix: str = ""  #: of the names of rules, if not that of the dialect's
    wide: bool = False  #: of rules: whether it is a folder of anything, where other files are not worth a skip
    literal: bool = False  #: whether imports in it are left alone
    apart: bool = False  #: whether it is looked for in all its folders before the next source is


class Imports(NamedTuple):
    """How `@path` in a file brings in another file, and, in the mode `inline`, how its text replaces the token.

    Templates may have {path} (as written), {target} and {text}. `failed` has one for each reason that is put in the
    text; for every other the token stays.
    """

    depth: int = 0  #: hops that are followed
    extensions: frozenset[str] = frozenset()  #: empty: any
    free: tuple[str, ...] = ()  #: layers whose files may import from anywhere
    contain: tuple[str, ...] = ()  #: what must be inside the working directory: the path as spelled, as real
    linked: str = "target"  #: the folder that a linked file imports from: of its `target`, or of the `link`
    mode: str = "separate"  #: each file an entry, `inline`: its text in place of the token, or `none`: no imports
    form: str = "mink"  #: of a token: mink, gemini, copilot
    regions: str = "markdown"  #: where none is looked for: code of the `markdown`, between `backticks`, `fences` too
    found: str = "{text}"
    again: str = ""  #: where a file is named whose text is there already
    once: str = "text"  #: in the whole `text`, or only in one `chain` of imports
    top_counts: bool = True  #: whether the file that imports first is itself counted
    failed: tuple[tuple[str, str], ...] = ()
    within: str = "cwd"  #: what a file must lie in: cwd, the `project` of the file that imports first, or the
    #: `repository` of the session; of the user's files, their folder
    through_links: bool = False  #: whether a link in it may lead out of it
    named: str = "spelled"  #: the {target}: as it was spelled, or its `real` path
    absolute: bool = True  #: whether absolute paths are followed
    comments: bool = True  #: whether block-level comments are taken out
    trims: bool = False  #: whether what is put in is trimmed at its end
    fragments: bool = True  #: whether `#…` after a path is not part of its name
    directives: tuple[str, ...] = ()  #: words that may come between `@` and the path: `@include path`


class Rules(NamedTuple):
    """Files that may wait for a path."""

    suffix: str | tuple[str, ...] = ""  #: of the names of rules
    key: str = ""  #: the field of the frontmatter that has the patterns
    other_key: str = ""  #: the one that has them where the first is not there at all
    patterns: str = "ignore"  #: how the field becomes patterns, and how they match: as lines of `ignore`, as lines of
    #: its releases before 7.0.6 (`early-ignore`), or `globset`
    base: str = "holder"  #: what patterns are seen from: the folder that holds the rules, or the top `repository`
    any_case: bool = False  #: whether the suffix is compared without case
    hidden: bool = True  #: whether names that begin with a dot count
    linked_folders: bool = True  #: whether links to folders are followed
    once: bool = False  #: whether a rule counts once in all folders, by its real path; else once in each
    once_named: bool = False  #: whether one counts of those that are called the same in the folders that hold them
    links: str = "anywhere"  #: or `inside`: the target of a link must be inside the working directory
    moved: bool = False  #: whether the folder above that of the rules may be a link to anywhere all the same
    excluded_by: tuple[str, ...] = ()  #: which of its paths an exclude pattern is tested against: real, spelled
    free: tuple[str, ...] = ()  #: layers whose rules may link anywhere
    deep: bool = True  #: whether folders in the folder are looked at
    ordered: str = ""  #: by path, names of its folders, files-first, base-name, locale; else as the system lists them
    named: bool = False  #: whether a rule has a name: that of its frontmatter, else that of its file
    wakes: str = "touch"  #: what a rule with the key waits for: a touched file, or that a file that matches `exists`
    joins: bool = False  #: whether the items of a list are one pattern, with nothing between them
    admits: str = ""  #: what else in its frontmatter decides, by the name of a strategy of `admission`
    lists: str = ""  #: how one that waits is listed at the start: {patterns}, {name}, {description}; empty = not at all


class TextRules(NamedTuple):
    """What becomes of a file's text before it is an entry."""

    frontmatter: str = "all"  #: the files it is cut from: all, rules, none; `read-rules`: of rules, and nothing is cut
    fences: str = "text"  #: where it ends: at any `---`; or `lines`, which have nothing else, and then it must be YAML
    markdown: bool = True  #: whether comments and imports are looked for among the blocks of its Markdown
    trims: tuple[str, ...] = ()  #: layers, or kinds, of entries whose text is trimmed at both ends
    space: str = "js"  #: what counts as white space: as in JavaScript, or in Rust
    cuts_comments: tuple[str, ...] = ()  #: kinds of entries that lose every comment
    drops_bom: bool = False  #: whether a byte order mark at the start is removed
    invisible: str = ""  #: characters, as in a class of a regular expression, that are removed once imports are in
    #: place; what is left is put in composed form (NFC)
    refuses: tuple[str, ...] = ()  #: layers whose files are left out if they are not UTF-8
    form: str = "yaml"  #: of frontmatter: YAML, or `lines` of a key, a colon and a text
    strict: bool = False  #: whether a key that comes twice, or a tab in the indentation, makes frontmatter invalid
    colons: bool = True  #: whether a value with a colon in it is repaired where frontmatter is invalid
    blank: str = "skip"  #: a file of nothing but white space: skip, keep unless it is `empty`, always keep, or keep
    #: only `rules`


class Fallback(NamedTuple):
    """Other files that are read where the agent's own are not."""

    names: tuple[str, ...]
    unless: tuple[str, ...]  #: files of the walk (or of the nested folder) that hide them
    hidden_unread_by: str  #: a layer that hides even when it is switched off
    layer: str
    switch: str
    tools: tuple[str, ...]  #: what attaches nested ones; `mention` too, even of a file that is not there
    through_links: bool  #: whether a nested folder may be a link to outside of the working directory
    plugins: tuple[str, ...] = ()  #: names under which settings can switch it, the first before the others


class IndexLimits(NamedTuple):
    """The memory index as the last entry, and how it is cut."""

    lines: int
    units: int  #: UTF-16 code units
    warning: str
    cleans: bool  #: whether invisible characters and reserved tags are taken out
    trims: bool = True  #: whether the white space at its ends goes


class Template(NamedTuple):
    """How entries become text."""

    header: str = ""
    entry: str = "{text}"  #: at the start of a session: {path}, {layer}, {description}, {text}
    nested: str = "{text}"  #: of a touched file: {path}, {text}
    join: str = "\n\n"
    escapes: bool = False  #: whether reserved tags in attached text are escaped
    descriptions: tuple[tuple[str, str], ...] = ()
    trim: str = "both"  #: the ends of a text that are trimmed: both, right, none
    footer: str = ""  #: what follows the last entry of a session's start


class Envelope(NamedTuple):
    """What is around the text of a session's start."""

    before: str = ""
    after: str = ""
    after_last: str = ""  #: the end when the user's prompt is the next block
    without: str = ""  #: what is sent when there is no text: {date}; empty = nothing
    role: str = "user"
    place: str = "before-prompt"
    sentinel: str = ""  #: the tag of the envelope, if a text must not be able to close it
    per_entry: bool = False  #: whether each entry is a separate message
    message: str = ""  #: the name of such a message


class EntryGroup(NamedTuple):
    """Entries of these layers or kinds, within a part.

    `entry` may have {path}, {relative} (to the working directory), {project} (to the top of the repository), {name},
    {layer} and {text}.
    """

    takes: tuple[str, ...]
    entry: str = "{text}"
    join: str = "\n\n"
    before: str = ""
    after: str = ""
    needs: str = ""  #: the layer that must have entries, too, for `before` and `after`


class RequestPart(NamedTuple):
    """A place in a request that carries entries."""

    groups: tuple[EntryGroup, ...]
    place: str = "system"
    role: str = "system"
    before: str = ""
    after: str = ""
    join: str = ""
    chops: str = ""  #: what is cut from the end of the whole
    rest: tuple[EntryGroup, ...] = ()  #: groups after an empty line, between which there is one too; if there are both,
    #: nothing is cut
    where: tuple[str, str] = ("", "")  #: a layer (empty: any), and what {where} in `before` is if it is there:
    #: {cwd}


class Nested(NamedTuple):
    """How the entries that a touched file brings are sent."""

    role: str = "user"
    type: str = "text"  #: tool_result: after the tool's own text; text: in a separate message
    entry: str = "{text}"
    join: str = "\n\n"
    before: str = ""
    after: str = ""
    each: bool = False  #: whether each of them has its own `before` and `after`
    from_start: bool = True  #: whether rules that were found at the start are brought when they match
    escapes: bool = False  #: whether `&`, `<`, `>` and quotes are written as HTML has them
    nearest_first: bool = False
    itself: bool = False  #: whether a file is brought by reading it
    parallel: bool = False  #: whether the calls of one turn know nothing of each other, so that two may bring one file
    identity: str = ""  #: what makes two of them the same, if not what it is at the start
    blank: str = ""  #: what becomes of a blank one, if not what does at the start
    targets: bool = False  #: whether a link is named by its target, which must be in the repository
    folders: str = ""  #: `once`: a folder is looked at once, and rules there then wait for the rest of the session
    masks: tuple[tuple[str, str], ...] = ()  #: what is replaced in the text that one call adds, and its pattern; one
    #: after the other, when everything else is done
    masked: str = ""  #: what takes its place


class Placement(NamedTuple):
    """How nested entries are sent, for one family of models.

    `files` and `fallback` name a form: `user-blocks`, `system`, `system-tagged`, `tool-result`, or `envelope`: in the
    one of the session's start.
    """

    models: tuple[str, ...] = ()  #: names contain one of these, or are what follows `=`; empty = every other model
    files: str = "envelope"
    fallback: str = "envelope"
    mentioned: str = ""  #: of fallback files that a mention brings; empty = as the others that it brings
    rich: str = ""  #: of the form `tool-result`, how they follow a result that is not a text: as `items` of it, or as
    #: blocks of the `user`
    block: int = 0  #: index of the instruction block among the blocks of the first message
    date_follows: bool = False  #: whether the date is a separate block after it


class Trigger(NamedTuple):
    """A tool whose use attaches nested files."""

    tool: str
    key: str  #: the field of its input that names the file; a shell command is read for files
    despite: tuple[str, ...] = ()  #: errors that do not stop it
    on: str = ""  #: what must be there: a file, a folder; empty = whatever


class Continuation(NamedTuple):
    """What becomes of instructions as a conversation goes on: in later requests, and in another process.

    `start` is what a new process does with the text of the start: `rebuilt` in its place from the files as they are; or
    the old text stays, and a message has the `whole` new text, or only the `files` of it that differ, or nothing is
    said: `kept`. `replaces` precedes a text that takes the place of another; `withdraws` is said when there is none,
    `gone` of a file: {path}.
    """

    requests: str = "kept"  #: the text of the start in later requests of a run: kept, or read `again` for each
    start: str = "rebuilt"
    replaces: str = ""
    withdraws: str = ""
    gone: str = ""
    nested: str = "run"  #: what a touched file brings comes once per `run`, once per `session`, or again when `changed`
    repeats: bool = False  #: whether the results that carry it are sent twice by a new process
    why: str = "not recorded; assumed: what is sent first is made anew by a new process, and stays until it ends"


class ProgramOptions(NamedTuple):
    """The options of an agent's own command line: names with spaces between, those of its usual subcommands included.

    From the program's `--help`, and from its public documentation for options that its help leaves out.
    """

    program: str  #: empty: a library, which has no help to look at
    flags: str
    one: str = ""  #: options with a value
    maybe: str = ""  #: with or without one
    many: str = ""  #: with values up to the next option
    spelling: str = "exact"  #: or `yargs`, which also takes `--no-NAME` and `--camelCase`


class AdvisedSize(NamedTuple):
    """How large an instruction file should be at most, as an agent's documentation or the program itself says."""

    most: int
    unit: str  #: lines, characters
    kinds: tuple[str, ...]  #: of entries: file, rule
    source: str  #: who says so, as the subject of a sentence
    is_warned: bool = False  #: whether the program itself warns


class Dialect(NamedTuple):
    """What one agent does, in the versions from `version` on. A field that is left out has no effect."""

    agent: str
    version: str
    surroundings: str = ""  #: the module of `dialects/` that reads its settings, flags and environment, if not its own
    evidence: str = "recorded"  #: or `source`, `documented`
    environment: tuple[str, ...] = ()  #: the variables it reads
    managed: tuple[tuple[str, str], ...] = (("", ""),)  #: platform -> the organisation's folder; "" = all others
    user: str = ""  #: the agent's folder in the home
    model: str = ""  #: when none is named
    start: tuple[FileSource, ...] = ()
    touch: tuple[FileSource, ...] = ()
    touch_asked: bool = False  #: whether `touch` is not what the agent does, but what a program may ask for
    touch_itself: bool = False  #: whether an instruction file that is touched itself is attached, too
    walk: str = "below-top"  #: where it starts: below-top of the file system, top, repository, home, cwd
    opt_in: tuple[str, ...] = ()  #: switches that are off unless asked for
    settings: tuple[str, ...] = ()  #: what its settings or its system decide in some of its releases only, in the words
    #: of the module that reads them
    max_file: int = 4 * 1024 * 1024
    max_summary: int = 10_000  #: bytes of a memory summary, the middle of which is left out
    after_bom: bool = False  #: whether frontmatter may follow a byte order mark
    reading: TextRules = TextRules()
    imports: Imports = Imports(mode="none")
    rules: Rules = Rules()
    fallback: Fallback | None = None
    memory_index: IndexLimits | None = None
    identity: str = "real"  #: what makes two files the same: real path, the `spelled` one, inode, text,
    #: name (the last wins), none
    again: str = "new"  #: what a touched file may attach: `anything` once, or only what is `new` to the session
    added_undoes_bare: bool = False  #: whether an added folder turns loading back on
    excludes: bool = True  #: whether settings can leave files out
    local_settings: str = "cwd"  #: where they are: `cwd`, or also the top folder of the main `repository`
    worktree: str = ""  #: what of the main repository is loaded in a nested worktree, too: `all`, or `rules` that wait
    unordered: tuple[str, ...] = ()  #: layers whose entries come in no certain order
    sorts: tuple[str, ...] = ()  #: layers whose entries are sorted by path; `name`: all, by name
    budget: str = ""  #: the layer whose bytes are limited
    template: Template = Template()
    envelope: Envelope = Envelope()
    parts: tuple[RequestPart, ...] = ()  #: where its entries go, if not in the one envelope
    nested: Nested | None = None
    placements: tuple[Placement, ...] = (Placement(),)
    triggers: tuple[Trigger, ...] = ()
    races: bool = False  #: whether what several calls of one turn attach comes in the order in which they end
    silent: tuple[Trigger, ...] = ()  #: tools that attach nothing, but whose file is not attached afterwards either
    mention_missing: bool = False  #: whether mentioning a file that is not there attaches what its folders have
    subagents_without: tuple[str, ...] = ()  #: subagents that get no instructions
    types: tuple[tuple[str, str], ...] = ()  #: how the agent itself calls a layer, in its reports
    continuation: Continuation = Continuation()
    sizes: tuple[AdvisedSize, ...] = ()  #: how large its files should be
    warns: tuple[str, ...] = ()  #: what it promises to warn about: names of `instructions/warnings.py`

    @property
    def name(self) -> str:
        return f"{self.agent}@{self.version}"
