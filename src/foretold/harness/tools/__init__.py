"""The tools of a harness: `Tool`, `Result`, `ToolContext`, `DEFAULT_TOOLS`."""

from __future__ import annotations

from foretold.imports import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from foretold.harness.tools.base import Result as Result, Tool as Tool, ToolContext as ToolContext
    from foretold.harness.tools.registry import DEFAULT_TOOLS as DEFAULT_TOOLS, run_tool as run_tool

__getattr__, __dir__ = attach(
    __name__,
    {
        "foretold.harness.tools.base": "Result Tool ToolContext",
        "foretold.harness.tools.registry": "DEFAULT_TOOLS run_tool",
    },
)
