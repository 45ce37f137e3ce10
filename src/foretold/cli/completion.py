"""`foretold completion SHELL`: a completion script for bash, zsh or fish.

1. The scripts are printed from one table, which is read from the commands themselves: what their parsers take, and the
   help texts that list them. Nothing is written by hand for a shell, so nothing can be forgotten there.
2. An option's value is one of its choices, an agent, a folder or a file, by its metavar; else nothing is offered.
3. A script needs no process while you type: everything is in it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

from foretold.cli import COMMANDS, GROUPS, HELP as MAIN, PLACES
from foretold.cli.options import find_parser, wrap_error
from foretold.dialects.registry import AGENTS, dialects_of
from foretold.types import NamedTuple

USAGE = """\
usage: foretold completion bash|zsh|fish

Print a completion script: commands, options, agents, events, files.

examples:
  foretold completion bash > ~/.local/share/bash-completion/completions/foretold
  foretold completion zsh > ~/.zfunc/_foretold     a folder of your fpath
  foretold completion fish > ~/.config/fish/completions/foretold.fish
  eval "$(foretold completion bash)"               only in this shell
"""
FOLDERS, FILES = "folders", "files"
LONGEST = 100  #: characters of a description
_METAVARS = {"DIR": FOLDERS, "FILE": FILES, "PATH": FILES, "PATH.md": FILES, "SESSION": FILES}


class ValueKind(NamedTuple):
    """What can come at a place: one of these words, a folder, a file, or (nothing of that) any text."""

    words: tuple[str, ...] = ()
    paths: str = ""


class CompletedOption(NamedTuple):
    """An option; `value` is None for a flag."""

    names: tuple[str, ...]
    about: str
    value: ValueKind | None


class CompletedCommand(NamedTuple):
    """A command line: its words ("memory add"), its options, and what else it takes."""

    name: str
    about: str
    options: tuple[CompletedOption, ...]
    takes: ValueKind


def command(words: Sequence[str]) -> int:
    if list(words) not in [[shell] for shell in SHELLS]:
        is_help = list(words) in (["-h"], ["--help"])
        if len(words) == 1 and not words[0].startswith("-"):
            said = f"no script for {words[0]!r}; supported shells: {', '.join(SHELLS)}"
            sys.stderr.write(wrap_error(f"foretold completion: {said}"))
            return 2
        print(USAGE, end="", file=sys.stdout if is_help else sys.stderr)
        return 0 if is_help else 2
    print(SHELLS[words[0]](describe_commands()), end="")
    return 0


# The table


def describe_commands() -> list[CompletedCommand]:
    """Every command line there is, from the commands themselves; the first is `foretold` alone."""
    found = [_describe("", "overview", "command", "")]
    for name, about in _list_help(MAIN, COMMANDS):
        if name not in GROUPS:
            found.append(_describe(name, PLACES.get(name, name), "command", about))
            continue
        module = __import__(f"foretold.cli.{name}", fromlist=["COMMANDS"])
        inside = [
            _describe(f"{name} {each}", f"{name}.{module.COMMANDS[each]}", f"command_{each}", what)
            for each, what in _list_help(module.HELP, module.COMMANDS)
        ]
        alone = next(each for each in inside if each.name == f"{name} list")
        found += [alone._replace(name=name, about=about, takes=ValueKind(tuple(module.COMMANDS))), *inside]
    words = (*COMMANDS, "help", "version")
    return [found[0]._replace(takes=ValueKind(words)), *found[1:]]


def _list_help(text: str, commands: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Every command, with its line of a help text."""
    about = dict(re.findall(r"^  ([a-z]+) {2,}(\S.*)$", text, re.MULTILINE))
    for name in commands:
        yield name, about.get(name, "")


def _describe(name: str, place: str, function: str, about: str) -> CompletedCommand:
    module = __import__(f"foretold.cli.{place}", fromlist=[function])
    if name in PLAIN:
        return CompletedCommand(name, about, *PLAIN[name]())
    parser = find_parser(getattr(module, function))
    assert parser is not None, f"{name} has no parser, and is not in PLAIN"
    actions = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    options = tuple(
        CompletedOption(
            tuple(action.option_strings),
            _about_option(action),
            None if action.nargs == 0 else _value_of(name, action),
        )
        for action in actions
        if action.option_strings
    )
    others = [_value_of(name, action) for action in actions if not action.option_strings]
    words = tuple(word for other in others for word in other.words)
    return CompletedCommand(
        name, about, options, ValueKind(words, next((each.paths for each in others if each.paths), ""))
    )


def _about_option(action: argparse.Action) -> str:
    """The help of an option, unless it is a long list of names, which is offered anyway."""
    text = (action.help or "") % {"default": action.default}
    return text if len(text) <= LONGEST else ""


