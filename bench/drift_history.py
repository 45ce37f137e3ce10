"""A small repository with a scripted history, and memories whose labels follow from it.

For every part of the repository a memory is written in one of several wordings, then the script does something to the
part, or nothing. The wordings are those of agents; some are traps: they name what is gone, forbidden, planned,
somewhere else, or of a language, and no such memory is stale whatever the history did.
"""

from __future__ import annotations

import os
import subprocess
from itertools import cycle
from typing import NamedTuple

from foretold.memory.note import Memory, read_note

FATES = {  #: what happens to a part, and what that makes of a memory of it
    "nothing": "valid",
    "edited": "valid",
    "file renamed": "moved",
    "file renamed twice": "moved",
    "folder moved": "moved",
    "file deleted": "missing",
    "symbol renamed": "missing",
    "flag removed": "missing",
    "variable removed": "missing",
    "quoted code changed": "missing",
    "commit rewritten": "missing",
}
#: wordings by what they name
WORDINGS = {
    "path": (
        "The {n} handler lives in `{path}`.",
        "When adding a field to {n}, update `{path}:3` as well.\n\n**Why:** it is checked twice.",
        "Never edit `{path}` by hand.\n\n**Why:** it was the cause of an outage.\n\n**How to apply:** ask first.",
        "{n} is documented in [its module]({path}).",
        "Part {n}: see {path} for the details.",
        "The folder `{folder}/` holds part {n}.",
    ),
    "symbol": (
        "`{symbol}()` is the entry point of part {n}.",
        "Part {n} must go through `{symbol}`.\n\n**Why:** it locks.\n\n**How to apply:** call `{symbol}(request)`.",
        "Use `{module}.{symbol}` for part {n}; it is faster.",
        "`def {symbol}` is the only place that may open sockets.",
    ),
    "flag": (
        "Pass `{flag}` to our command when testing part {n}.",
        "The {flag} flag skips part {n}.",
        "`{flag}=3` is enough for part {n}.",
    ),
    "variable": (
        "Set the environment variable `{variable}` for part {n}.",
        "`{variable}` turns part {n} on.",
        "`{variable}=1` is set in staging tests of part {n}.",
    ),
    "code": ("In `{path}`:\n\n```python\n{code}\n```\n", "`{path}` has `{line}` on purpose."),
    "commit": ("Part {n} was fixed in commit `{commit}`.", "Commit {commit} made part {n} faster."),
    "trap": (
        "We removed `gone_{n}.py` and `old_part_{n}()` last month.",
        "Never use `--no-verify-{n}` or `raw_part_{n}()`.",
        "Prefer `{symbol}()` over `legacy_part_{n}()`.",
        "In the infra repo, `deploy/part_{n}.tf` holds it.",
        "We plan to add `src/future_{n}.py` with `future_{n}()`.",
        "Name new parts `<part>_{n}.py`, and/or `{{part}}/x.py`; 1/2 of them are done, see https://example.com/a_{n}.py",
        "The user likes `useMemo`, `os.path.join` and `ThreadPoolExecutor`; Node.js is `v18.{n}.0`.",
        "Run `pytest tests/part_{n}_missing.py --lf` on the branch `feature/part-{n}`, then `GET /api/part/{n}`.",
        "The build writes its report to `out/part_{n}.html`.",
        "Ask ops@example.com about `acme/part-{n}`, see [[part_{n}_note]] and [notes](part_{n}_note.md).",
        "pytest takes `--part-{n}-only`.",
        "`old_name_{n}()` was renamed to `{symbol}()`.",
    ),
}
NAMES = {
    "symbol renamed": ("symbol",),
    "flag removed": ("flag",),
    "variable removed": ("variable",),
    "quoted code changed": ("code",),
    "commit rewritten": ("commit",),
    "nothing": ("path", "symbol", "flag", "variable", "code", "commit", "trap"),
    "edited": ("path", "symbol", "flag", "variable", "trap"),
}


class Labelled(NamedTuple):
    """A memory, what happened to its part, and the state that makes."""

    memory: Memory
    group: str
    state: str


