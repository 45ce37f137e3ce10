"""State cases about compaction: what answers each kind."""

from __future__ import annotations

from foretold.dialects.claude_code.compaction import compaction_rules
from foretold.instructions.compaction.restored_files import loaded_again, restore_files
from foretold.proof.conform.scene import Answer, Kinds, Scene

NOW = 1_800_000_000_000


def _restored(scene: Scene, given: Answer) -> Answer:
    """Which files come back. The model that was recorded with counted next to no tokens for any text."""
    folder = scene.switch({}).directory or ""
    scene.places["{memdir}"] = folder.rstrip("/")
    reads, names = given["reads_in_order"], {}
    assert isinstance(reads, list)
    files = []
    for each in reads:
        path = scene.text(each["name"])
        path = path if path.startswith("/") else f"{scene.cwd}/{path}"
        names[path] = str(each["name"])
        files.append((path, "x" * int(each["chars"]), NOW - 1000 * int(each["mtime_age_s"])))
    never = loaded_again(scene.cwd, scene.text("{config}"), scene.stage.places["managed"], folder)
    form = compaction_rules(scene.agent.partition("@")[2])
    found = restore_files(reversed(files), form, cwd=scene.cwd, never=never, count=lambda _: 1)
    return {"restored_in_order": [names[path] for path in found.paths]}


KINDS: Kinds = {"compaction_restore": _restored}
