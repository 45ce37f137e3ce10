"""Where the texts of a turn go in a request: sections of the system prompt, the user context, attachments.

Sections of a system prompt, each cached until its inputs change:

1. A section has a name, a function that makes its text, and one that gives the inputs of the text.
2. The text is made again only when the inputs differ from the last ones, or after `invalidate`. So a prompt stays the
   same to the byte as long as nothing has changed, and a provider's cache of its beginning stays valid.
3. A section without text is left out. The order is that in which the sections were added.

The user context, facts before the first prompt in one message of the user:

4. It is a dictionary, flattened: `# key`, then its value, in the order of the keys.
5. The earlier version has `claudeMd` and `currentDate` in it. With `--exclude-dynamic-system-prompt-sections` the git
   status comes before them, the environment (without what every user gets) and the memory prompt after them.
6. The later version has only `gitStatus` in it; instructions and the memory prompt have separate blocks, the date and
   the environment are attachments.
7. It is made for every request and is in no transcript (earlier version); in the later version the records
   `session_context` and `context_sections` hold it.

Attachments, by version and by family of models, in the order of the transcript:

8. Older models: each text in tags, in a separate block of the user's message, before the context and the prompt; after
   tools, it follows the text of the last tool's result.
9. Newer models: all texts in one message of the role `system` after the user's, with a blank line between them; a
   mention's call and its result are kept together. (`sonnet-5` in the later version: the same, each in its tags.)
10. Images are blocks of the user's message for every model, and in the later version so are mentions, nested
    instructions, context and attribution.
11. The last block before the prompt ends with a newline. Between mentions and nested instructions there is one as well.
12. A mention's call that would be the first block is a separate message before the user's.
13. In the earlier version the context of a tool's hook is a block after the results for every model.

Recorded: tests/context/turns.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from foretold.context.attachments import TurnAttachment, flatten_context, image_of, texts
from foretold.context.environment import HEADING
from foretold.dialects.claude_code.context import TurnContext, turn_context_of
from foretold.dialects.registry import DEFAULT_AGENT, choose
from foretold.instructions.render.blocks import CLOSE, OPEN, placement_of
from foretold.types import TYPE_CHECKING, Block, Message

if TYPE_CHECKING:
    from foretold.dialects.schema import Placement
    from foretold.instructions.view import View


def user_context(
    view: View,
    *,
    git: str = "",
    environment: str = "",
    memory: str = "",
    exclude_dynamic: bool = False,
    agent: str = "",
) -> dict[str, str]:
    """The user context of a view, as a dictionary.

    `git` and `memory` are the texts of the git status and of the memory prompt; `environment` is that of
    `environment_section(..., dynamic_only=True)`. They are left out unless they are sent outside of the system prompt.
    `agent` is the one whose turn it is, if the instructions are those of another.
    """
    keys = turn_context_of(agent or view.dialect.name).context_keys
    found = {"gitStatus": git if exclude_dynamic or "claudeMd" not in keys else "", "claudeMd": view.text or ""}
    found["currentDate"] = f"Today's date is {view.surroundings.date}."
    if exclude_dynamic:
        found["Environment"] = environment.removeprefix(f"{HEADING}\n")
        heading, _, text = memory.partition("\n")
        found[heading.removeprefix("# ") or "Memory"] = text
    return {key: text for key, text in found.items() if text and key in keys}


def context_blocks(
    view: View,
    *,
    git: str = "",
    environment: str = "",
    memory: str = "",
    exclude_dynamic: bool = False,
    agent: str = "",
) -> tuple[Block, ...]:
    """The blocks before the first prompt: instructions, context, sections moved out of the system prompt.

    >>> import foretold, tempfile
    >>> view = foretold.load(tempfile.mkdtemp(), agent="claude-code@2.1.197", home="/none", env={}, now="2026-01-02")
    >>> context_blocks(view)[0].text == view.messages[0]["content"][0]["text"]
    True
    """
    around = turn_context_of(agent or view.dialect.name)
    context = user_context(
        view, git=git, environment=environment, memory=memory, exclude_dynamic=exclude_dynamic, agent=agent
    )
    own = () if "claudeMd" in around.context_keys else tuple(slot.block for slot in view.slots)
    is_moved = exclude_dynamic and memory and around.section_after
    texts = (flatten_context(context, around), OPEN + memory + around.section_after + CLOSE if is_moved else "")
    return (*own, *(Block("user", "text", text) for text in texts if text))


#: attachments that were merged one by one, with newlines between their blocks
MERGED = ("file", "directory", "nested_memory")
CALLED = OPEN + "Called the "


def turn_messages(
    prompt: str,
    attachments: Iterable[TurnAttachment | None],
    *,
    agent: str = DEFAULT_AGENT,
    model: str = "",
    context: Sequence[Block] = (),
) -> list[Message]:
    """The messages of a prompt: the user's, and one of the role `system` where the model takes such.

    An attachment that is None (nothing has changed) is skipped. `context` are blocks before the prompt that are not
    attachments (the user context of the earlier version).

    >>> date = TurnAttachment("date", {"date": "2026-01-02"})
    >>> turn_messages("Hi.", [date], agent="claude-code@2.1.325", model="claude-opus-5-5")
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi.'}]},
     {'role': 'system', 'content': [{'type': 'text', 'text': "Today's date is 2026-01-02."}]}]
    """
    around, placement = _tables(agent, model)
    user, system = _split(tuple(filter(None, attachments)), around, placement)
    messages: list[Message] = []
    if user and str(user[0].get("text")).startswith(CALLED):
        messages.append({"role": "user", "content": user.pop(0)["text"]})
    content: list[object] = [*user, *(_text(block.text) for block in context), _text(prompt)]
    messages.append({"role": "user", "content": content})
    if system:
        messages.append({"role": "system", "content": [_text(system)]})
    return messages


def _tables(agent: str, model: str) -> tuple[TurnContext, Placement]:
    dialect = choose(agent).dialect
    return turn_context_of(agent), placement_of(model or dialect.model, dialect)


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def is_older(placement: Placement) -> bool:
    """Whether a family of models takes no system messages inside a conversation."""
    return placement.files == "tool-result"


def _split(
    attachments: tuple[TurnAttachment, ...], around: TurnContext, placement: Placement
) -> tuple[list[dict[str, object]], str]:
    """The blocks of the user's message, and the text of the system's."""
    user: list[dict[str, object]] = []
    system: list[str] = []
    seams: list[int] = []
    for attachment in attachments:
        said = texts(attachment, around)
        image = image_of(attachment)
        if image is not None:
            user += [*(_text(OPEN + text + CLOSE) for text in said), image]
        elif is_older(placement) or attachment.type in around.user_types:
            if attachment.type in MERGED and not is_older(placement):
                seams += range(len(user) if seams or len(said) == 1 else len(user) + 1, len(user) + len(said))
            user += [_text(OPEN + text + CLOSE) for text in said]
        elif said:
            system.append("\n".join(said))
    last = [len(user) - 1] if user and user[-1]["type"] == "text" else []
    for at in {*seams[:-1], *last}:
        user[at] = _text(f"{user[at]['text']}\n")
    if placement.fallback == "system-tagged":
        system = [OPEN + text + CLOSE for text in system]
    return user, "\n\n".join(system)


def tool_blocks(
    attachments: Iterable[TurnAttachment | None], *, agent: str = DEFAULT_AGENT, model: str = ""
) -> tuple[Block, ...]:
    """The blocks after the results of tools. The text of a `tool_result` follows the tool's own.

    >>> edited = TurnAttachment("edited_text_file", {"filename": "/a", "snippet": "1\\tx"})
    >>> [block.role for block in tool_blocks([edited], agent="claude-code@2.1.325", model="claude-opus-5-5")]
    ['system']
    """
    around, placement = _tables(agent, model)
    result: list[str] = []
    user: list[Block] = []
    system: list[str] = []
    for attachment in filter(None, attachments):
        said = texts(attachment, around)
        if attachment.type == "hook_additional_context" and around.tool_hooks == "user":
            user += [Block("user", "text", OPEN + text + CLOSE) for text in said]
        elif is_older(placement):
            result += [f"\n\n{OPEN}{text}{CLOSE}" for text in said]
        elif attachment.type in around.user_types:
            user += [Block("user", "text", OPEN + text + CLOSE) for text in said]
        else:
            system += said
    if placement.fallback == "system-tagged":
        system = [OPEN + text + CLOSE for text in system]
    blocks = [Block("user", "tool_result", "".join(result))] if result else []
    blocks += [*(block._replace(text=block.text + "\n") for block in user[:-1]), *user[-1:]]
    return (*blocks, *([Block("system", "text", "\n\n".join(system))] if system else []))


class Sections:
    """The sections of one conversation.

    >>> made = []
    >>> state = {"date": "2026-01-02"}
    >>> sections = Sections()
    >>> sections.add("date", lambda: made.append(1) or f"It is {state['date']}.", lambda: state["date"])
    >>> sections.text(), sections.text(), len(made)
    ('It is 2026-01-02.', 'It is 2026-01-02.', 1)
    >>> state["date"] = "2026-01-03"
    >>> sections.text(), len(made)
    ('It is 2026-01-03.', 2)
    """

    __slots__ = ("_cached", "_makers")

    def __init__(self) -> None:
        self._makers: dict[str, tuple[Callable[[], str | None], Callable[[], Hashable]]] = {}
        self._cached: dict[str, tuple[Hashable, str]] = {}  #: the inputs and the text of each: stored in one step

    def add(self, name: str, make: Callable[[], str | None], inputs: Callable[[], Hashable] = tuple) -> None:
        """Add a section, or give one another maker. Without `inputs` it is made once."""
        self._makers[name] = (make, inputs)
        self.invalidate(name)

    def __getitem__(self, name: str) -> str:
        make, inputs = self._makers[name]
        now = inputs()
        cached = self._cached.get(name)
        if cached is None or cached[0] != now:
            cached = self._cached[name] = (now, make() or "")
        return cached[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def text(self, join: str = "\n\n") -> str:
        """All sections that have a text, in order."""
        return join.join(text for text in map(self.__getitem__, self._makers) if text)

    def invalidate(self, name: str | None = None) -> None:
        """Drop the text of a section, or of all: after `/clear`, a compaction, a change that no input shows."""
        for each in [name] if name is not None else list(self._cached):
            self._cached.pop(each, None)
