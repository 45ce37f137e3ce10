"""The shell commands that are known, and what each does: one table for everything that asks.

1. `files`: what it does to the files that its words name. `names`: it shows names, sizes and the like; `reads`: it
   shows their content; `changes`: it changes them; `brings`: it puts files into a folder.
2. `free`: whether it only looks. `always`: nothing that it is given names a file; `reads`: all of its options only
   read; `some`: only those in `FREE_OPTIONS` do; `own`: it has rules of its own (`git`, `find`, `cd`).
3. `runs`: whether it runs other commands. `command`: one of its words begins one; `text`: a word may be a whole command
   line; `shell`: so may its input.
"""

from __future__ import annotations

import re

from foretold.types import NamedTuple


class KnownCommand(NamedTuple):
    """What a command does."""

    files: str = ""  #: names, reads, changes, brings
    free: str = ""  #: always, reads, some, own
    runs: str = ""  #: command, text, shell
    needs_exact_rule: bool = False  #: a rule with a star does not allow it
    arranges: bool = False  #: it only creates, moves or removes files, which is free where edits are accepted


_TABLE = {
    KnownCommand(free="always"): "echo pwd true false which whoami id uname nproc basename dirname seq :",
    KnownCommand("reads", free="reads"): "cat tac head tail wc diff cmp comm grep egrep fgrep nl cut rev paste",
    KnownCommand(free="reads"): "tr readlink realpath md5sum sha1sum sha256sum",
    KnownCommand("names", free="reads"): "ls du stat",
    KnownCommand(free="some"): "date printf",
    KnownCommand("reads", free="some"): "sort",
    KnownCommand("names", free="own"): "cd git",
    KnownCommand("names"): "pushd file",
    KnownCommand("reads"): (
        "awk gawk mawk rg less more bat batcat view uniq fold split xxd od hexdump strings base64 base32 jq yq tar zip"
        " gzip zcat source . scp"
    ),
    KnownCommand("changes"): "sed tee chmod chown truncate dd unlink shred",
    KnownCommand("changes", arranges=True): "rm rmdir touch mkdir",
    KnownCommand("brings", arranges=True): "cp mv",
    KnownCommand("brings"): "ln install rsync",
    KnownCommand(free="own", runs="command"): "find",
    KnownCommand(runs="command"): (
        "doas exec command builtin nohup time timeout nice stdbuf chroot unshare nsenter strace ltrace busybox npx chrt"
        " taskset function coproc hash toybox setpriv runuser pkexec prlimit fakeroot proot firejail bwrap valgrind"
        " perf rlwrap unbuffer catchsegv faketime numactl systemd-run xvfb-run start-stop-daemon run0 dbus-run-session"
        " setarch linux32 linux64 choom eatmydata ssh-agent gosu su-exec tini dumb-init runcon torsocks proxychains"
        " cgexec capsh chpst entr ld.so ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux.so.2 ld-musl-x86_64.so.1"
    ),
    KnownCommand(runs="command", needs_exact_rule=True): "ionice setsid flock",
    KnownCommand(runs="text"): (
        "sudo su env xargs script parallel eval trap alias mapfile readarray compgen complete bind tmux screen sg"
    ),
    KnownCommand(runs="text", needs_exact_rule=True): "watch",
    KnownCommand(runs="shell"): "bash sh zsh dash ksh ash mksh yash posh rbash fish csh tcsh at batch",
}
COMMANDS = {name: known for known, names in _TABLE.items() for name in names.split()}
UNKNOWN = KnownCommand()

#: what each option of a command must be for it to be free
FREE_OPTIONS = {
    "sort": re.compile(r"-[bdfghiMnrRsVuzcC]+|-k[\d.,bdfginrR]*|-t.?|--(?:reverse|unique|numeric-sort|version-sort)"),
    "date": re.compile(r"-u|--utc|-R|-I\w*|--iso-8601(?:=\w+)?|\+.*", re.DOTALL),
    "printf": re.compile(r"(?!-).*", re.DOTALL),
}
#: options of `find` that run commands, delete or write
FIND_ACTIONS = ("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf")
FREE_GIT = frozenset("status log diff show rev-parse ls-files blame describe shortlog".split())
GIT_WRITES = re.compile(r"--(?:ou|ext|textconv|open|exec|upload|receive|no-index|contents)|-o")
#: options of git itself that take the next word
GIT_PAIRED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--exec-path")
#: commands of git that run others
GIT_RUNS = frozenset("bisect submodule rebase filter-branch difftool mergetool config".split())
#: variables that do not change what a command does
HARMLESS_VARIABLE = re.compile(
    r"(?:LANG|LC_\w+|TZ|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|TERM|CI|NODE_ENV|PYTHONUNBUFFERED|RUST_BACKTRACE)=.*",
    re.DOTALL,
)
#: wrappers that do not change what runs: options that stand alone, options that take the next word, words of its own
WRAPPERS: dict[str, tuple[str, tuple[str, ...], int]] = {
    "timeout": (r"--(?:foreground|preserve-status|verbose)|-v|--(?:signal|kill-after)=\S+", ("-s", "-k"), 1),
    "time": (r"-p", (), 0),
    "nice": (r"-\d+|--adjustment=-?\d+", ("-n",), 0),
    "nohup": (r"(?!)", (), 0),
    "stdbuf": (r"-[ioe]\w+|--(?:input|output|error)=\w+", (), 0),
    "xargs": (r"(?!)", (), 0),
}


def find_command(path: str) -> KnownCommand:
    """What is known of a command, by the last name of its path."""
    return COMMANDS.get(path.rpartition("/")[2], UNKNOWN)
