"""A shell command line as values: its simple commands, their words, and where they read and write."""

from __future__ import annotations

from foretold.types import NamedTuple


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
