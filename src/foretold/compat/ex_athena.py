"""ExAthena's project memory: `from foretold.compat.ex_athena import discover`.

Messages are dictionaries of `role`, `name` and `content`, as a chat interface takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, Unpack

from foretold.compat.engine import Folder, Places, answer, question, refuse_unknown, several
from foretold.context.compaction.compactor import Compacted, Compactor
from foretold.dialects.seeds.ex_athena import NAMES, V1, plan
from foretold.errors import ForetoldError
from foretold.instructions.inject import TAG, is_tagged, pinned_prefix, position
from foretold.instructions.view import View

__all__ = [
    "SummaryCompactor",
    "discover",
    "is_memory_message",
    "memory_message",
    "pinned_count",
    "pinned_prefix",
    "run_messages",
    "view",
]

Message = Mapping[str, object]
OWN = ("cwd", "user_dir", "filenames")  #: what all functions that look for memory take


def discover(
    cwd: Folder = ".",
    user_dir: Folder | None = None,
    filenames: Iterable[Folder] | None = None,
    **options: Unpack[Places],
) -> list[Message]:
    """The memory of a folder, one message a file: the user's, the project's, the local one.

    `filenames` are tried in turn for the first two; the first that has text is used for its level.

    >>> discover("/", user_dir="/nowhere")
    []
    """
    slots = view(cwd, user_dir, filenames, **options).slots
    return [{"role": block.role, "name": TAG, "content": block.text} for _, block in slots]


def is_memory_message(message: object) -> bool:
    """Whether a message is of the user and bears the name `memory`.

    >>> is_memory_message({"role": "user", "name": "memory", "content": "x"}), is_memory_message("memory")
    (True, False)
    """
    return is_tagged(message)


memory_message = is_memory_message  #: the documented name, without its question mark


def pinned_count(messages: Iterable[object]) -> int:
    """How many memory messages there are, anywhere; `pinned_prefix` counts those at the front.

    >>> pinned_count([{"role": "user", "content": "hi"}, {"role": "user", "name": "memory", "content": "x"}])
    1
    """
    return sum(1 for message in messages if is_tagged(message))


def run_messages(
    messages: Sequence[Message],
    cwd: Folder = ".",
    *,
    memory: Literal["auto", "off"] | bool | Iterable[Message | str] | None = "auto",
    user_dir: Folder | None = None,
    filenames: Iterable[Folder] | None = None,
    **options: Unpack[Places],
) -> list[Message]:
    """The messages of a run, with its memory before the conversation, after leading system messages.

    `memory` is `auto` (discover it), `off`, or a list of messages or texts. Existing memory is replaced;
    `off` leaves the list as it is.

    >>> run_messages([{"role": "user", "content": "hi"}], memory=["Use tabs."])[0]
    {'role': 'user', 'name': 'memory', 'content': 'Use tabs.'}
    """
    refuse_unknown(options, Places, "memory", *OWN)
    if memory in ("off", False):
        return list(messages)
    if memory in ("auto", True, None):
        found = discover(cwd, user_dir, filenames, **options)
    elif isinstance(memory, str | bool | Mapping) or memory is None:
        raise ForetoldError(f"memory is {memory!r}; it can be 'auto', 'off' or a list of messages")
    else:
        found = [_tag_message(each) for each in memory]
    others = [message for message in messages if not is_tagged(message)]
    at = position(others, "after-system")
    return [*others[:at], *found, *others[at:]]


class SummaryCompactor:
    """The compactor of ExAthena: it keeps the pinned prefix and the last 6 messages, from 0.6 of the window on.

    Pinned are, from the front, as many messages as there are of memory, and `pinned_prefix_count` (1), and preloaded
    skills. Memory is counted at the front, and not wherever a message has its name.

    >>> talk = [{"role": "user", "content": "word " * 50} for _ in range(12)]
    >>> done = SummaryCompactor(lambda messages: "Talk.", context_window=800).compact(talk)
    >>> done.pinned, done.kept, done.dropped
    ((0,), (6, 7, 8, 9, 10, 11), (1, 2, 3, 4, 5))
    """

    def __init__(
        self,
        summarise: Callable[[list[Message]], str],
        *,
        context_window: int,
        compact_at: float = 0.6,
        keep_recent: int = 6,
        pinned_prefix_count: int = 1,
        preloaded_skill_count: int = 0,
        memory_count: int | None = None,
    ) -> None:
        self._compactor = Compactor(summarise, window=context_window, at=compact_at, keep=keep_recent)
        self._others = pinned_prefix_count + preloaded_skill_count
        self._memory_count = memory_count

    def pinned(self, messages: Sequence[Message]) -> int:
        """How many messages at the front are kept."""
        front = pinned_prefix(messages)
        memory = pinned_count(messages[:front]) if self._memory_count is None else self._memory_count
        return max(front, memory + self._others)

    def compact(self, messages: Sequence[Message], *, force: bool = False) -> Compacted:
        """Compact a conversation; `reason` says why nothing was done."""
        return self._compactor.compact(messages, force=force, pinned=self.pinned(messages))


def _tag_message(message: object) -> Message:
    """A message of an explicit list, with the name that pins it."""
    if isinstance(message, str):
        return {"role": "user", "name": TAG, "content": message}
    if not isinstance(message, Mapping):
        fields = {name: getattr(message, name) for name in ("role", "content") if hasattr(message, name)}
        if "content" not in fields:
            raise ForetoldError(f"not a memory message: {message!r}; it is a text, or has a role and a content")
        message = fields
    if message.get("role", "user") != "user":
        raise ForetoldError(f"a memory message is of the user, not of {message['role']!r}: {message!r}")
    return {**message, "role": "user", "name": TAG}


def view(
    cwd: Folder = ".",
    user_dir: Folder | None = None,
    filenames: Iterable[Folder] | None = None,
    **options: Unpack[Places],
) -> View:
    """Everything that is known about the memory of a folder: entries, skips with their reasons, findings."""
    refuse_unknown(options, Places, *OWN)
    names = tuple(several(filenames)) if filenames is not None else NAMES
    dialect = V1 if names == NAMES else V1._replace(start=plan(names))
    settings = {} if user_dir is None else {"userDir": str(user_dir)}
    return answer(*question(dialect, cwd, options.get("home"), settings=settings), options.get("tree"))
