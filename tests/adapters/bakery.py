"""A little project with instructions and memories, for tests of adapters: everything in the folders of one test."""

from __future__ import annotations

import json
import subprocess
import sys

import foretold
from foretold.adapters.conversation import Conversation
from foretold.memory.location import give_consent

QUESTION = "When do we deploy?"
ANSWER = "On Tuesdays only."


def bake(place):
    """The files; the memories."""
    place.write("proj/CLAUDE.md", "Use tabs.\n")
    place.write("proj/api/CLAUDE.md", "Handlers return JSON.\n")
    place.write("proj/api/users.py", "users = []\n")
    place.write("proj/api/orders.py", "orders = []\n")
    place.write("proj/.claude/rules/ts.md", '---\npaths: "web/*.ts"\n---\nValidate input.\n')
    place.write("proj/web/shop.ts", "export {}\n")
    memory = foretold.memory.open(place.proj, home=place.home, managed=place.managed, env={})
    memory.create("Deploys", type="project", description="when we deploy", body=ANSWER)
    memory.create("Oven", type="feedback", description="how hot the oven is", body="Never above 230 degrees.")
    return memory


def around(place, **options):
    """The surroundings of one test, for `Conversation` and whatever takes its options."""
    return {"home": place.home, "managed": place.managed, "env": {}, "agent": "claude-code@2.1.325", **options}


def talk_in(place, **options):
    return Conversation(place.proj, **around(place, **options))


def make_team(place, name="baker", text="The team bakes at night."):
    """A repository with one memory of the team, which the user accepts."""
    place.git("init -q")
    frontmatter = f"---\nname: {name}\ndescription: what {name} says\nmetadata: \n  type: project\n---\n"
    place.write(f"proj/.foretold/memory/project_{name}.md", frontmatter + text + "\n")
    found = foretold.memory.open(place.proj, home=place.home, managed=place.managed, env={}).place
    give_consent(found.consent, found.root)


def blocked(package, code, place):
    """What a program prints that runs where a package is not installed."""
    head = f"import sys\nfor name in {package!r}.split():\n    sys.modules[name] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code],
        env=place.environment(),
        cwd=place.proj,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr.strip().rpartition("\n")[2]


def dumped(value):
    return json.dumps(value, ensure_ascii=False)
