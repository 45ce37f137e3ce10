"""`foretold completion SHELL`: a completion script for bash, zsh or fish."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from foretold.dialects.registry import AGENTS, dialects_of

OPTIONS = ("-C", "--agent", "--home", "--managed", "--model", "--json", "--help")

BASH = """\
_foretold() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    case "$before" in
        --agent) COMPREPLY=($(compgen -W "{agents}" -- "$word")); return ;;
        -C|--home|--managed) COMPREPLY=($(compgen -d -- "$word")); return ;;
    esac
    if [[ $COMP_CWORD -eq 1 && $word != -* ]]; then COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    elif [[ $COMP_CWORD -eq 2 && $before == memory ]]; then COMPREPLY=($(compgen -W "{memory}" -- "$word"))
    elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W "{options}" -- "$word"))
    else COMPREPLY=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _foretold foretold
"""
ZSH = (
    """\
autoload -U +X bashcompinit && bashcompinit
"""
    + BASH
)
FISH = """\
complete -c foretold -n __fish_use_subcommand -f -a "{commands}"
complete -c foretold -n "__fish_seen_subcommand_from memory" -f -a "{memory}"
complete -c foretold -l agent -x -a "{agents}"
complete -c foretold -s C -r -a "(__fish_complete_directories)"
complete -c foretold -l home -r -a "(__fish_complete_directories)"
complete -c foretold -l json
"""
SHELLS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def command(words: Sequence[str]) -> int:
    from foretold.cli import COMMANDS
    from foretold.cli.memory import COMMANDS as MEMORY

    if list(words) not in [[shell] for shell in SHELLS]:
        print("usage: foretold completion bash|zsh|fish", file=sys.stderr)
        print('  bash, in ~/.bashrc:  eval "$(foretold completion bash)"', file=sys.stderr)
        return 0 if list(words) in (["-h"], ["--help"]) else 2
    agents = [name for agent in AGENTS for name in (agent, *(dialect.name for dialect in dialects_of(agent)))]
    given = {"commands": COMMANDS, "memory": MEMORY, "agents": agents, "options": OPTIONS}
    print(SHELLS[words[0]].format(**{name: " ".join(values) for name, values in given.items()}), end="")
    return 0
