"""What most tests need: a project, a home and an organisation's folder in a temporary place, and nothing else."""

import os
import subprocess
import sys

import pytest
from hypothesis import settings

import foretold

# a busy machine is slow, not wrong
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

DATE = "2026-01-02"
SOURCES = os.path.dirname(os.path.dirname(os.path.abspath(foretold.__file__)))


class Place:
    """Folders of one test: `root` with `home`, `proj` and `managed` in it; paths are given relative to `root`."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.home, self.proj, self.managed = (self.path(name) for name in ("home", "proj", "managed"))
        for folder in (self.home, self.proj):
            os.mkdir(folder)

    def path(self, path):
        return os.path.join(self.root, path)

    def write(self, path, content="text\n", mode=None):
        """A file, with the folders above it; its whole path."""
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        if mode is not None:
            os.chmod(path, mode)
        return path

    def folder(self, path):
        os.makedirs(self.path(path), exist_ok=True)
        return self.path(path)

    def link(self, path, target):
        """A link; a target that starts with `/` is taken as it is, another one is relative to the link."""
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
        return path

    def fifo(self, path):
        path = self.path(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkfifo(path)
        return path

    def git(self, command, folder="proj"):
        """A git command with an identity and no configuration of this machine."""
        who = {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        env = {"PATH": os.environ["PATH"], "HOME": self.home, "GIT_CONFIG_NOSYSTEM": "1", **who}
        subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *command.split()],
            cwd=self.path(folder),
            env=env,
            check=True,
            capture_output=True,
        )

    def options(self, version="2.1.325", **options):
        return {
            "agent": f"claude-code@{version}",
            "home": self.home,
            "managed": self.managed,
            "env": {},
            "now": DATE,
            **options,
        }

    def load(self, cwd="proj", **options):
        return foretold.load(self.path(cwd), **self.options(**options))

    def session(self, cwd="proj", **options):
        return foretold.Session(self.path(cwd), **self.options(**options))

    def short(self, text):
        """A text with the root cut from the paths in it."""
        return text.replace(self.root + "/", "")

    def told(self, view):
        """The short paths of a view's or an attachment's entries."""
        return [self.short(entry.path) for entry in view.entries]

    def skipped(self, view):
        """Short path and reason of every skip."""
        return [(self.short(skip.path), skip.reason) for skip in view.skips]

    def found(self, view):
        """Short path, line and code of every finding."""
        return [(self.short(finding.path), finding.line, finding.code) for finding in view.findings]

    def accounted(self, view):
        """Every path that a view, or an attachment, gives an account of."""
        entries = (
            *view.entries,
            *getattr(view, "withheld", ()),
            *(rule.entry for rule in getattr(view, "waiting", ())),
        )
        return {each.path for each in (*entries, *view.skips, *view.findings)}

    def reasons(self, view, path):
        """The reasons why one path was skipped."""
        return [skip.reason for skip in view.skips if skip.path == path]

    def codes(self, view, path):
        """The codes of the findings that name one path."""
        return [finding.code for finding in view.findings if finding.path == path or path in finding.message]

    def run(self, *words, cwd="proj", env=None, **options):
        """A real process of the command `foretold`; its home is ours."""
        return subprocess.run(
            [sys.executable, "-m", "foretold", *words],
            cwd=self.path(cwd),
            env=self.environment(**(env or {})),
            capture_output=True,
            timeout=60,
            check=False,
            **options,
        )

    def environment(self, **more):
        return {
            "PATH": "/nowhere",
            "HOME": self.home,
            "PYTHONPATH": SOURCES,
            "COLUMNS": "80",
            "LANG": "C.UTF-8",
            **more,
        }


@pytest.fixture
def place(tmp_path):
    foretold.invalidate()
    return Place(tmp_path)
