"""Fixing a project in a test, and what it is before and after."""

import io
import os
import stat
from contextlib import redirect_stdout

from foretold.check import CheckOptions, Project, check_tree
from foretold.check.fix import plan_fixes, write_fixes
from foretold.check.fix.write import open_undo
from foretold.check.settings import CheckSettings
from foretold.cli import main

CLAUDE = "claude-code@2.1.325"


def open_project(place, *agents):
    return Project(place.proj, CheckOptions(agents=agents or (CLAUDE,), home=""))


def plan(place, *agents, unsafe=False):
    project = open_project(place, *agents)
    return plan_fixes(check_tree(project), CheckSettings(), unsafe=unsafe)


def store(place):
    return open_undo(place.home, {})


def read(place, path):
    with open(place.path(f"proj/{path}"), "rb") as file:
        return file.read().decode()


def fix(place, *agents, unsafe=False):
    """Fix a project; the codes of what was fixed."""
    found = plan(place, *agents, unsafe=unsafe)
    write_fixes(found, store(place))
    again = plan(place, *agents, unsafe=unsafe)
    assert (again.fixes, again.changes) == ((), {})  # a second run changes nothing
    return [each.finding.code for each in found.fixes]


def run(place, *words):
    """The status and the output of `foretold check`."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        status = main(["check", "-C", place.proj, "--home", place.home, *words])
    return status, printed.getvalue()


def snapshot(root):
    """Every file, link and folder below a folder: content, mode and owner."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            about = os.lstat(path)
            if stat.S_ISLNK(about.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(about.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            else:
                content = None
            found[path] = (content, stat.S_IMODE(about.st_mode), about.st_uid, about.st_gid)
    return found