def _value_of(command_name: str, action: argparse.Action) -> ValueKind:
    """What the value of an option, or an argument, can be."""
    if action.choices is not None:
        return ValueKind(tuple(str(choice) for choice in action.choices))
    if action.dest in ("agent", "agents"):
        return ValueKind(_agents_of(command_name))
    if (command_name, action.dest) == ("rule", "code"):
        from foretold.findings.registry import load_families

        return ValueKind(tuple(rule.code for rules in load_families().values() for rule in rules))
    if command_name == "check" and action.dest in ("select", "ignore"):
        from foretold.findings.registry import CHECKED, load_families

        codes = (rule.code for family, rules in load_families().items() if family in CHECKED for rule in rules)
        return ValueKind((*CHECKED, *codes))
    paths = _METAVARS.get(str(action.metavar), "")
    return ValueKind(paths=paths or (FILES if action.dest in ("file", "files") else ""))


def _agents_of(command_name: str) -> tuple[str, ...]:
    """The agents that a command knows."""
    if command_name.startswith("sessions"):
        from foretold.sessions.formats.readers import READERS

        return tuple(READERS)
    if command_name in ("install", "uninstall"):
        from foretold.dialects.install_targets import INSTALLS

        return tuple(INSTALLS)
    if command_name == "probe":
        from foretold.proof.probe.recipes import RECIPES

        return tuple(RECIPES)
    return tuple(name for agent in AGENTS for name in (agent, *(dialect.name for dialect in dialects_of(agent))))


def _describe_hook() -> tuple[tuple[CompletedOption, ...], ValueKind]:
    from foretold.cli.hook import FLAGS, INTERNAL, VALUES
    from foretold.serve.hooks import EVENTS

    kinds = {"--agent": ValueKind(_agents_of("hook")), "--file": ValueKind(paths=FILES), "--prompt": ValueKind()}
    options = [CompletedOption((name,), "", kinds.get(name, ValueKind(paths=FOLDERS))) for name in VALUES]
    options += [CompletedOption((name,), "", None) for name in FLAGS]
    return tuple(each for each in options if each.names[0] not in INTERNAL), ValueKind(tuple(EVENTS))


def _describe_completion() -> tuple[tuple[CompletedOption, ...], ValueKind]:
    return (CompletedOption(("-h", "--help"), "", None),), ValueKind(tuple(SHELLS))


#: commands that parse their words themselves, because an agent waits for them, or there is nothing to parse
PLAIN = {"hook": _describe_hook, "completion": _describe_completion}


# What bash and zsh share: `case` branches


def _command_cases(commands: Iterable[CompletedCommand]) -> str:
    """A branch for each command: its options, its words, its paths."""
    rows = []
    for each in commands:
        options = " ".join(name for option in each.options for name in option.names)
        sets = f'options="{options}" offered="{" ".join(each.takes.words)}" paths="{each.takes.paths}"'
        rows.append(f'        "{each.name}") {sets} ;;')
    return "\n".join(rows)


def _value_cases(commands: Iterable[CompletedCommand]) -> str:
    """A branch for the options with a value, by what that can be; commands that agree share one."""
    places: dict[ValueKind, dict[str, list[str]]] = {}
    for each in commands:
        for option in each.options:
            for name in option.names if option.value is not None else ():
                places.setdefault(option.value or ValueKind(), {}).setdefault(name, []).append(each.name)
    rows = []
    for value, names in places.items():
        patterns = "|".join(f'"{command_name}:{name}"' for name, owners in names.items() for command_name in owners)
        rows.append(f'        {patterns}) offered="{" ".join(value.words)}" paths="{value.paths}" ;;')
    return "\n".join(rows)


def _known_cases(commands: Iterable[CompletedCommand]) -> str:
    return "|".join(f'"{each.name}"' for each in commands if each.name)


BASH = """\
# bash completion of foretold
_foretold_command() {{
    case "$1" in
{commands}
        *) return 1 ;;
    esac
}}

_foretold_value() {{
    case "$1:$2" in
{values}
        *) return 1 ;;
    esac
}}

_foretold() {{
    local line="${{COMP_LINE:0:COMP_POINT}}" command="" before="" options="" offered="" paths="" word each next cut
    local -a given=()
    read -ra given <<< "$line"
    [[ $line == *[[:space:]] ]] && given+=("")
    local last=$(( ${{#given[@]}} - 1 )) i
    word="${{given[last]}}"
    COMPREPLY=()
    for (( i = 1; i < last; i++ )); do
        each="${{given[i]}}"
        if [[ -n $before ]]; then before=""; continue; fi
        [[ $each == -- ]] && return
        if [[ $each == -* ]]; then
            _foretold_value "$command" "$each" && before="$each"
            continue
        fi
        next="${{command:+$command }}$each"
        case "$next" in
            {known}) command="$next" ;;
        esac
    done
    if [[ $word == --*=* ]]; then before="${{word%%=*}}" word="${{word#*=}}"; fi
    if [[ -n $before ]]; then
        offered="" paths=""
        _foretold_value "$command" "$before"
    else
        _foretold_command "$command"
        [[ $word == -* ]] && offered="$options" paths=""
    fi
    if [[ -n $offered ]]; then
        cut=""
        [[ -n $before && $word == *,* ]] && cut="${{word%,*}},"
        while IFS= read -r each; do COMPREPLY+=("$cut$each"); done < <(compgen -W "$offered" -- "${{word#"$cut"}}")
    fi
    if [[ -n $paths ]]; then
        compopt -o filenames 2> /dev/null
        [[ $paths == folders ]] && next=-d || next=-f
        while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen $next -- "$word")
    fi
    # bash replaces what follows the last character that breaks words, and keeps an @ of it
    if [[ $COMP_WORDBREAKS == *@* && $word == *@* ]]; then
        cut="${{word%@*}}"
        COMPREPLY=("${{COMPREPLY[@]#"$cut"}}")
    fi
}}
complete -F _foretold foretold
"""

