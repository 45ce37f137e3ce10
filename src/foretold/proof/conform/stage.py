"""Staging a case: a fresh folder with its files, repositories and links, and a tree that sees nothing else.

1. `git init` comes first, then an empty commit where asked, then the files, 100 seconds old; then the case's shell
   commands; file modes last.
2. Paths above the stage are missing, whatever this machine has there; a case that puts files at the top of the file
   system has them in a folder of the stage that the tree lays over it.
3. A folder whose order was recorded is listed in that order.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time

from foretold.dialects.claude_code.settings import slug
from foretold.errors import BadCase
from foretold.proof.conform.cases import Case, content_of, fill
from foretold.storage.tree import Disk, Fault, Item, is_inside

TIMEOUT = 60


class Stage:
    """A case on disk. Use it as a context: the folder is gone afterwards."""

    def __init__(self, case: Case, date: str, *, apart: bool = False) -> None:
        """With `apart`, `{home}` is not in `{root}` but next to it."""
        # hexadecimal, because `_` in the names that tempfile makes is emphasis in a document that imports a path
        root = os.path.join(os.path.realpath(tempfile.gettempdir()), f"foretold-case-{os.urandom(8).hex()}")
        os.mkdir(root)
        os.chmod(root, 0o755)
        self.base = root
        if apart:
            root += "/root"
        self.places = {
            "root": root,
            "home": self.base + "/home",
            "proj": root + "/proj",
            "managed": root + "/managed",
            "fsroot": "",
            "base": "http://127.0.0.1:1",
            "url": "http://127.0.0.1:1",
            "date": date,
            "root-slug": slug(root),
        }
        self.case = {str(key): fill(value, self.places) for key, value in case.items()}
        self.over = self.base + "/fsroot"

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.base, ignore_errors=True)

    @property
    def root(self) -> str:
        return self.places["root"]

    def prepare(self) -> None:
        """Write everything the case needs."""
        for folder in ("home",) if self.root != self.base else ("home", "proj"):
            os.makedirs(self.places[folder], exist_ok=True)
        for folder in self.strings("git"):
            os.makedirs(folder, exist_ok=True)
            self.run_shell("git init -q .", folder)
        for folder in self.strings("commit"):
            self.run_shell("git commit -q --allow-empty -m x", folder)
        files = self.case.get("files")
        if not isinstance(files, dict):
            raise BadCase(f"{self.case['id']}: files is not an object")
        for path, value in files.items():
            self.write(self.on_disk(path), value)
        for command in self.strings("setup"):
            self.run_shell(command, self.root)
        for path, value in files.items():
            if isinstance(value, dict) and "mode" in value:
                os.chmod(self.on_disk(path), int(value["mode"], 8))

    def on_disk(self, path: str) -> str:
        """Where a path of the case lies: at its place, or in the folder that is laid over the file system."""
        return path if is_inside(path, self.base) else self.over + path

    def strings(self, key: str) -> list[str]:
        value = self.case.get(key) or []
        if not isinstance(value, list):
            raise BadCase(f"{self.case['id']}: {key} is not a list")
        return [str(item) for item in value]

    def write(self, path: str, value: object) -> None:
        """Write a file, a link, a FIFO or a folder."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        described = value if isinstance(value, dict) else {}
        if "symlink" in described:
            os.symlink(str(described["symlink"]), path)
        elif described.get("fifo"):
            os.mkfifo(path)
        elif described.get("dir"):
            os.makedirs(path, exist_ok=True)
        else:
            with open(path, "wb") as file:
                file.write(content_of(value))
            os.chmod(path, 0o644)
            then = time.time() - 100
            os.utime(path, (then, then))

    def change(self, files: dict[str, object]) -> None:
        """Write other files, or remove those that are null."""
        for path, value in files.items():
            place = self.on_disk(path)
            if os.path.isdir(place) and not os.path.islink(place):
                shutil.rmtree(place)
            elif os.path.lexists(place):
                os.remove(place)
            if value is not None:
                self.write(place, value)

    def run_shell(self, command: str, folder: str) -> int:
        """Run a shell command of the case; its exit status."""
        identity = {f"GIT_{who}_{what}": "case" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": self.places["home"], **identity},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # a pipe would wait for what a command leaves in the background
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT,
            check=False,
        )
        return done.returncode


class StagedTree(Disk):
    """The file system as a case sees it."""

    __slots__ = ("_order", "_over", "_root")

    def __init__(self, stage: Stage, order: dict[str, list[str]]) -> None:
        super().__init__()
        self._root, self._over, self._order = stage.base, stage.over, order

    def forget(self) -> None:
        """Files have changed: forget where links lead."""
        self._real = {"/": "/"}

    def _at(self, path: str) -> str:
        if is_inside(path, self._root) or path == "/":
            return path
        return self._over + path

    def read(self, path: str, limit: int) -> bytes | Fault:
        return super().read(self._at(path), limit)

    def identity(self, path: str) -> object:
        return super().identity(self._at(path))

    def kind(self, path: str) -> str:
        return super().kind(self._at(path))

    def is_executable(self, path: str) -> bool:
        return super().is_executable(self._at(path))

    def real(self, path: str) -> str:
        return super().real(path) if is_inside(path, self._root) else path

    def names(self, folder: str) -> tuple[list[str], list[str]] | Fault:
        return super().names(self._at(folder))

    def scan(self, folder: str) -> list[Item] | Fault:
        items = super().scan(self._at(folder))
        order = self._order.get(folder)
        if order is None or isinstance(items, Fault):
            return items
        rank = {name: at for at, name in enumerate(order)}
        return sorted(items, key=lambda item: rank.get(item.name, len(rank)))
