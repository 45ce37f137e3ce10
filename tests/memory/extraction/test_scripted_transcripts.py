"""Every scripted transcript, with a model that tries too much: what is written, what is refused, and twice is once."""

import json
import os
import shutil

import pytest

from foretold.memory.extraction.extractor import Extractor, Gate
from foretold.memory.extraction.transcript import extract_stored, pieces_of
from foretold.models.scripted import Scripted

from . import scenes_hostile, scenes_kept, scenes_refused
from .stage import SESSION, TODAY, Note, bodies, calls, opened, records, request_of

SCENES = [*scenes_kept.SCENES, *scenes_refused.SCENES, *scenes_hostile.SCENES]
MODES = ("fork", "stored")


def test_there_are_enough_of_them():
    assert len(SCENES) >= 48
    assert len({scene.name for scene in SCENES}) == len(SCENES)


def run(place, scene, mode, memories):
    """One run of a model that tries one thing after the other."""
    made = records(scene.turns)
    model = Scripted([*([call] for call in calls(memories, scene.tries)), "Nothing else."])
    extractor = Extractor(memories, gate=Gate.always(), today=TODAY, rounds=40, **dict.fromkeys(scene.options, True))
    if mode == "stored":
        path = place.write(
            f"home/.claude/projects/x/{SESSION}.jsonl", "".join(json.dumps(each) + "\n" for each in made)
        )
        return extract_stored(path, model, extractor, instructions=scene.instructions), model
    request = request_of(made) if mode == "fork" else None
    return extractor.run(model, request, pieces_of(made), session=SESSION, instructions=scene.instructions), model


def named(text, memories):
    team = memories.team.path if memories.team is not None else ""
    return text.replace("{memory}", memories.own.path).replace("{team}", team)


def bytes_below(folder):
    found = {}
    for base, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(base, name), "rb") as file:
                found[os.path.join(base, name)] = file.read()
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_what_is_kept_and_what_is_refused(place, scene, mode):
    if any(isinstance(each, Note) and each.scope == "team" for each in (*scene.tries, *scene.there)):
        place.git("init -q -b main")
    memories = opened(place, scene.policy, scene.there)
    before = bodies(memories)
    done, model = run(place, scene, mode, memories)
    assert [tuple(each[:2]) for each in done.refused] == [(named(file, memories), why) for file, why in scene.refused]
    assert bodies(memories) == {**before, **scene.kept}
    assert done.proposed == scene.proposed
    assert tuple(each[:2] for each in done.warned) == scene.warned
    assert (set(done.added), set(done.updated)) == (
        scene.kept.keys() - before.keys(),
        scene.kept.keys() & before.keys(),
    )
    assert (done.mode, done.requests, done.stopped) == ("fork" if mode == "fork" else "digest", len(model.requests), "")

    # nothing that was refused is anywhere but in the transcript
    shutil.rmtree(place.path("home/.claude/projects/x"), ignore_errors=True)
    for note in scene.tries:
        if isinstance(note, Note) and any(why in ("secret", "said-by-tool", "hidden") for _, why in scene.refused):
            is_kept = note.body in {**before, **scene.kept}.values() or note.file in done.proposed
            if not is_kept:
                for line in filter(None, note.body.split("\n")):
                    allowed = any(line in body for body in {**before, **scene.kept}.values())
                    for path, data in () if allowed else bytes_below(place.root).items():
                        assert line.encode() not in data, path

    # again: by the same extractor's successor, and after a run that died before it could say that it was done
    stored, changes, waiting = bytes_below(memories.own.path), memories.log(), memories.inbox.waiting()
    again, model = run(place, scene, mode, opened(place, scene.policy))
    assert (again.skipped, again.requests, model.requests) == ("nothing-new", 0, [])
    shutil.rmtree(memories.own.state + "/extracted")
    once_more, _ = run(place, scene, mode, opened(place, scene.policy))
    assert once_more.added == once_more.updated == ()
    assert (bytes_below(memories.own.path), memories.log(), memories.inbox.waiting()) == (stored, changes, waiting)
