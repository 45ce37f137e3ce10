"""A harness process that is made to be killed: each turn is acknowledged on standard output after it returned.

    python worker.py PROJECT HOME SESSION NUMBER FIRST LAST HANG

Plays the turns FIRST to LAST of a session, begun or gone on with. In the turn HANG a command says on a FIFO that it
runs, and then runs for ever.
"""

import json
import os
import sys

from foretold.harness.harness import Harness
from foretold.harness.permissions.check import Permission
from foretold.models.scripted import Scripted
from foretold.sessions.model import Homes
from foretold.sessions.transcript.writer import transcript_path


def memory_text(name):
    return f"---\nname: {name}\ndescription: what {name} learned\nmetadata:\n  type: project\n---\n\nFact of {name}.\n"


def script(memory, project, number, first, last, hang):
    lines = []
    for turn in range(first, last + 1):
        name = f"w{number}-t{turn}"
        lines.append(("Write", {"file_path": f"{memory}/project_{name}.md", "content": memory_text(name)}))
        own = f"{project}/w{number}.txt"
        wait = f"echo {number} > {project}/fifo; sleep 300" if turn == hang else "echo done"
        lines.append([("Read", {"file_path": own}), ("Write", {"file_path": own, "content": f"{turn}\n"})])
        lines.append([("Bash", {"command": "echo first"}), ("Bash", {"command": wait})])
        lines.append(f"Done {name}.")
    return lines


def main(project, home, session, *numbers):
    number, first, last, hang = map(int, numbers)
    free = Permission("bypassPermissions", cwd=project, home=home)
    env = {"PATH": os.environ["PATH"], "HOME": home, "MARK": os.environ["MARK"]}
    given = {"home": home, "env": env, "permission": free, "agent": "claude-code@2.1.325", "sync": False}
    model = Scripted([], "claude-opus-5-5")
    if os.path.exists(transcript_path(project, session, Homes(home, env))):
        agent = Harness.resume(session, project, model=model, **given)
    else:
        agent = Harness(project, session=session, model=model, **given)
    model._lines += script(agent.memory.place.store, project, number, first, last, hang)
    for turn in range(first, last + 1):
        done = agent.prompt(f"Turn {turn} of worker {number}: go on.")
        said = {"worker": number, "turn": turn, "id": done.id, "text": done.text}
        print(json.dumps(said), flush=True)
    agent.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