def scripted(root: str) -> list[Labelled]:
    """Write the repository, its history and the memories."""
    os.makedirs(root)
    _git(root, "init", "-q", "-b", "main")
    plan = [
        (fate, kind, wording)
        for fate in FATES
        for kind in NAMES.get(fate, ("path",))
        for wording in WORDINGS[kind]
        if fate != "folder moved" or "{path}" in wording or "{folder}" in wording
    ]
    parts = [_part(n) for n in range(len(plan))]
    for part in parts:
        _write(root, part["path"], _content(part))
    _commit(root, "start")
    found = []
    for part, (fate, kind, wording) in zip(parts, plan, strict=True):
        if kind == "commit":
            _write(root, f"notes/{part['n']}.txt", "note\n")
            part["commit"] = _commit(root, "fix")[:10]
        text = f"---\nname: note-{part['n']}\ntype: project\n---\n\n{wording.format(**part)}\n"
        state = "unknown" if kind == "trap" else FATES[fate]
        found.append(Labelled(read_note(f"{part['n']}.md", text.encode()), "trap" if kind == "trap" else fate, state))
        _happen(root, part, fate)
    return found


def _part(n: int) -> dict[str, str]:
    folder = next(value for at, value in enumerate(cycle(("core", "web/api", "jobs"))) if at == n % 3)
    line = f"limit_{n} = compute(total={n}, rate=0.5)"
    return {
        "n": f"{n}",
        "path": f"src/{folder}/part{n}/main{n}.py",
        "folder": f"src/{folder}/part{n}",
        "module": f"main{n}",
        "symbol": f"handle_part_{n}",
        "flag": f"--part-{n}-mode",
        "variable": f"PART_{n}_ENABLED",
        "line": line,
        "code": f"    {line}\n    return limit_{n} + 1",
        "commit": "",
    }


def _content(part: dict[str, str]) -> str:
    filler = "".join(f"# line {at} of part {part['n']}, which stays as it is\n" for at in range(30))
    return (
        f"import os\n\n\ndef {part['symbol']}(request):\n    os.environ.get('{part['variable']}')\n"
        f"    option('{part['flag']}')\n{part['code']}\n\n\n{filler}"
    )


def _happen(root: str, part: dict[str, str], fate: str) -> None:
    """Let something happen to a part, and commit it."""
    path, text = part["path"], _content(part)
    changed = {
        "edited": text + "# one more line\n",
        "symbol renamed": text.replace(part["symbol"], f"run_{part['n']}"),
        "flag removed": text.replace(part["flag"], "--all"),
        "variable removed": text.replace(part["variable"], "ALL"),
        "quoted code changed": text.replace("rate=0.5", "rate=0.75").replace("+ 1", "+ 2"),
    }
    if fate in changed:
        _write(root, path, changed[fate])
    elif fate.startswith("file renamed"):
        new = f"lib/{part['n']}/moved.py"
        os.makedirs(os.path.dirname(f"{root}/{new}"), exist_ok=True)
        _git(root, "mv", part["folder"], f"lib/{part['n']}/all")
        if fate.endswith("twice"):
            _commit(root, "once")
            _write(root, f"lib/{part['n']}/all/main{part['n']}.py", text + "# edited between\n")
            _commit(root, "edit")
            _git(root, "mv", f"lib/{part['n']}/all", f"lib/{part['n']}/again")
    elif fate == "folder moved":
        os.makedirs(f"{root}/moved", exist_ok=True)
        _git(root, "mv", part["folder"], f"moved/{part['n']}")
    elif fate == "file deleted":
        _git(root, "rm", "-q", path)
    elif fate == "commit rewritten":
        _git(root, "commit", "-q", "--amend", "-m", "reworded")
        return
    else:
        return
    _commit(root, fate)


def _write(root: str, path: str, text: str) -> None:
    os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
    with open(f"{root}/{path}", "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _commit(root: str, message: str) -> str:
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "--allow-empty", "-m", message)
    return _git(root, "rev-parse", "HEAD")


def _git(root: str, *words: str) -> str:
    who = {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {"PATH": os.environ["PATH"], "HOME": root, "GIT_CONFIG_NOSYSTEM": "1", **who}
    done = subprocess.run(["git", "-C", root, *words], env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()
