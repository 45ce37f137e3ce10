"""A shell command line as values: its simple commands, their words, and where they read and write.

The simple commands of a shell command line, for deciding whether each of them may run.

1. All of them are found: between `&&`, `||`, `;`, `|`, `&` and newlines, in groups, branches and loops, and in
   substitutions, wherever they stand: `$(…)`, backquotes, `<(…)`, in double quotes, in here-documents.
2. A word is what the shell would pass on; it is not `known` if it depends on an expansion.
3. Where reading is not enough to know what runs, the line is `opaque`, with the reason: a command whose name is not
   known, an assignment for what follows, functions, `for`, `case`, `[[`, arithmetic, expansions beyond `$name`, and
   whatever is not closed. Its parts are then as good as can be told: enough to refuse, never enough to allow.
"""

from __future__ import annotations

import re

from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Word(NamedTuple):
    """A word of a command."""

    text: str  #: without quotes, as far as it is known
    raw: str  #: as it is written
    known: bool = True
    globbed: bool = False  #: it has `*`, `?` or `[` that is not quoted
    tilde: bool = False  #: it begins with a `~` that is not quoted


class Redirect(NamedTuple):
    """Where something is read from or written to."""

    operator: str
    target: Word


class Part(NamedTuple):
    """A simple command."""

    words: tuple[Word, ...]
    assigned: tuple[Word, ...] = ()  #: assignments before it
    redirects: tuple[Redirect, ...] = ()

    @property
    def text(self) -> str:
        """Its words as they are written, one space between them."""
        return " ".join(word.raw for word in self.words)


class CommandLine(NamedTuple):
    """A command line."""

    parts: tuple[Part, ...]
    opaque: str = ""  #: why it is not known what runs
    fed: tuple[str, ...] = ()  #: here-documents and here-strings, which a command may read


