"""Sessions that the real agent recorded, with what its own rewind made of the files at each prompt.

Each was driven through seven prompts with edits, writes and shell commands, changes by others in between; then closed,
resumed, and rewound to every prompt in turn (`rewinds`: its answer to a dry run, and the files afterwards).
"""

import json
import os
import shutil
import stat

from foretold.dialects.claude_code.settings import slug

with open(os.path.join(os.path.dirname(__file__), "../fixtures/file-history.jsonl"), encoding="utf-8") as file:
    LINES = file.read().splitlines()


def _named(line):
    recording = json.loads(line)
    for rewind in recording["rewinds"].values():
        rewind["answer"]["filesChanged"] = [path.removeprefix("{root}/") for path in rewind["answer"]["filesChanged"]]
    return recording


RECORDINGS = [_named(line) for line in LINES]


def put_on_stage(place, recording):
    """The files as they were when the session was closed, its transcript and its backups."""
    for folder in ("proj", "out"):
        shutil.rmtree(place.path(folder), ignore_errors=True)
        place.folder(folder)
    for name, (text, mode) in recording["files"].items():
        place.write(name, text, int(mode, 8))
    records = json.loads(json.dumps(recording["records"]).replace("{root}", place.root))
    lines = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    place.write(f"home/.claude/projects/{slug(place.proj)}/{recording['session']}.jsonl", lines)
    for name, (text, mode) in recording["backups"].items():
        place.write(f"home/.claude/file-history/{recording['session']}/{name}", text, int(mode, 8))


def states(root, prefix=""):
    """Every file below a folder: its text and its mode."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            about = os.lstat(path)
            shown = prefix + os.path.relpath(path, root)
            if stat.S_ISREG(about.st_mode):
                with open(path, encoding="utf-8", newline="") as opened:
                    found[shown] = [opened.read(), f"{stat.S_IMODE(about.st_mode):o}"]
            else:
                found[shown] = [os.readlink(path) if stat.S_ISLNK(about.st_mode) else "special", "link"]
    return found
