"""UserPromptSubmit: the memories that a prompt is about.

1. Nothing for an empty prompt or a command (`/…`), and nothing where there are no memories.
2. Memories are found as `recall` finds them, within the budget of the settings. A large store is asked as it was when
   it was last looked through (`memory.recall.cache`), and looked through again afterwards, by another process.
3. What is worth quoting is said in `foretold.memory.recall.relevance`.
4. A memory is quoted once in a conversation, and again if it was changed, or after a compaction. What the model has in
   whole from the index, because there is no more to it, is not quoted.
5. Each says how old it is, and whether what it names is still there. What looks like a credential is masked (`masked`).
"""

from __future__ import annotations

import os

from foretold.serve.hooks.agent_protocols import SILENCE, Said
from foretold.serve.hooks.json import text_of
from foretold.serve.hooks.log import log
from foretold.serve.hooks.path_index import Book
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foretold.memory.note import Memory
    from foretold.memory.recall.index import Found, Query
    from foretold.memory.recall.ranking import Mark
    from foretold.memory.recall.recall import Hit, Recall
    from foretold.serve.hooks.context import Scene

LIMIT = 5
LONGEST = 20_000  #: characters of a prompt that are looked at: its beginning and its end


def hear(scene: Scene) -> Said:
    """What to say to a prompt."""
    prompt = text_of(scene.payload, "prompt").strip()
    prompt = prompt if len(prompt) <= LONGEST else f"{prompt[: LONGEST // 2]}\n{prompt[-LONGEST // 2 :]}"
    if not prompt or prompt.startswith("/"):
        scene.why.append("recall: the prompt is empty, or a command")
        return SILENCE
    if not scene.settings.recall:
        scene.why.append("recall: switched off (hooks.recall)")
        return SILENCE
    places = [(folder, scope) for folder, scope in scene.where.stores if os.path.isdir(folder)]
    if not places:
        scene.why.append("recall: there are no memories")
        return SILENCE
    found, stale = recalled(scene, prompt, places)
    if stale:
        scene.refresh("the index of memories is out of date")
    if not found.hits:
        scene.why.append("recall: nothing is worth quoting")
        return SILENCE
    text = quoted(scene, found.hits)
    scene.notes.claim(*(("recalled", f"{hit.folder}/{hit.memory.file}", hit.memory.digest) for hit in found.hits))
    return Said(text)


def quoted(scene: Scene, hits: Sequence[Hit]) -> str:
    """Memories as the model sees them: without what looks like a credential, which is named in the log."""
    from foretold.memory.recall.render import render_quotes
    from foretold.secrets.masking import masked

    quotes = []
    for hit in hits:
        text, kinds = masked(hit.quote.text, hit.memory.text)
        quotes.append(hit.quote._replace(text=text, age=masked(hit.quote.age)[0]))
        if kinds:
            said = f"recall: {hit.memory.file} holds what looks like a credential ({', '.join(kinds)}); it is masked"
            scene.why.append(said)
            if not scene.asking.is_dry:
                log(scene.ours.state, scene.event, scene.session, said)
    return render_quotes(quotes)


def recalled(scene: Scene, prompt: str, places: Sequence[tuple[str, str]]) -> tuple[Recall, bool]:
    """What a prompt recalls, and whether an index was behind."""
    from foretold.memory.recall.cache import Glance
    from foretold.memory.recall.recall import recall

    glance = Glance(scene.ours.cache)
    found = recall(
        places,
        prompt,
        budget=scene.settings.budget,
        limit=LIMIT,
        cache=glance,
        check=_holding(scene),
        worth=_worth(scene, [folder for folder, _ in places]),
    )
    found = found._replace(hits=tuple(hit for hit in found.hits if _adds(hit, scene)), left_out=(), named=())
    for hit in found.hits:
        scene.why.append(f"recall: {hit.memory.file}, {hit.score:.1f}: {_said(hit)}")
    return found, bool(glance.stale) or any(_was_edited(hit) for hit in found.hits)


def _said(hit: Hit) -> str:
    return "; ".join(f"{word} in {', '.join(places)}" for word, places in hit.why.items())


def _was_edited(hit: Hit) -> bool:
    """Whether a file was written to since the index read it."""
    try:
        return os.stat(f"{hit.folder}/{hit.memory.file}").st_mtime_ns / 1e9 != hit.memory.changed
    except OSError:
        return True


def _adds(hit: Hit, scene: Scene) -> bool:
    """Whether a memory says more than the line of the index that the model has."""
    is_known = scene.where.is_read and hit.memory.scope == "private"
    return not is_known or (hit.memory.body != "" and hit.memory.body != hit.memory.description)


def _holding(scene: Scene) -> Callable[[Memory], str]:
    """Whether a memory still holds. What was worked out before is looked up; for a new memory it is worked out now."""
    book = Book(scene.ours.cache, scene.key)
    slow: list[Callable[[Memory], str]] = []

    def check(memory: Memory) -> str:
        known = book.holds(memory.digest, scene.where.root)
        if known is not None:
            return known
        if not slow:
            from foretold.memory.drift.quick_check import Holding

            slow.append(Holding(scene.where.root, scene.where.verdicts))
        return slow[0](memory)

    return check


def _worth(scene: Scene, folders: list[str]) -> Callable[[Query, Sequence[Found], list[Mark]], list[Mark]]:
    def choose(query: Query, indexes: Sequence[Found], ranked: list[Mark]) -> list[Mark]:
        from foretold.memory.recall.relevance import telling_words, worth_quoting

        telling = telling_words(query, indexes)
        told = {note[1]: note[2] for note in scene.notes.since("recalled") if len(note) > 2}
        worth = worth_quoting(query, indexes, ranked)
        scene.why.append(_counted(len(ranked), len(worth), telling))
        return [mark for mark in worth if not _is_told(f"{folders[mark.folder]}/{mark.candidate.file}", told)]

    return choose


def _counted(found: int, about: int, telling: Sequence[str]) -> str:
    """How many memories were found, for people.

    >>> _counted(1, 1, ["deploy"]), _counted(0, 0, [])
    ('recall: 1 memory found, 1 about the prompt; telling word: deploy', 'recall: no memory has a word of the prompt')
    """
    if not found:
        return "recall: no memory has a word of the prompt"
    said = f"recall: {found} {'memory' if found == 1 else 'memories'} found, {about or 'none'} about the prompt"
    if not telling:
        return f"{said}: no word of it tells one memory from another"
    return f"{said}; telling word{'s' if len(telling) > 1 else ''}: {', '.join(telling)}"


def _is_told(path: str, told: dict[str, str]) -> bool:
    """Whether a memory was quoted as it is now."""
    digest = told.get(path)
    if digest is None:
        return False
    from foretold.storage.digest import digest_of

    try:
        with open(path, "rb") as file:
            return digest_of(file.read()) == digest
    except OSError:
        return True
