"""The parts of a conversation, each made from what a harness is given: instructions, memory, files, hands."""

from __future__ import annotations

import os

from foretold.dialects.claude_code.file_history import form_of
from foretold.errors import ForetoldError
from foretold.files.history.history import FileHistory
from foretold.files.read_state.state import ReadState
from foretold.instructions.session import Session
from foretold.sessions.formats.claude.reader import config_folder
from foretold.types import TYPE_CHECKING, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from foretold.harness.harness import Harness
    from foretold.harness.options import Given
    from foretold.harness.tools.base import Hands
    from foretold.memory.project import Memories

#: the version of the rules for reading and editing, unless one is asked for: it never changes a file unread
CAREFUL = "2.1.197"


def instructions_of(given: Given) -> Session:
    """What the conversation is told."""
    return Session(
        given.cwd,
        agent=given.agent,
        home=given.home_folder,
        managed=given.managed,
        env=given.told_env,
        model=given.model.name,
        now=given.today(),
    )


def state_of(given: Given) -> ReadState:
    """What the model knows of files: nothing yet."""
    version = asked_version(given.agent)
    return ReadState(given.cwd, version=version, model=given.model.name, home=given.home_folder, clock=given.clock)


def asked_version(agent: str) -> str:
    """The version in an agent's name, else the careful one.

    >>> asked_version("claude-code"), asked_version("claude-code@2.1.325")
    ('2.1.197', '2.1.325')
    """
    return agent.partition("@")[2] or CAREFUL


def memory_of(given: Given, agent: str, find: Callable[[Finding], None]) -> Memories | None:
    """The memories of the project; None, and a finding with the reason, if they are off."""
    if not isinstance(given.memory, bool):
        return given.memory
    if not given.memory:
        return None
    from foretold.memory.project import open as open_memories

    try:
        found = open_memories(given.cwd, agent=agent, home=given.home_folder, managed=given.managed, env=given.environ)
    except ForetoldError as error:
        find(Finding(given.cwd, None, "memory-off", f"there is no memory here: {error}"))
        return None
    for finding in found.place.findings:
        find(finding)
    if found.place.off:
        find(Finding(found.place.store, None, "memory-off", f"memory is switched off: {found.place.off}"))
        return None
    return found


def history_of(harness: Harness, records: Iterable[Mapping[str, object]] = ()) -> FileHistory:
    """What files were before the conversation changed them."""
    given = harness.given
    folder = os.path.join(config_folder(given.homes), "file-history")
    form = form_of(harness.version)
    return FileHistory(folder, harness.session, given.cwd, form=form, records=records, clock=given.clock)


def hands_of(harness: Harness) -> Hands:
    """What tools work with, with the permissions that were given, else those of the settings, in the mode given."""
    from foretold.harness.permissions.check import Permission
    from foretold.harness.tools.base import Hands

    given = harness.given
    memory = harness.memory.place.store if harness.memory else ""
    permission = given.permission
    if permission is None or isinstance(permission, str):
        permission = Permission.load(
            given.cwd,
            home=given.home_folder,
            env=given.environ,
            managed=given.managed or "",
            mode=permission or "",
            memory=memory,
        )
    return Hands(
        given.cwd,
        state=harness.state,
        permission=permission,
        env=given.environ,
        home=given.home_folder,
        before_edit=harness.before_edit,
        ask=given.ask,
    )
