"""The exception tree. Exceptions are for the caller's mistakes and the machine's failures.

    HeadnoteError                 exit 3
      UnknownAgent                exit 2   no dialect has this name
      BadCase                     exit 2   a conformance file is not what it should be
      NotAFolder                  exit 2   the folder to look at is not there
      ProbeFailed                 exit 3   the agent on this machine could not be asked

What a user wrote badly in an instruction file never raises: it is a skip or a finding of the view.
"""

from __future__ import annotations


class HeadnoteError(Exception):
    """The root of all errors that headnote raises on purpose."""

    exit_code = 3


class UnknownAgent(HeadnoteError):
    exit_code = 2


class BadCase(HeadnoteError):
    exit_code = 2


class NotAFolder(HeadnoteError):
    exit_code = 2


class ProbeFailed(HeadnoteError):
    pass
