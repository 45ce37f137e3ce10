"""The shell commands that Claude Code takes for reading a file, with the options that it accepts for each.

Found by asking the agent about several hundred forms. # claude-code@2.1.325: n325-bash-*, nest-bash
"""

from __future__ import annotations

#: commands that only print; any other command makes the whole line opaque
PRINTS = ("true", "echo", "printf")
GREPS = ("grep", "egrep", "fgrep", "rg")
#: command -> its options that take no further word
OPTIONS = {
    "cat": r"-n|--number",
    "head": r"-n?0*[1-9]\d*|--lines=0*[1-9]\d*",
    "tail": r"-n?0*[1-9]\d*|--lines=0*[1-9]\d*",
    "nl": r"(?!)",
    "sed": r"-[nErsuz]+e?|-l\d+|--(?:quiet|silent|posix|debug|line-length=\d+|null-data|regexp-extended|separate"
    r"|unbuffered)|--",
    "grep": r"-[niEFGPwxHh]+|-[ABC]\d+|--(?:line-number|ignore-case|extended-regexp|fixed-strings|basic-regexp"
    r"|perl-regexp|word-regexp|line-regexp|with-filename|no-filename|color=(?:never|auto)|(?:after-|before-)?context=\d+)",
    "rg": r"-[niFPwxHsNSU]+|-[ABC]\d+|--(?:line-number|no-line-number|ignore-case|smart-case|fixed-strings|word-regexp"
    r"|line-regexp|with-filename|no-filename|multiline|(?:after-|before-)?context=\d+)",
}
#: command -> its options whose next word is a number
NUMBER_OPTIONS = {
    "head": ("-n", "--lines"),
    "tail": ("-n", "--lines"),
    "grep": ("-A", "-B", "-C"),
    "rg": ("-A", "-B", "-C", "--context"),
}
DEFAULT_LINES = 10  #: lines that head and tail show