ZSH = """\
#compdef foretold
# zsh completion of foretold
_foretold_command() {{
    case "$1" in
{commands}
        *) return 1 ;;
    esac
}}

_foretold_value() {{
    case "$1:$2" in
{values}
        *) return 1 ;;
    esac
}}

_foretold_about() {{
    case "$1" in
{abouts}
    esac
}}

_foretold_complete() {{
    local command="" before="" options="" offered="" paths="" each next about
    local -a given=("$@")
    for each in "${{given[@]}}"; do
        if [[ -n $before ]]; then before=""; continue; fi
        [[ $each == -- ]] && return
        if [[ $each == -* ]]; then
            _foretold_value "$command" "$each" && before="$each"
            continue
        fi
        next="${{command:+$command }}$each"
        case "$next" in
            {known}) command="$next" ;;
        esac
    done
    if [[ -z $before && $PREFIX == --*=* ]]; then
        before="${{PREFIX%%=*}}"
        compset -P '*='
    fi
    if [[ -n $before ]]; then
        offered="" paths=""
        _foretold_value "$command" "$before"
        [[ -n $offered ]] && compset -P '*,'
    else
        offered="" paths=""
        _foretold_command "$command"
        [[ $PREFIX == -* ]] && offered="$options" paths=""
    fi
    if [[ -n $offered ]]; then
        local -a rows=() shown=()
        for each in ${{=offered}}; do
            about=""
            [[ -z $before ]] && _foretold_about "${{command:+$command }}$each"
            rows+=("$each") shown+=("$each${{about:+  -- $about}}")
        done
        compadd -l -d shown -a rows
    fi
    [[ $paths == folders ]] && _files -/
    [[ $paths == files ]] && _files
    return 0
}}

_foretold() {{
    _foretold_complete "${{(@)words[2,CURRENT-1]}}"
}}
if [[ $funcstack[1] == _foretold ]]; then _foretold; else compdef _foretold foretold; fi
"""


def print_bash(commands: list[CompletedCommand]) -> str:
    cases = {"commands": _command_cases(commands), "values": _value_cases(commands), "known": _known_cases(commands)}
    return BASH.format(**cases)


def print_zsh(commands: list[CompletedCommand]) -> str:
    abouts = [f'        "{each.name}") about={_quote(each.about)} ;;' for each in commands if each.name and each.about]
    cases = {"commands": _command_cases(commands), "values": _value_cases(commands), "known": _known_cases(commands)}
    return ZSH.format(**cases, abouts="\n".join(abouts))


FISH = """\
# fish completion of foretold
function __foretold_command
    set -l found ""
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$found:$word"
            case {valued}
                set skip 1
                continue
        end
        set -l next (string trim -- "$found $word")
        switch "$next"
            case {known}
                set found "$next"
        end
    end
    echo $found
end
function __foretold_at
    test (__foretold_command) = "$argv[1]"
end
complete -c foretold -f
"""


def print_fish(commands: list[CompletedCommand]) -> str:
    valued = [
        f'"{each.name}:{name}"'
        for each in commands
        for option in each.options
        for name in option.names
        if option.value is not None
    ]
    known = [f'"{each.name}"' for each in commands if each.name]
    lines = [FISH.format(valued=" ".join(valued), known=" ".join(known)).rstrip("\n")]
    about = {each.name: each.about for each in commands}
    for each in commands:
        at = f"complete -c foretold -n \"__foretold_at '{each.name}'\""
        for word in each.takes.words:
            what = about.get(f"{each.name} {word}".strip(), "") if each.name in ("", *GROUPS) else ""
            lines.append(f"{at} -a {word}" + (f" -d {_quote(what)}" if what else ""))
        if each.takes.paths:
            lines.append(f"{at} {_fish_paths(each.takes)}")
        lines += [f"{at} {_fish_option(option)}" for option in each.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: CompletedOption) -> str:
    names = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    if option.value is not None:
        names.append(f'-x -a "{" ".join(option.value.words)}"' if not option.value.paths else _fish_paths(option.value))
    return " ".join([*names, *([f"-d {_quote(option.about)}"] if option.about else [])])


def _fish_paths(value: ValueKind) -> str:
    return '-x -a "(__fish_complete_directories)"' if value.paths == FOLDERS else "-F"


def _quote(text: str) -> str:
    """A text for a shell, in single quotes that fish and zsh read alike."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"


SHELLS = {"bash": print_bash, "zsh": print_zsh, "fish": print_fish}
