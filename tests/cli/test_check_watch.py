"""`foretold check --watch` as a real process: what it prints as files change, and how it ends."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest

PATIENCE = 30


class Watcher:
    """A process that watches a project; its output comes from a pipe, or from a terminal."""

    def __init__(self, place, *words, terminal=False):
        self._ours, theirs = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "foretold", "check", "--watch", "--no-home", *words],
            cwd=place.proj,
            env=place.environment(PATH=os.environ["PATH"], TERM="xterm"),
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs if terminal else subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell in the background ignores it
        )
        os.close(theirs)
        self.text = ""

    def wait_for(self, said, count=1):
        """The output up to now, once something is in it so many times."""
        end = time.monotonic() + PATIENCE
        while self.text.count(said) < count:
            assert time.monotonic() < end, self.text
            if select.select([self._ours], [], [], 0.2)[0]:
                self.text += os.read(self._ours, 65_536).decode()
        return self.text

    def is_silent(self, seconds=1.5):
        return not select.select([self._ours], [], [], seconds)[0]

    def stop(self):
        """End it as Ctrl-C does; its exit status, and what it said on standard error."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=PATIENCE)
        os.close(self._ours)
        return self.process.returncode, (said or b"").decode()


@pytest.fixture
def project(place):
    place.write("proj/CLAUDE.md", "See @docs/style.md\n")
    place.write("proj/docs/other.md")
    return place


def test_the_report_comes_again_when_something_changes(project):
    watcher = Watcher(project)
    watcher.wait_for("1 error")
    project.write("proj/docs/style.md", "Use tabs.\n")
    assert "changed: docs/style.md\n" in watcher.wait_for("no problems")
    project.write("proj/CLAUDE.md", "See @docs/lost.md\n")
    assert "changed: CLAUDE.md\n" in watcher.wait_for("docs/lost.md: not imported")
    assert "\x1b" not in watcher.text
    assert watcher.stop() == (1, "")


def test_the_first_report_says_that_it_watches(project):
    project.write("proj/CLAUDE.md", "See @docs/other.md, please.\n")
    watcher = Watcher(project)
    text = watcher.wait_for("watching")
    assert text.endswith("fix 1 of them:   foretold check --fix\n\nwatching for changes; Ctrl-C ends it\n")
    assert "(fixable)" in text
    project.write("proj/CLAUDE.md", "See @docs/lost.md\n")
    assert watcher.wait_for("foretold rule", 2).count("watching") == 1
    assert watcher.stop() == (1, "")


def test_on_a_terminal_what_changed_comes_last(project):
    """The top of a long report is out of sight."""
    watcher = Watcher(project, terminal=True)
    watcher.wait_for("watching for changes; Ctrl-C ends it")
    project.write("proj/CLAUDE.md", "Use tabs.\n")
    watcher.wait_for("changed: CLAUDE.md")
    assert watcher.text.index("no problems") < watcher.text.index("changed: CLAUDE.md")
    assert watcher.stop()[0] == 0


def test_what_does_not_matter_is_silent(project):
    watcher = Watcher(project)
    watcher.wait_for("1 error")
    os.utime(project.path("proj/CLAUDE.md"))
    project.write("proj/CLAUDE.md", "See @docs/style.md\n")
    project.write("elsewhere/CLAUDE.md", "See @gone.md\n")
    project.write("beside.txt")
    assert watcher.is_silent()
    assert watcher.stop() == (1, "")


def test_a_document_a_line(project):
    watcher = Watcher(project, "--format", "json")
    watcher.wait_for("\n")
    project.write("proj/CLAUDE.md", "Use tabs.\n")
    lines = watcher.wait_for("\n", 2).splitlines()
    assert [[each["code"] for each in json.loads(line)["findings"]] for line in lines] == [["import-missing"], []]
    assert watcher.stop() == (0, "")


def test_a_terminal_is_cleared(project):
    watcher = Watcher(project, terminal=True)
    watcher.wait_for("1 error")
    project.write("proj/CLAUDE.md", "Use tabs.\n")
    assert watcher.wait_for("no problems").count("\x1b[2J") == 2
    assert watcher.stop()[0] == 0


def test_settings_that_cannot_be_read_are_said_and_awaited(project):
    watcher = Watcher(project)
    watcher.wait_for("1 error")
    project.write("proj/.foretold.toml", "selct = 1\n")
    time.sleep(1)
    os.remove(project.path("proj/.foretold.toml"))
    watcher.wait_for("1 error", 2)
    status, said = watcher.stop()
    assert status == 1
    assert "'selct' is not a setting" in said


def test_what_is_asked_for_restricts_what_is_printed(project):
    project.write("proj/web/CLAUDE.md", "See @gone.md\n")
    watcher = Watcher(project, "web")
    assert "docs/style.md" not in watcher.wait_for("1 error")
    assert watcher.stop() == (1, "")
