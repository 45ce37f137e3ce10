"""UserPromptSubmit: the memories that a prompt is about.

1. Nothing for an empty prompt or a command (`/…`), and nothing if there are no memories. A path is not a command:
   `/data/iq is empty`, and `/tmp is full` if there is such a file.
2. Memories are found as `recall` finds them, within the budget of the settings. Of a large store, the index is used as
   it was when it was last updated (`memory.recall.cache`); another process updates it afterwards. Where there is no
   index yet, only a very small one is built here. Else nothing is found, the log says why, and another process builds
   it.
3. What is worth quoting is decided by `foretold.memory.recall.relevance`.
4. A memory is quoted once per conversation, and again if it was changed, or after a compaction. A memory that the model
   already has in full from the index is not quoted.
5. Each has its age, and whether what it names still exists. Credentials are masked (`masked`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from foretold.serve.hooks.agent_protocols import HookOutput
from foretold.serve.hooks.json import text_of
from foretold.serve.hooks.path_index import PathIndex
from foretold.storage.tree import read_regular
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from foretold.memory.note import Memory
    from foretold.memory.recall.index import IndexMatches, RecallQuery
    from foretold.memory.recall.ranking import RankedMemory, RankFilter
    from foretold.memory.recall.recall import Recall, RecallHit
    from foretold.serve.hooks.context import HookContext

LIMIT = 5
UNBUILT = "recall: there is no index of the memories yet, so nothing is found; another process builds it"
LONGEST = 20_000  #: characters of a prompt that are used: its beginning and its end


def handle(context: HookContext) -> HookOutput:
    """What to say to a prompt."""
    prompt = text_of(context.payload, "prompt").strip()
    prompt = prompt if len(prompt) <= LONGEST else f"{prompt[: LONGEST // 2]}\n{prompt[-LONGEST // 2 :]}"
    if not prompt or is_command(prompt):
        return context.say_nothing("recall: the prompt is empty, or a command")
    if not context.settings.recall:
        return context.say_nothing("recall: switched off (hooks.recall)")
    places = [(folder, scope) for folder, scope in context.place.readable if os.path.isdir(folder)]
    if not context.place.is_accepted and context.place.team and os.path.isdir(context.place.team):
        context.why.append("recall: the team's memories are there, but not accepted (foretold memory trust)")
    if not places:
        return context.say_nothing("recall: there are no memories that may be quoted")
    found, stale = recall_memories(context, prompt, places)
    if stale:
        context.refresh("the index of memories is out of date")
    if not found.hits:
        return context.say_nothing("recall: nothing is worth quoting")
    text = quote_memories(context, found.hits)
    context.notes.claim(*(("recalled", f"{hit.folder}/{hit.memory.file}", hit.memory.digest) for hit in found.hits))
    return HookOutput(text)


def is_command(prompt: str) -> bool:
    """Whether a prompt is a command of the agent, and not a sentence that begins with a path.

    >>> is_command("/compact keep the plan"), is_command("/data/iq is empty"), is_command("/ is full")
    (True, False, False)
    """
    first = prompt.split(maxsplit=1)[0]
    return first.startswith("/") and len(first) > 1 and "/" not in first[1:] and not os.path.lexists(first)


def quote_memories(context: HookContext, hits: Sequence[RecallHit]) -> str:
    """Memories as the model sees them, with credentials masked; the log has their kinds."""
    from foretold.memory.recall.render import render_quotes
    from foretold.secrets.masking import mask_credentials

    quotes = []
    for hit in hits:
        text, kinds = mask_credentials(hit.quote.text, hit.memory.text)
        quotes.append(hit.quote._replace(text=text, age=mask_credentials(hit.quote.age)[0]))
        if kinds:
            text = f"recall: {hit.memory.file} holds what looks like a credential ({', '.join(kinds)}); it is masked"
            context.why.append(text)
            context.log(text)
    return render_quotes(quotes)


def recall_memories(context: HookContext, prompt: str, places: Sequence[tuple[str, str]]) -> tuple[Recall, bool]:
    """What a prompt recalls, and whether an index was out of date."""
    from foretold.memory.recall.cache import QuickCache
    from foretold.memory.recall.recall import recall

    glance = QuickCache(context.ours.cache, patient=context.caller.is_dry)  # nobody else would build it for a dry run
    found = recall(
        places,
        prompt,
        budget=context.settings.budget,
        limit=LIMIT,
        cache=glance,
        check=_checker(context),
        worth=_chooser(context, [folder for folder, _ in places]),
    )
    found = found._replace(hits=tuple(hit for hit in found.hits if _says_more(hit, context)), left_out=(), named=())
    if glance.unbuilt:
        context.why.append(UNBUILT)
        context.log(UNBUILT)
    for hit in found.hits:
        words = "; ".join(f"{word} in {', '.join(places)}" for word, places in hit.why.items())
        context.why.append(f"recall: {hit.memory.file}, {hit.score:.1f}: {words}")
    return found, bool(glance.stale) or any(_was_edited(hit) for hit in found.hits)


def _was_edited(hit: RecallHit) -> bool:
    """Whether a file was written since the index read it."""
    try:
        return os.stat(f"{hit.folder}/{hit.memory.file}").st_mtime_ns / 1e9 != hit.memory.changed
    except OSError:
        return True


def _says_more(hit: RecallHit, context: HookContext) -> bool:
    """Whether a memory says more than its line of the index, which the model has."""
    is_known = context.place.is_read and hit.memory.scope == "private"
    return not is_known or hit.memory.body not in ("", hit.memory.description)


def _checker(context: HookContext) -> Callable[[Memory], str]:
    """Checks whether a memory is still true. What was checked before is looked up; a new memory is checked now."""
    index = PathIndex(context.ours.cache, context.key)
    slow: list[Callable[[Memory], str]] = []

    def check(memory: Memory) -> str:
        known = index.holds(memory.digest, context.place.root)
        if known is not None:
            return known
        if not slow:
            from foretold.memory.drift.quick_check import QuickCheck

            slow.append(QuickCheck(context.place.root, context.place.verdicts))
        return slow[0](memory)

    return check


def _chooser(context: HookContext, folders: list[str]) -> RankFilter:
    def choose(query: RecallQuery, indexes: Sequence[IndexMatches], ranked: list[RankedMemory]) -> list[RankedMemory]:
        from foretold.memory.recall.relevance import telling_words, worth_quoting

        telling = telling_words(query, indexes)
        quoted = {note[1]: note[2] for note in context.notes.since("recalled") if len(note) > 2}
        worth = worth_quoting(query, indexes, ranked)
        if any(found.memories for found in indexes):
            context.why.append(_describe_counts(len(ranked), len(worth), telling))
        return [mark for mark in worth if not _was_quoted(f"{folders[mark.folder]}/{mark.candidate.file}", quoted)]

    return choose


def _describe_counts(found: int, about: int, telling: Sequence[str]) -> str:
    """How many memories were found, for people.

    >>> _describe_counts(1, 1, ["deploy"]), _describe_counts(0, 0, [])
    ('recall: 1 memory found, 1 about the prompt; telling word: deploy', 'recall: no memory has a word of the prompt')
    """
    if not found:
        return "recall: no memory has a word of the prompt"
    text = f"recall: {found} {'memory' if found == 1 else 'memories'} found, {about or 'none'} about the prompt"
    if not telling:
        return f"{text}: no word of it tells one memory from another"
    return f"{text}; telling word{'s' if len(telling) > 1 else ''}: {', '.join(telling)}"


def _was_quoted(path: str, quoted: dict[str, str]) -> bool:
    """Whether a memory was quoted as it is now."""
    digest = quoted.get(path)
    if digest is None:
        return False
    from foretold.memory.note import MAX_FILE
    from foretold.storage.digest import digest_of

    try:
        return digest_of(read_regular(path, MAX_FILE)) == digest
    except OSError:
        return True
