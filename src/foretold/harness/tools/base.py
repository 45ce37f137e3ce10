"""What a tool is, what it returns, and what it works with.

1. A tool is a name, a description, a schema of its input, and a function from `ToolContext` and an input to a `Result`.
2. What a model did wrong is a result with `is_error`, in words for the model; it never raises.
3. A `ToolContext` belongs to one conversation: the folder that the shell is in, what the model knows of files, what is
   permitted, and whom to ask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from foretold.files.read_state.state import ReadState
from foretold.harness.permissions.check import Permission
from foretold.types import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    from foretold.files.read_state.values import Outcome
    from foretold.harness.permissions.check import PermissionVerdict

    Input: TypeAlias = dict[str, object]
    Ask: TypeAlias = Callable[[Mapping[str, object], PermissionVerdict], bool]


class Result(NamedTuple):
    """What a tool gives back.

    >>> Result("3 files").block("toolu_1")
    {'tool_use_id': 'toolu_1', 'type': 'tool_result', 'content': '3 files'}
    """

    content: str | list[dict[str, object]]  #: for the model
    is_error: bool = False
    value: object = None  #: `toolUseResult` of Claude Code's transcripts
    outcome: Outcome | None = None  #: of Read, Write and Edit
    paths: tuple[str, ...] = ()  #: files that were read or changed, absolute
    verdict: PermissionVerdict | None = None  #: why it was not permitted
    fault: str = ""  #: what the tool itself did wrong, for its author

    def block(self, call: str) -> dict[str, object]:
        """The block that answers a call, given its id."""
        block: dict[str, object] = {"tool_use_id": call, "type": "tool_result", "content": self.content}
        if self.is_error:
            block["is_error"] = True
        return block


def failure(said: str, *, is_tagged: bool = False, outcome: Outcome | None = None, fault: str = "") -> Result:
    """The result of a call that failed, in words for the model."""
    content = f"<tool_use_error>{said}</tool_use_error>" if is_tagged else said
    return Result(content, is_error=True, value=f"Error: {said}", outcome=outcome, fault=fault)


class Tool(NamedTuple):
    """Something that a model may call."""

    name: str
    description: str
    schema: dict[str, object]  #: JSON schema of its input
    run: Callable[[ToolContext, Input], Result | str]


def input_schema(required: str, properties: Mapping[str, object]) -> dict[str, object]:
    """The schema of an input with these parameters and no others; `required` names those that must be there."""
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


class ToolContext:
    """What the tools of one conversation share.

    >>> context = ToolContext("/repo", home="/home/ann", env={})
    >>> context.cwd, context.permission.mode
    ('/repo', 'default')
    """

    def __init__(
        self,
        cwd: str | os.PathLike[str] = ".",
        *,
        state: ReadState | None = None,
        permission: Permission | None = None,
        env: Mapping[str, str] | None = None,
        home: str | os.PathLike[str] = "",
        before_edit: Callable[[str], object] | None = None,
        ask: Ask | None = None,
        keeps_background: bool = False,
    ) -> None:
        """`ask` is called with the call and the verdict where a person has to decide; without it, that means no.

        `before_edit` gets the path of a file before it is changed. `env` is the environment of commands, by default
        that of this process. `keeps_background`: what a command leaves running is not ended with it.
        """
        self.root = os.path.abspath(cwd)  #: where the conversation began
        self.env = dict(os.environ if env is None else env)
        self.home = os.fspath(home) or self.env.get("HOME", "")
        self.state = state if state is not None else ReadState(self.root, home=self.home)
        self.permission = permission if permission is not None else Permission(cwd=self.root, home=self.home)
        self.before_edit, self.ask = before_edit, ask
        self.keeps_background = keeps_background

    @property
    def cwd(self) -> str:
        """Where the shell is; paths of all tools are relative to it."""
        return self.state.cwd

    @cwd.setter
    def cwd(self, folder: str) -> None:
        self.state.cwd = folder
