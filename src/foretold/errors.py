"""The exception tree. Exceptions are for the caller's mistakes and the machine's failures.

    ForetoldError                 exit 3
      UnknownAgent                exit 2   no dialect has this name
      BadCase                     exit 2   a conformance file is not what it should be
      NotAFolder                  exit 2   the folder to look at is not there
      ProbeFailed                 exit 3   the agent on this machine could not be asked
      StoreFailed                 exit 3   the disk refused; nothing was changed
        NotSynced                 exit 3   it was changed, but the disk did not confirm it, or the index does not follow
      MemoryChanged               exit 3   another program changed the memory meanwhile
      MemoryExists                exit 2   a memory has this name already
      NoSuchMemory                exit 2   no memory has this name
      BadName                     exit 2   a memory cannot have this name
      WriteRefused                exit 3   the write policy, or a secret in the text, forbids it
      NoSuchSession               exit 2   no session has this id, name or path
      SessionFailed               exit 3   a session cannot be read, or its file was changed meanwhile
      NoCheckpoint                exit 2   there is no state of the files at this point
        NoFileHistory             exit 1   no session has changed the file
      RestoreRefused              exit 3   a file cannot be restored; nothing was changed
      RestoreStopped              exit 3   some files are restored and others are not; backups are kept
      ModelFailed                 exit 3   a model did not answer
      UnknownModel                exit 2   no vendor has this name
      ExtraMissing                exit 2   a package is not installed that only this part needs
      SettingsRefused             exit 3   a settings file of an agent cannot be changed safely; nothing was changed
      BadArgument                 exit 2   a tool was called with an argument that it cannot use
      BadSettings                 exit 2   settings of `foretold check`, or a baseline, cannot be understood

What a user wrote badly in an instruction file never raises: it is a skip or a finding of the view.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class ForetoldError(Exception):
    """The root of all errors that foretold raises on purpose."""

    exit_code = 3


def unknown_keyword(name: str, known: Iterable[str]) -> TypeError:
    """The error of a call with a keyword that it does not take: Python's own kind, with what may have been meant.

    >>> unknown_keyword("approv", ["approve", "home"])
    TypeError("unknown keyword 'approv', did you mean 'approve'?")
    >>> unknown_keyword("bogus", ["home", "approve"])
    TypeError("unknown keyword 'bogus'; it can be approve, home")
    """
    import difflib

    known = sorted(known)
    near = difflib.get_close_matches(name, known, 1)
    said = f", did you mean {near[0]!r}?" if near else f"; it can be {', '.join(known)}"
    return TypeError(f"unknown keyword {name!r}{said}")


class UnknownAgent(ForetoldError):
    exit_code = 2


class BadCase(ForetoldError):
    exit_code = 2


class NotAFolder(ForetoldError):
    exit_code = 2


class ProbeFailed(ForetoldError):
    """`details` has the facts of a run that failed, for `--json`."""

    def __init__(self, text: str, details: dict[str, object] | None = None) -> None:
        super().__init__(text)
        self.details = details or {}


class StoreFailed(ForetoldError):
    pass


class NotSynced(StoreFailed):
    pass


class MemoryChanged(ForetoldError):
    pass


class MemoryExists(ForetoldError):
    exit_code = 2


class NoSuchMemory(ForetoldError):
    exit_code = 2


class BadName(ForetoldError):
    exit_code = 2


class WriteRefused(ForetoldError):
    pass


class ConsentNeeded(WriteRefused):
    pass


class NoSuchSession(ForetoldError):
    exit_code = 2


class SessionFailed(ForetoldError):
    pass


class NoCheckpoint(ForetoldError):
    exit_code = 2


class NoFileHistory(NoCheckpoint):
    exit_code = 1


class RestoreRefused(ForetoldError):
    pass


class RestoreStopped(ForetoldError):
    pass


class ModelFailed(ForetoldError):
    pass


class UnknownModel(ForetoldError):
    exit_code = 2


class ExtraMissing(ForetoldError):
    exit_code = 2


class SettingsRefused(ForetoldError):
    pass


class BadArgument(ForetoldError):
    exit_code = 2


class BadSettings(ForetoldError):
    exit_code = 2
