"""Loaders from PyPI, measured in the same run on the same trees.

They are installed by name in a throw-away environment, `.cache/peers`, together with what foretold needs; there, one
process a peer measures it and foretold in turns, under one interpreter. claudemd-loader needs Python 3.12.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys

from measure import Effort
from report import Row, Table, millis, times
from trees import Place

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HOME = os.path.join(ROOT, ".cache", "peers")
NEEDED = ("pyromark>=0.10,<0.11", "ryaml>=0.5,<0.6")
PEERS = ("claudemd-loader", "deepagents")
#: what a peer does not do in a tree, so that its figure is that of another job
WITHOUT = {
    ("claudemd-loader", "deep 40"): "no walk",
    **{("deepagents", tree): "no imports" for tree in ("files", "imports 40", "fan 200", "1 MB")},
    **{("deepagents", tree): "no rules" for tree in ("rules 300", "rules 3,000", "rules 300 busy")},
}


def peers(places: dict[str, Place], effort: Effort) -> Table:
    rows: list[Row] = []
    versions = []
    for peer in PEERS:
        python, version = _install(peer)
        versions.append(f"{peer} {version}")
        if python:
            rows += [_row(peer, *found) for found in _measure(python, peer, places, effort)]
        else:
            rows.append(Row(peer, ("", "", "", "", ""), {"missing": version}, (version,)))
    return Table(
        "8. Loaders from PyPI",
        f"{', '.join(versions)}: CPU ms, peer and foretold in turns in one process. claudemd-loader: a whole load. "
        "deepagents looks for no file: it is given the paths that our load delivers, and ours reads the same; whole: "
        "our whole load, with all that is looked for and not there. Bar: faster, where the peer does the job.",
        ("peer", "tree", "theirs", "ours", "ratio", "whole"),
        rows,
    )


def _row(peer: str, tree: str, theirs: float | None, ours: float, whole: float | None = None) -> Row:
    unjudged = WITHOUT.get((peer, "files" if tree.startswith("files ") else tree), "")
    ratio = theirs / ours if theirs else None
    figures = {"tree": tree, "ours_ms": ours * 1000, "theirs_ms": theirs and theirs * 1000, "ratio": ratio}
    cells = (
        tree,
        millis(theirs) if theirs else "> 10 s",
        millis(ours),
        times(ratio) if ratio else "",
        millis(whole) if whole else "",
    )
    slower = ("slower",) if not unjudged and ratio and ratio < 1 else ()
    return Row(peer, cells, figures, slower, unjudged)


def _measure(python: str, peer: str, places: dict[str, Place], effort: Effort) -> list[list]:
    asked = json.dumps({"peer": peer, "places": places, "effort": effort})
    env = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "src")}
    worker = os.path.join(ROOT, "bench", "peers_worker.py")
    done = subprocess.run([python, worker], input=asked, stdout=subprocess.PIPE, text=True, check=True, env=env)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _install(peer: str) -> tuple[str, str]:
    """The interpreter that has a peer, and the peer's version; or nothing, and why."""
    base = _interpreter()
    if not base:
        return "", "needs Python 3.12"
    folder = os.path.join(HOME, peer)
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([base, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", peer, *NEEDED]
    if subprocess.run(pip, stderr=subprocess.DEVNULL, check=False).returncode:
        return "", "could not be installed"
    ask = f"import importlib.metadata as m; print(m.version({peer!r}))"
    return python, subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()


def _interpreter() -> str:
    """This interpreter if it is new enough, else the newest that is found."""
    if sys.version_info >= (3, 12):
        return sys.executable
    found = [shutil.which(f"python3.{minor}") for minor in (14, 13, 12)]
    found += sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[2-9]*/bin/python")), reverse=True)
    for python in filter(None, found):
        ask = "import sys; sys.exit(sys.version_info < (3, 12))"
        if not subprocess.run([python, "-c", ask], stderr=subprocess.DEVNULL, check=False).returncode:
            return python
    return ""
