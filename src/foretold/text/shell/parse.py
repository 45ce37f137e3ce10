"""A shell command line as values: its words, its simple commands, and the files they are redirected to.

`read_command` finds every command that a line may run, to decide whether it may:

1. Commands are separated by `&&`, `||`, `;`, `|`, `&` and newlines. Those in groups, branches, loops and
   substitutions count too, wherever they are: `$(…)`, backquotes, `<(…)`, in double quotes, in here-documents.
2. A word is what the shell would pass on; it is not `known` if it depends on an expansion.
3. If it is not certain what runs, the line is `opaque`, with the reason: a command whose name is not known, an
   assignment for later commands, functions, `for`, `case`, `[[`, arithmetic, expansions other than `$name`, and
   anything that is not closed. Its parts are then a best effort: enough to refuse, never enough to allow.

`read_tokens` splits a line into words and operators without reading its expansions:

1. An expansion is skipped up to its first closing bracket, brace or backquote; a word that has one is not known.
2. Any `$` or backquote in double quotes makes the word unknown, even an escaped one. Braces are ordinary characters.
3. A line has no tokens at all if it has `|`, `<`, `>` or `&` (other than `&&`), white space other than blanks, tabs and
   newlines outside of quotes, a word that begins with `$'` or `$"`, or anything that is not closed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foretold.text.patterns import lazy
from foretold.types import NamedTuple

_BLANK = lazy(r"(?:[ \t]|\\\n)+")
_SPLICED = lazy(r"(?:\A|[^ \t])\\\n")
_REDIRECT = lazy(r"(?:\d+|\{\w+\})?(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\())")
_OPERATOR = lazy(r"&&|\|\||;;&|;;|;&|\|&|[;|&()\n]")
_SIMPLE_OPERATOR = lazy(r"&&|;;|[;\n()]")
_PLAIN = lazy(r"[^\s\\'\"$`;|&()<>*?\[\]{}~#=]+|[=~#\]]|[^\S \t\n]")
_NAME = lazy(r"\$(?:\w+|[*@#?$!-])")
_ESCAPE = lazy(r"\\(?:([0-7]{1,3})|[xuU]([0-9a-fA-F]{1,8})|(.))", re.DOTALL)
_BRACED = lazy(r"\$\{\w+\}")
_ASSIGNMENT = lazy(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
#: an expansion and a double-quoted text as `read_tokens` skips them
_SKIPPED = lazy(r"\$\{[^}]*\}|\$\w+|\$[?#@*!$-]|\$|`[^`]*`")
_QUOTED = lazy(r'"((?:[^"\\]|\\[\s\S])*)"')
#: words that open or close a construct, in place of a command's name
KEYWORDS = ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!")
UNREAD_KEYWORDS = ("for", "case", "esac", "select", "function", "coproc", "[[", "in")
MAX_DEPTH = 50
TOO_DEEP = "it is nested too deeply"
SPLICED = "a line is continued inside a word"


class Word(NamedTuple):
    """A word of a command."""

    text: str  #: without quotes, as far as it is known
    raw: str  #: as it is written
    known: bool = True
    globbed: bool = False  #: it has an unquoted `*`, `?` or `[`
    tilde: bool = False  #: it begins with an unquoted `~`


class Redirect(NamedTuple):
    """A file that a command reads from or writes to."""

    operator: str
    target: Word


class SimpleCommand(NamedTuple):
    """One command with its arguments."""

    words: tuple[Word, ...]
    assigned: tuple[Word, ...] = ()  #: assignments before it
    redirects: tuple[Redirect, ...] = ()

    @property
    def text(self) -> str:
        """Its words as they are written, separated by one space."""
        return " ".join(word.raw for word in self.words)


class CommandLine(NamedTuple):
    """A command line."""

    parts: tuple[SimpleCommand, ...]
    opaque: str = ""  #: why it is not certain what runs
    fed: tuple[str, ...] = ()  #: here-documents and here-strings, which a command may read
    doubts: tuple[str, ...] = ()  #: all reasons why it is not certain what runs; `opaque` is the first


def read_command(text: str) -> CommandLine:
    """The commands of a line."""
    reader = _Reader(text)
    if _SPLICED.search(text):  # the shell joins the two lines before it reads them: `$\\`, newline, `(`
        reader.mark_opaque(SPLICED)
    try:
        reader.commands(until="")
    except RecursionError:
        reader.doubts.insert(0, TOO_DEEP)
    return CommandLine(tuple(reader.parts), reader.opaque, tuple(reader.fed), tuple(reader.doubts))


def read_tokens(text: str) -> list[Word | str]:
    """The words of a line, and its operators as plain strings; empty if it has anything else."""
    found: list[Word | str] = []
    if re.search(r"[|<>]", text):
        return found
    reader = _Reader(text, skips_expansions=True)
    while reader.at < len(text):
        if blank := _BLANK.match(text, reader.at):
            reader.at = blank.end()
        elif text[reader.at] == "#":
            reader.at = reader.line_end()
        elif operator := _SIMPLE_OPERATOR.match(text, reader.at):
            reader.at = operator.end()
            found.append(operator[0])
        elif text[reader.at] == "&" or text.startswith(("$'", '$"'), reader.at):
            return []
        else:
            found.append(reader.word())
            if reader.opaque:
                return []
    return found


def last_words(command: str) -> Sequence[str]:
    """The words of the command whose exit status is that of the line."""
    parts = read_command(command).parts
    return [word.text for word in parts[-1].words] if parts else []


class _Reader:
    """Reads a command line from left to right."""

    def __init__(self, text: str, depth: int = 0, *, skips_expansions: bool = False) -> None:
        self.text, self.at, self.depth = text, 0, depth
        self.skips_expansions = skips_expansions
        self.parts: list[SimpleCommand] = []
        self.fed: list[str] = []
        self.doubts: list[str] = [] if depth < MAX_DEPTH else [TOO_DEEP]
        self._documents: list[tuple[str, bool, bool]] = []

    @property
    def opaque(self) -> str:
        return self.doubts[0] if self.doubts else ""

    def mark_opaque(self, *why: str) -> None:
        self.doubts += [each for each in why if each not in self.doubts]

    def commands(self, until: str) -> None:
        """Read up to a closing bracket, or to the end."""
        words: list[Word] = []
        redirects: list[Redirect] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if blank := _BLANK.match(self.text, self.at):
                self.at = blank.end()
            elif char == "#":
                self.at = self.line_end()
            elif redirect := _REDIRECT.match(self.text, self.at):
                self._redirect(redirect[0], redirects, redirect.end())
            elif operator := _OPERATOR.match(self.text, self.at):
                self.at = operator.end()
                self._flush(words, redirects, operator[0])
                if operator[0] == ")" and until == ")":
                    return
                if operator[0] == "(":
                    self.commands(until=")")
                elif operator[0] == ")":
                    self.mark_opaque("a bracket is closed that was not opened")
                elif operator[0] == "\n":
                    self._read_documents()
            else:
                words.append(self.word())
        self._flush(words, redirects, "")
        if until or self._documents:
            self.mark_opaque("a bracket or a here-document is not closed")

    def _flush(self, words: list[Word], redirects: list[Redirect], operator: str) -> None:
        """End a simple command."""
        if operator == "(" and words:
            self.mark_opaque("it defines a function")
        while words and words[0].raw in KEYWORDS:
            del words[0]
        if words and words[0].raw in UNREAD_KEYWORDS:
            self.mark_opaque(f"it is not certain what `{words[0].raw}` runs")
        first = next((at for at, word in enumerate(words) if not _ASSIGNMENT.match(word.raw)), len(words))
        name = words[first] if first < len(words) else None
        if name is None and words:
            self.mark_opaque("it sets a variable for later commands")
        elif name is not None and (not name.known or name.globbed or name.tilde):
            self.mark_opaque("the name of a command depends on an expansion")
        if words or redirects:
            self.parts.append(SimpleCommand(tuple(words[first:]), tuple(words[:first]), tuple(redirects)))
        words.clear()
        redirects.clear()

    def _redirect(self, operator: str, redirects: list[Redirect], end: int) -> None:
        self.at = end
        kind = operator.lstrip("0123456789") if operator[0] != "{" else operator[operator.index("}") + 1 :]
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
        if self.at >= len(self.text) or self.text[self.at] in "\n;|&()" or _REDIRECT.match(self.text, self.at):
            self.mark_opaque("a redirection has no target")
            return
        target = self.word()
        if kind in ("<<", "<<-"):
            quoted = target.raw != target.text
            self._documents.append((target.text, kind == "<<-", quoted))
            if not target.known:
                self.mark_opaque("the delimiter of a here-document depends on an expansion")
        elif kind == "<<<":
            self.fed.append(target.text)
        else:
            redirects.append(Redirect(kind, target))

    def _read_documents(self) -> None:
        """Read the here-documents that begin after this line."""
        for delimiter, tabs, quoted in self._documents:
            body: list[str] = []
            while self.at < len(self.text):
                end = self.line_end()
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
                body.append(line)
            else:
                self.mark_opaque("a here-document is not closed")
            self.fed.append("\n".join(body))
            if not quoted:
                self._read_inner("\n".join(body) + "\n", is_quoted=True)
        self._documents.clear()

    def line_end(self) -> int:
        """Where the line ends."""
        end = self.text.find("\n", self.at)
        return end if end >= 0 else len(self.text)

    def word(self) -> Word:
        """Read a word."""
        start, text = self.at, ""
        known, globbed = True, False
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\n;|&()" or (char in "<>" and self.text[self.at + 1 : self.at + 2] != "("):
                break
            if char in "$`<>":
                text, known = text + self._expansion(), False
            elif char in "'\"":
                inside, is_known = (self._single(), True) if char == "'" else self._double()
                text, known = text + inside, known and is_known
            elif char == "\\":
                text += self._escaped()
            elif char in "*?[{}":
                is_brace = char in "{}"
                text, globbed = text + char, globbed or not is_brace
                known = known and (not is_brace or self.skips_expansions)
                self.at += 1
            else:
                text += self._plain(char)
        raw = self.text[start : self.at]
        return Word(text, raw, known or raw in ("{", "}"), globbed, self.text[start] == "~")

    def _plain(self, char: str) -> str:
        if self.skips_expansions and char.isspace():
            self.mark_opaque("it has unusual white space")
        plain = _PLAIN.match(self.text, self.at)
        self.at = plain.end() if plain else self.at + 1
        return plain[0] if plain else char

    def _escaped(self) -> str:
        if self.skips_expansions and self.at + 1 == len(self.text):
            self.mark_opaque("the line ends with a backslash")
        self.at += 2
        return self.text[self.at - 1 : self.at].replace("\n", "")

    def _single(self) -> str:
        """The text in single quotes."""
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.mark_opaque("a quote is not closed")
            end = len(self.text)
        start, self.at = self.at + 1, end + 1
        return self.text[start:end]

    def _double(self) -> tuple[str, bool]:
        """The text in double quotes, and whether it is known."""
        if self.skips_expansions and (quoted := _QUOTED.match(self.text, self.at)):
            self.at = quoted.end()
            return re.sub(r'\\([$`"\\])', r"\1", quoted[1]), not re.search(r"[$`]", quoted[1])
        self.at += 1
        text, known = "", True
        while self.at < len(self.text) and self.text[self.at] != '"':
            char = self.text[self.at]
            if char in "$`" and self._begins_expansion():
                self._expansion(in_quotes=True)
                known = False
            elif char == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                text += "" if escaped == "\n" else escaped if escaped in '"\\$`' else "\\" + escaped
                self.at += 2
            else:
                text += char
                self.at += 1
        if self.at >= len(self.text):
            self.mark_opaque("a quote is not closed")
        self.at += 1
        return text, known

    def _begins_expansion(self) -> bool:
        following = self.text[self.at + 1 : self.at + 2]
        return self.text[self.at] == "`" or following in ("(", "{", "[") or bool(_NAME.match(self.text, self.at))

    def _expansion(self, *, in_quotes: bool = False) -> str:
        """Read what begins with `$`, a backquote, `<(` or `>(`; the text of `$'…'`, else nothing."""
        rest = self.text[self.at : self.at + 3]
        if self.skips_expansions:
            self._skip_expansion()
        elif rest[0] == "`":
            self._backquoted(in_quotes=in_quotes)
        elif rest == "$((" or rest[:2] == "$[":
            self.mark_opaque("the value of arithmetic is not known")
            self.at = self._read_inner(self.text, self.at + 2, until=")")
        elif rest[0] in "<>" or rest[:2] == "$(":
            self.at = self._read_inner(self.text, self.at + 2, until=")")
        elif rest[:2] == "${":
            self._braced()
        elif rest[:2] == "$'" and not in_quotes:
            return _ESCAPE.sub(_decode_escape, self._up_to("'", 2, "a quote is not closed"))
        elif rest[:2] == '$"' and not in_quotes:
            self.at += 1
        else:
            name = _NAME.match(self.text, self.at)
            self.at = name.end() if name else self.at + 1
        return ""

    def _skip_expansion(self) -> None:
        """Go to the end of an expansion, whatever it holds."""
        if self.text.startswith("$(", self.at):
            self.at, depth = self.at + 2, 1
            while depth and self.at < len(self.text):
                depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
                self.at += 1
            if depth:
                self.mark_opaque("a bracket is not closed")
        elif skipped := _SKIPPED.match(self.text, self.at):
            self.at = skipped.end()
        else:
            self.mark_opaque("a backquote is not closed")
            self.at = len(self.text)

    def _backquoted(self, *, in_quotes: bool) -> None:
        text = self._up_to("`", 1, "a backquote is not closed")
        self._read_inner(re.sub(r'\\([`\\$"])' if in_quotes else r"\\([`\\$])", r"\1", text))

    def _up_to(self, mark: str, opening: int, open_: str) -> str:
        """The text between an opening of this length and a mark that is not escaped; `open_` if there is none."""
        start = self.at = self.at + opening
        while self.at < len(self.text) and self.text[self.at] != mark:
            self.at += 2 if self.text[self.at] == "\\" else 1
        if self.at >= len(self.text):
            self.mark_opaque(open_)
        self.at += 1
        return self.text[start : self.at - 1]

    def _read_inner(self, text: str, at: int = 0, *, until: str = "", is_quoted: bool = False) -> int:
        """Read a command within this one; or, as in double quotes, only the expansions of a text. Where it ends."""
        inner = _Reader(text, self.depth + 1)
        inner.at = at
        if not is_quoted:
            inner.commands(until)
        while is_quoted and inner.at < len(text):
            if text[inner.at] in "$`" and inner._begins_expansion():
                inner._expansion(in_quotes=True)
            else:
                inner.at += 2 if text[inner.at] == "\\" else 1
        self.parts += inner.parts
        self.fed += inner.fed
        self.mark_opaque(*inner.doubts)
        return inner.at

    def _braced(self) -> None:
        """`${name}`; anything more is opaque."""
        plain = _BRACED.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            return
        self.mark_opaque("an expansion does more than give a variable")
        self.at += 2
        while self.at < len(self.text) and self.text[self.at] != "}":
            if self.text[self.at] in "$`":
                self._expansion(in_quotes=True)
            else:
                self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1


def _decode_escape(found: re.Match[str]) -> str:
    """The character that an escape in `$'…'` most likely represents."""
    octal, hexadecimal, other = found.groups()
    if other is not None:
        return dict(zip("abefnrtv", "\a\b\33\f\n\r\t\v", strict=True)).get(other, other)
    code = int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)
    return chr(code) if code < 0x110000 else ""
