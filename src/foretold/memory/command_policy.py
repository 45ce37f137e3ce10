"""Whether a model may run a shell command that concerns memories, or foretold itself.

1. Calls of our own command are recognised wherever a line may run them: by any path, as a module of Python, through
   `env`, `sh -c`, `xargs` and the like, and by a name that depends on an expansion if what follows is one of ours.
   What only looks is free. `memory add` and its like are subject to the write policy. What consents in the user's name
   (`--anyway`, `inbox accept`, `share`, `trust`, `erase`) and what changes the installation is always asked about.
2. A command that names a folder of memories and does more than read is judged by the write policy, with the text that
   it would write as far as that is visible: quotes are removed first, so that a credential cannot be split by them.
3. Content that cannot be seen (`cp`, `git apply`, `patch`, `dd`, a script, an expansion) is asked about.
4. A command that names our settings or our state and does more than read is asked about.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from foretold.memory.write_policy import WriteDecision, decide_write
from foretold.memory.written_paths import written_folders
from foretold.text.shell.commands import find_command
from foretold.text.shell.parse import CommandLine, SimpleCommand, Word, read_command
from foretold.text.shell.wrappers import possible_commands
from foretold.types import NamedTuple

OURS = ("foretold", "headnote")  #: the command, and what it was called before
#: programs of which a later word may be our command, and which the table of shell commands does not know
RUNNERS = re.compile(r"python[\d.]*|pypy[\d.]*|uvx?|pipx?|poetry|pdm|hatch|rye|conda|mamba|nix|mise|npx|bunx|docker|py")
INTERPRETERS = re.compile(r"python[\d.]*|pypy[\d.]*|perl|ruby|node|bun|deno|php|lua|awk|gawk|mawk")
READING = frozenset(
    "[ basename cat cd cksum cmp column comm cut diff dirname du echo egrep false fgrep file find fold getfattr grep "
    "head jq ls md5sum nl od printf pwd readlink realpath rg sha256sum stat strings tail test tr true wc which "
    "zcat".split()
)  #: commands that change nothing, whatever follows them; one that writes into a file does so by a redirection
GIT = frozenset("add blame commit diff log ls-files push show status".split())  #: these leave the files as they are
WRITING_FLAGS = ("-delete", "-exec", "-ok", "-fprint", "-fls", "--output", "--pre", "--compile")
#: commands whose effect on a file shows in their words
VISIBLE = frozenset("echo printf cd mkdir touch rm rmdir true false : pwd test [ ls".split())
#: commands that pass on what they are given, or what the files have that they name
PASSING = frozenset("cat tee sed head tail grep tac sort uniq cut tr cp mv".split())
#: what `foretold memory` does: it only looks; it writes; anything else consents in the user's name
#: `vectors` changes a cache only
MEMORY_LOOKS = frozenset("list show log diff budget recall verify prompt export doctor vectors".split())
MEMORY_WRITES = frozenset("add edit rename rm restore import compact consolidate relocate extract".split())
#: options with a value, and without one, that may come before a subcommand: those of `foretold.cli`
VALUED = ("-C", "--agent", "--home", "--managed", "--model", "--folder")
FLAGS = frozenset("--json --team -h --help --version -V --".split())
FEW = 32  #: folders that a line enters, up to which it is followed
UNKNOWN = "(unknown)"  #: in place of a word that depends on an expansion
INSTALLS = frozenset("install uninstall hook doctor".split())
ASK_OWN = "This changes settings, state or hooks of foretold, which guard the user's memories: the user decides."
ASK_CONSENT = "This command of foretold consents in the user's name: the user decides."
ASK_LOST = "This drops old versions of memories, which cannot be undone: the user decides."
ASK_UNSEEN = "This writes into the folder of memories what cannot be seen here: the user decides."
NOTHING = WriteDecision("")
_RANK = ("", "ask", "deny")
_FORMAT = re.compile(r"%[^%\s]|\\(?!n)|\A-\w*e")  #: what `printf` and `echo -e` replace by something else
_MARKED = ("-I", "-J", "-i")
_BRACES = re.compile(r"(?<![\\$])\{[^}\s]*(?:,|\.\.)[^}\s]*\}")
_EXPANSION = re.compile(r"\$\([^)]*\)|`[^`]*`|\$\{[^}]*\}|\$\w+|\$[@*#?!$-]|\{[^}]*\}|\[[^\]]*\]|[*?]")
_ENTERED = re.compile(r"\b(?:cd|pushd|-C|--directory)[\s=]+(\S+)")
_REMOVES = re.compile(r"(?<![\w-])(?:rm|rmdir|mv|shred|unlink)(?![\w-])")
#: scripts of sed that only change lines by what they say
_SUBSTITUTES = re.compile(r"s(\W)(?s:.*)\1[gpIi\d]*|\d*,?\d*[dp]")
_CODE = re.compile(r"\b(?:import|from)\s+foretold\b|['\"\s/](?:foretold|headnote)['\"\s]")


class GuardedPlaces(NamedTuple):
    """What is guarded, as absolute paths, and where the command runs."""

    stores: tuple[tuple[str, str], ...]  #: folders of memories with their scope
    own: tuple[str, ...]  #: settings and folders of ours
    cwd: str
    home: str
    settings: tuple[str, ...] = ()  #: settings of agents in which our hooks are


def only_reads(command: str) -> bool:
    """Whether a shell command plainly changes nothing.

    >>> only_reads("cat a.md | grep -n x 2>/dev/null && ls"), only_reads("cat a > b"), only_reads("find . -delete")
    (True, False, False)
    """
    quiet = command
    for harmless in ("2>&1", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null"):
        quiet = quiet.replace(harmless, " ")
    if any(mark in quiet for mark in (">", "`", "$(", "<(")):
        return False
    for mark in ("&&", "||", ";", "|", "&", "\n"):
        quiet = quiet.replace(mark, "\n")
    for line in quiet.split("\n"):
        words = line.replace("(", " ").replace(")", " ").split()
        is_quiet = not words or words[0] in READING or (words[0] == "git" and words[1:2] != [] and words[1] in GIT)
        if not is_quiet or any(word.startswith(WRITING_FLAGS) for word in words):
            return False
    return True


def judge_command(command: str, places: GuardedPlaces, policy: str) -> WriteDecision:
    """Decide about a command: the strictest of what is to be said about its parts."""
    is_patch = command.lstrip().startswith("*** Begin Patch")  # of Codex: all that it writes is in it
    line = CommandLine(()) if is_patch else read_command(command)
    text = "\n".join((command, visible_text(line), plain_text(command, places.home)))
    found = [_judge_call(words, text, policy) for words in own_calls(line)]
    if not only_reads(command):
        stores = [folder for folder, _ in places.stores]
        if sum(1 for _ in _ENTERED.finditer(command)) > FEW:  # where it runs is not followed any more
            found.append(WriteDecision("ask", ASK_UNSEEN))
        reached = written_folders(
            _with_inner(line), [*stores, *places.own, *places.settings], places.cwd, places.home, READING
        )
        is_own = any(folder not in stores for folder in reached) and not _is_in_stores_only(reached, places)
        if is_own or named_folders(_without_stores(command, places), places.own, places):
            found.append(WriteDecision("ask", ASK_OWN))
        found.append(_judge_writing(command, text, places, policy, line, reached))
    return _strictest(found)


def _with_inner(line: CommandLine) -> CommandLine:
    """A line with the commands in the words that it gives to a shell."""
    texts = [word.text for part in line.parts if _runs_text(part) for word in part.words if re.search(r"\s", word.text)]
    return line._replace(parts=(*line.parts, *(part for text in texts for part in read_command(text).parts)))


def _runs_text(part: SimpleCommand) -> bool:
    return any(find_command(word.text).runs in ("text", "shell") for word in part.words)


def _is_in_stores_only(reached: Sequence[str], places: GuardedPlaces) -> bool:
    """Whether what is reached of ours is only the folder that a reached store is in."""
    stores = [folder for folder, _ in places.stores if folder in reached]
    others = [folder for folder in reached if folder not in stores]
    return all(any(store.startswith(f"{folder}/") for store in stores) for folder in others)


def _strictest(found: Sequence[WriteDecision]) -> WriteDecision:
    return max(found, key=lambda each: _RANK.index(each.decision), default=NOTHING)


# Calls of our own command


def own_calls(line: CommandLine) -> Iterator[list[str]]:
    """The arguments of every call of our command that a line may run.

    >>> [*own_calls(read_command("cd x && env A=1 python3 -I -m foretold memory add T; sh -c 'headnote install'"))]
    [['memory', 'add', 'T'], ['install']]
    >>> [*own_calls(read_command("grep foretold memory add; $F memory add"))]
    [['memory', 'add']]
    """
    lines = [line, *(read_command(text) for text in line.fed if any(map(_runs_input, line.parts)))]
    seen = set[tuple[str, ...]]()
    is_named = any(name in word.raw for each in lines for part in each.parts for word in part.assigned for name in OURS)
    for part in (part for each in lines for part in each.parts):
        mark, is_fed = _fed_words(part)
        for words in possible_commands(part):
            found = _call_in(words, is_named=is_named)
            if found is not None and is_fed:
                found = [*(UNKNOWN if mark and mark in text else text for text in found), UNKNOWN]
            if found is not None and tuple(found) not in seen:
                seen.add(tuple(found))
                yield found
        if _mentions_ours(part, line):
            yield ["(code)"]


def _runs_input(part: SimpleCommand) -> bool:
    return any(find_command(word.text).runs == "shell" for word in part.words)


def _fed_words(part: SimpleCommand) -> tuple[str, bool]:
    """Whether a command adds words to those of another one, and the mark that it replaces by them."""
    texts = [word.text for word in part.words]
    names = [os.path.basename(text) for text in texts]
    if "find" in names and any(text.startswith(("-exec", "-ok")) for text in texts):
        return "{}", True
    if "xargs" in names or "parallel" in names:
        marks = [after if text in ("-I", "-J") else text[2:] for text, after in pairwise(texts) if text[:2] in _MARKED]
        return marks[-1] if marks else "{}", True
    return "", names[:1] == ["alias"]


def _call_in(words: Sequence[Word], *, is_named: bool = False) -> list[str] | None:
    """The arguments, if some words call our command; None if they do not."""
    texts = [word.text if _is_static(word) else UNKNOWN for word in words]
    name = os.path.basename(words[0].text)
    if texts[0] == UNKNOWN:
        after = [text for text in without_options(texts[1:]) if not text.startswith("-")]
        is_likely = after[:1] == ["memory"] or (after[:1] != [] and after[0] in INSTALLS)
        return texts[1:] if is_likely or is_named or _may_be_ours(words[0].raw) else None
    if _is_ours(texts[0]):
        return texts[1:]
    if not RUNNERS.fullmatch(name):
        return None
    at = next((at for at, text in enumerate(texts[1:], 1) if _is_ours(text)), 0)
    if "uninstall" in texts[1:at]:
        return ["uninstall", "all"]
    return texts[at + 1 :] if at else None


def without_options(words: Sequence[str]) -> list[str]:
    """Words without the options that take a value, and their values.

    >>> without_options(["-C", "list", "memory", "--home=x", "trust", "--yes"])
    ['memory', 'trust', '--yes']
    """
    found: list[str] = []
    skips = False
    for word in words:
        if not skips and not word.startswith(("-C", *(f"{each}=" for each in VALUED))) and word not in VALUED:
            found.append(word)
        skips = not skips and word in VALUED
    return found


def _is_static(word: Word) -> bool:
    """Whether the shell passes a word on as it is written."""
    return word.known and not word.globbed and not _BRACES.search(word.raw)


def _may_be_ours(raw: str) -> bool:
    """Whether a name with expansions may be ours, by what is written of it."""
    pieces = _EXPANSION.split(os.path.basename(raw).replace('"', "").replace("'", ""))
    if not any(pieces):
        return False
    for name in OURS:
        at = 0 if name.startswith(pieces[0]) and name.endswith(pieces[-1]) else -1
        for piece in pieces if at == 0 else ():
            at = name.find(piece, at) + len(piece) if at >= 0 and name.find(piece, at) >= 0 else -1
        if at >= 0:
            return True
    return False


def _is_ours(text: str) -> bool:
    """Whether a word is our command: by any path, with a version or without."""
    name = re.split(r"[@=\[<>~!]", os.path.basename(text.rstrip("/")), maxsplit=1)[0]
    return name.removesuffix(".exe").removesuffix(".__main__") in OURS


def _mentions_ours(part: SimpleCommand, line: CommandLine) -> bool:
    """Whether an interpreter is given code that imports us, or starts our command."""
    if not any(INTERPRETERS.fullmatch(os.path.basename(word.text)) for word in part.words):
        return False
    code = [word.text for word in part.words if re.search(r"[\s(;]", word.text)]
    return any(_CODE.search(text) for text in (*code, *line.fed))


def _judge_call(words: list[str], text: str, policy: str) -> WriteDecision:
    """Decide about a call of our command; `text` is all that the line shows."""
    words = without_options(words)
    plain = [word for word in words if not word.startswith("-")]
    top, rest = (plain[0] if plain else ""), plain[1:]
    before = words[: words.index(plain[min(len(rest), top == "memory")])] if plain else []
    if any(word.startswith("-") and word not in FLAGS for word in before):  # its value may be what looks like a command
        return WriteDecision("ask", ASK_CONSENT)
    if {"-h", "--help"} & {*(words[: words.index("--")] if "--" in words else words)}:
        return NOTHING
    if top in ("(code)", UNKNOWN):
        return WriteDecision("ask", ASK_CONSENT)
    if top in INSTALLS:
        looks = {"--list", "--explain", "--log", "--dry-run"} & {*words} or (top == "doctor" and "--fix" not in words)
        return NOTHING if looks or (top == "install" and not rest) else WriteDecision("ask", ASK_OWN)
    return _judge_memory_call(rest, words, text, policy) if top == "memory" else NOTHING


def _judge_memory_call(rest: list[str], words: list[str], text: str, policy: str) -> WriteDecision:
    sub = rest[0] if rest else "list"
    if sub == "compact" and "--history" in words:
        return WriteDecision("ask", ASK_LOST)  # a policy for writing does not cover it
    if sub in MEMORY_WRITES or (sub == "doctor" and "--fix" in words):
        found = decide_write(policy, text, is_team="--team" in words)
        if found.decision == "ask" and _is_by_agent(words):  # it is proposed, and waits in the inbox
            found = NOTHING
        is_forced = any("--anyway".startswith(word) for word in words if len(word) > 3) or UNKNOWN in words
        return _strictest([found, WriteDecision("ask", ASK_CONSENT)]) if is_forced else found
    looks = sub in MEMORY_LOOKS or (sub == "inbox" and rest[1:2] in ([], ["list"]))
    return NOTHING if looks and "--anyway" not in words else WriteDecision("ask", ASK_CONSENT)


def _is_by_agent(words: list[str]) -> bool:
    return "--by=agent" in words or ("--by", "agent") in pairwise(words)


# Folders that a command names


def plain_text(command: str, home: str) -> str:
    """A command without quotes and escapes, with the home where it is meant: to search names of folders in it."""
    text = command.replace("${HOME}", home).replace("$HOME", home)
    for mark in ("\\\n", "'", '"', "\\"):
        text = text.replace(mark, "")
    text = re.sub(r"(^|[\s=:(])~(?=/|\s|$)", lambda found: found[1] + home, text)
    while "//" in text or "/./" in text:
        text = text.replace("//", "/").replace("/./", "/")
    return text


def named_folders(command: str, folders: Sequence[str], places: GuardedPlaces) -> list[str]:
    """The folders that a command names: whole, from a folder it enters, by the end of their path, or from above."""
    text = plain_text(command, places.home)
    found = _ENTERED.findall(text)
    entered = list(dict.fromkeys(os.path.normpath(os.path.join(places.cwd, path)) for path in found))[:FEW]
    words = [word for word in re.split(r"[\s=:<>|;&()]+", text) if entered or "/" in word or "." in word]
    paths = list(
        dict.fromkeys(os.path.normpath(os.path.join(base, word)) for base in (places.cwd, *entered) for word in words)
    )
    removed = [path for path in paths if path not in (places.cwd, *entered)] if _REMOVES.search(text) else []
    return [folder for folder in folders if _is_named(folder, text, paths, places, removed)]


def _is_named(folder: str, text: str, paths: list[str], places: GuardedPlaces, removed: list[str]) -> bool:
    inside = os.path.relpath(folder, places.cwd)
    spelled = [folder, os.path.realpath(folder), *([] if inside.startswith("..") else [inside])]
    if f"{places.cwd}/".startswith(f"{folder}/") or any(
        each in text for each in (*spelled, *_endings(folder, places.home))
    ):
        return True
    if any(folder.startswith(path.rstrip("/") + "/") for path in removed):
        return True
    return any(_reaches(path, folder) for path in paths)


def _endings(folder: str, home: str) -> list[str]:
    """Ends of a path by which it can be meant from another folder: with a name in them that is not a common one."""
    parts = folder.removeprefix(home).strip("/").split("/")
    return ["/".join(parts[at:]) for at in range(len(parts) - 1) if len(parts[at]) > 8 or parts[at].startswith(".")]


def _reaches(path: str, folder: str) -> bool:
    """Whether a path, which may have globs or braces, is a folder or in it."""
    real = os.path.realpath(folder)
    if any(each == folder or each.startswith((f"{folder}/", f"{real}/")) for each in (path, os.path.realpath(path))):
        return True
    if not re.search(r"[*?\[{]", path):
        return False
    parts, wanted = path.split("/"), folder.split("/")
    return len(parts) >= len(wanted) and all(map(_may_match, parts, wanted))


def _may_match(pattern: str, name: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(name, re.sub(r"\{[^}]*\}", "*", pattern).replace("{", "*").replace("}", "*"))


def _without_stores(command: str, places: GuardedPlaces) -> str:
    """A command without the folders of memories that it names: some are in our own folder."""
    text = plain_text(command, places.home)
    for folder, _ in places.stores:
        text = re.sub(re.escape(folder) + r"(?=[/\s]|$)", "/dev/null", text)
    return text


def _judge_writing(
    command: str, text: str, places: GuardedPlaces, policy: str, line: CommandLine, reached: Sequence[str]
) -> WriteDecision:
    """Decide about a command that may write into a folder of memories."""
    scopes = dict(places.stores)
    named = [*named_folders(command, [*scopes], places), *(folder for folder in reached if folder in scopes)]
    if not named:
        return NOTHING
    found = decide_write(policy, text, is_team=any(scopes[folder] == "team" for folder in named))
    if line.parts and not found.decision and not is_visible(line, places):
        return WriteDecision("ask", ASK_UNSEEN)
    return found


def visible_text(line: CommandLine) -> str:
    """All text that a line has, as the shell would pass it on."""
    return "\n".join([*(" ".join(word.text for word in part.words) for part in line.parts), *line.fed])


def is_visible(line: CommandLine, places: GuardedPlaces) -> bool:
    """Whether the words of a line show all that it would write."""
    appended = sum(each.operator.endswith(">>") for part in line.parts for each in part.redirects)
    aims = [each.target for part in line.parts for each in part.redirects]
    aims += [word for part in line.parts for word in part.words if part.words[0].text == "cd"]
    if _is_unclear(line) or appended > 1 or any(word.globbed or not _is_clear(word) for word in aims):
        return False
    for part in line.parts:
        if not _is_visible_part(part, places):
            return False
        if [word.text for word in part.words[:1]] == ["cd"] and len(part.words) == 2:
            folder = plain_text(part.words[1].raw, places.home)
            places = places._replace(cwd=os.path.normpath(os.path.join(places.cwd, folder)))
    return True


def _is_unclear(line: CommandLine) -> bool:
    return bool(line.opaque) or any(not _is_clear(word) for part in line.parts for word in part.words)


def _is_clear(word: Word) -> bool:
    """Whether a word is known, apart from the home in a path."""
    return word.known or bool(re.fullmatch(r"\"?(?:~|\$HOME|\$\{HOME\})[\w./+@%-]*\"?[\w./+@%-]*", word.raw))


def _is_visible_part(part: SimpleCommand, places: GuardedPlaces) -> bool:
    if any(each.operator.endswith("<") and not _is_in_store(each.target, places) for each in part.redirects):
        return False
    if not part.words:
        return True
    name = os.path.basename(part.words[0].text)
    if name in ("echo", "printf") and any(_FORMAT.search(word.text) for word in part.words[1:3]):
        return False
    if name in VISIBLE:
        return True
    plain = [word for word in part.words[1:] if not word.text.startswith("-")]
    if name == "git":
        return bool(plain) and plain[0].text in GIT
    if any(word.text.startswith(("-f", "--file")) for word in part.words):
        return False
    if name == "sed" and not (plain and _SUBSTITUTES.fullmatch(plain[0].text)):
        return False
    if name in ("sed", "grep", "tr", "cut"):  # the first word is a script
        plain = plain[1:]
    if name in ("cp", "mv"):  # the last word is where it goes
        plain = plain[:-1]
    return name in PASSING and all(_is_in_store(word, places) for word in plain)


def _is_in_store(word: Word, places: GuardedPlaces) -> bool:
    path = plain_text(word.raw, places.home)
    whole = os.path.realpath(os.path.join(places.cwd, path))
    is_store = any(whole.startswith(os.path.realpath(folder).rstrip("/") + "/") for folder, _ in places.stores)
    return is_store or path == "/dev/null"