_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
_SPLICED = re.compile(r"(?:\A|[^ \t])\\\n")
_REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\())")
_OPERATOR = re.compile(r"&&|\|\||;;&|;;|;&|\|&|[;|&()\n]")
_PLAIN = re.compile(r"[^\s\\'\"$`;|&()<>*?\[\]{}~#=]+|[=~#\]]|[^\S \t\n]")
_NAME = re.compile(r"\$(?:\w+|[*@#?$!-])")
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|[xuU]([0-9a-fA-F]{1,8})|(.))", re.DOTALL)
_BRACED = re.compile(r"\$\{\w+\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
#: words that begin or end something, at the place of a command's name
NOISE = ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!")
BEYOND = ("for", "case", "esac", "select", "function", "coproc", "[[", "in")


def read_command(text: str) -> CommandLine:
    """The parts of a command line.

    >>> [part.text for part in read_command("cd a && ls | wc -l > n; echo $(date)").parts]
    ['cd a', 'ls', 'wc -l', 'date', 'echo $(date)']
    >>> read_command("$x y").opaque
    'the name of a command depends on an expansion'
    """
    reader = _Reader(text)
    if _SPLICED.search(text):  # the shell joins the two sides before it reads them: `$\\`, newline, `(`
        reader.wonder("a line is continued inside a word")
    try:
        reader.commands(until="")
    except RecursionError:
        reader.opaque = "it is nested too deep"
    return CommandLine(tuple(reader.parts), reader.opaque, tuple(reader.fed))


def last_words(command: str) -> Sequence[str]:
    """The words of the command whose status is that of the line.

    >>> last_words("cd a; grep x y")
    ['grep', 'x', 'y']
    """
    parts = read_command(command).parts
    return [word.text for word in parts[-1].words] if parts else []


class _Reader:
    """Reads a command line from left to right."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text, self.at, self.depth = text, 0, depth
        self.parts: list[Part] = []
        self.fed: list[str] = []
        self.opaque = "" if depth < 50 else "it is nested too deep"
        self._documents: list[tuple[str, bool, bool]] = []

    def wonder(self, why: str) -> None:
        self.opaque = self.opaque or why

    def commands(self, until: str) -> None:
        """Read up to a closing bracket, or to the end."""
        words: list[Word] = []
        redirects: list[Redirect] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if blank := _BLANK.match(self.text, self.at):
                self.at = blank.end()
            elif char == "#":
                self.at = self._line_end()
            elif redirect := _REDIRECT.match(self.text, self.at):
                self._redirect(redirect[0], redirects, redirect.end())
            elif operator := _OPERATOR.match(self.text, self.at):
                self.at = operator.end()
                self._flush(words, redirects, operator[0])
                if operator[0] == ")" and until == ")":
                    return
                self._operator(operator[0])
            else:
                words.append(self.word())
        self._flush(words, redirects, "")
        if until or self._documents:
            self.wonder("a bracket or a here-document is not closed")

    def _operator(self, operator: str) -> None:
        if operator == "(":
            self.commands(until=")")
        elif operator == ")":
            self.wonder("a bracket is closed that was not opened")
        elif operator == "\n":
            self._read_documents()

    def _flush(self, words: list[Word], redirects: list[Redirect], operator: str) -> None:
        """The end of a simple command."""
        if operator == "(" and words:
            self.wonder("it defines a function")
        while words and words[0].raw in NOISE:
            del words[0]
        if words and words[0].raw in BEYOND:
            self.wonder(f"what `{words[0].raw}` runs cannot be told")
        first = next((at for at, word in enumerate(words) if not _ASSIGNMENT.match(word.raw)), len(words))
        name = words[first] if first < len(words) else None
        if name is None and words:
            self.wonder("it sets a variable for what follows")
        elif name is not None and (not name.known or name.globbed or name.tilde):
            self.wonder("the name of a command depends on an expansion")
        if words or redirects:
            self.parts.append(Part(tuple(words[first:]), tuple(words[:first]), tuple(redirects)))
        words.clear()
        redirects.clear()

    def _redirect(self, operator: str, redirects: list[Redirect], end: int) -> None:
        self.at = end
        kind = operator.lstrip("0123456789") if operator[0] != "{" else operator[operator.index("}") + 1 :]
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
        if self.at >= len(self.text) or self.text[self.at] in "\n;|&()" or _REDIRECT.match(self.text, self.at):
            self.wonder("a redirection leads nowhere")
            return
        target = self.word()
        if kind in ("<<", "<<-"):
            quoted = target.raw != target.text
            self._documents.append((target.text, kind == "<<-", quoted))
            if not target.known:
                self.wonder("a here-document ends at what an expansion gives")
        elif kind == "<<<":
            self.fed.append(target.text)
        else:
            redirects.append(Redirect(kind, target))

    def _read_documents(self) -> None:
        """The here-documents that begin behind a line."""
        for delimiter, tabs, quoted in self._documents:
            body: list[str] = []
            while self.at < len(self.text):
                end = self._line_end()
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
                body.append(line)
            else:
                self.wonder("a here-document is not closed")
            self.fed.append("\n".join(body))
            if not quoted:
                self._nested("\n".join(body) + "\n", is_quoted=True)
        self._documents.clear()

    def _line_end(self) -> int:
        end = self.text.find("\n", self.at)
        return end if end >= 0 else len(self.text)

    def word(self) -> Word:
        """Read a word."""
        start, text = self.at, ""
        known, globbed = True, False
        tilde = self.text[start] == "~"
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t\n;|&()" or (char in "<>" and self.text[self.at + 1 : self.at + 2] != "("):
                break
            if char in "<>":
                self._bracketed(2)
                known = False
            elif self.text.startswith("$'", self.at):
                text, known = text + self._ansi(), False
            elif char in "$`":
                known = self._expansion() and known
            elif char == "'":
                text += self._single()
            elif char == '"':
                inside, is_known = self._double()
                text, known = text + inside, known and is_known
            elif char == "\\":
                text += self.text[self.at + 1 : self.at + 2].replace("\n", "")
                self.at += 2
            elif char in "*?[{}":
                text, globbed, known = text + char, globbed or char in "*?[", known and char not in "{}"
                self.at += 1
            else:
                plain = _PLAIN.match(self.text, self.at)
                text += plain[0] if plain else char
                self.at = plain.end() if plain else self.at + 1
        raw = self.text[start : self.at]
        return Word(text, raw, known or raw in ("{", "}"), globbed, tilde)

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.wonder("a quote is not closed")
            end = len(self.text)
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def _double(self) -> tuple[str, bool]:
        """What is in double quotes, and whether it is known."""
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
            self.wonder("a quote is not closed")
        self.at += 1
        return text, known

    def _begins_expansion(self) -> bool:
        following = self.text[self.at + 1 : self.at + 2]
        return self.text[self.at] == "`" or following in ("(", "{", "[") or bool(_NAME.match(self.text, self.at))

    def _expansion(self, *, in_quotes: bool = False) -> bool:
        """Read what begins with `$` or a backquote; whether it stands for itself."""
        rest = self.text[self.at : self.at + 3]
        if rest[0] == "`":
            self._backquoted(in_quotes=in_quotes)
        elif rest == "$((" or rest[:2] == "$[":
            self.wonder("what arithmetic gives cannot be told")
            self._bracketed(2)
        elif rest[:2] == "$(":
            self._bracketed(2)
        elif rest[:2] == "${":
            self._braced()
        elif rest[:2] == '$"' and not in_quotes:
            self.at += 1
        elif name := _NAME.match(self.text, self.at):
            self.at = name.end()
        else:
            self.at += 1
            return False
        return False

    def _bracketed(self, opening: int) -> None:
        """A command in round brackets."""
        inner = _Reader(self.text, self.depth + 1)
        inner.at = self.at + opening
        inner.commands(until=")")
        self.at = inner.at
        self.parts += inner.parts
        self.fed += inner.fed
        self.wonder(inner.opaque)

    def _backquoted(self, *, in_quotes: bool) -> None:
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            self.wonder("a backquote is not closed")
        inner = re.sub(r'\\([`\\$"])' if in_quotes else r"\\([`\\$])", r"\1", self.text[self.at + 1 : end])
        self.at = end + 1
        self._nested(inner, is_quoted=False)

    def _nested(self, text: str, *, is_quoted: bool) -> None:
        """A text of its own: a command, or what stands as in double quotes."""
        inner = _Reader(text, self.depth + 1)
        if is_quoted:
            while inner.at < len(text):
                if text[inner.at] in "$`" and inner._begins_expansion():
                    inner._expansion(in_quotes=True)
                else:
                    inner.at += 2 if text[inner.at] == "\\" else 1
        else:
            inner.commands(until="")
        self.parts += inner.parts
        self.fed += inner.fed
        self.wonder(inner.opaque)

    def _braced(self) -> None:
        """`${name}`; of anything more, it is not told what it does."""
        plain = _BRACED.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            return
        self.wonder("an expansion does more than give a variable")
        self.at += 2
        while self.at < len(self.text) and self.text[self.at] != "}":
            if self.text[self.at] in "$`":
                self._expansion(in_quotes=True)
            else:
                self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1

    def _ansi(self) -> str:
        """`$'…'`, of which it is told what it most likely is."""
        self.at += 2
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += 2 if self.text[self.at] == "\\" else 1
        if self.at >= len(self.text):
            self.wonder("a quote is not closed")
        self.at += 1
        return _ESCAPE.sub(_escaped, self.text[start : self.at - 1])


def _escaped(found: re.Match[str]) -> str:
    """The character that an escape stands for."""
    octal, hexadecimal, other = found.groups()
    if other is not None:
        return dict(zip("abefnrtv", "\a\b\33\f\n\r\t\v", strict=True)).get(other, other)
    code = int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)
    return chr(code) if code < 0x110000 else ""
