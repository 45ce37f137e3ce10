"""The real Claude Code goes on from a compaction that we wrote.

python tests/system/live_compaction.py   both recorded versions, from where `live.py` has installed them

A conversation of three prompts is held with the agent, in a home that is gone afterwards. Our boundary, summary and
files are appended to its transcript; the agent resumes it, and what it sends must be what we say: the summary, what
was kept, the files, the instructions as they are now, and nothing of what was dropped.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from live import RELEASES, install

from foretold.context.compaction.transcript import CompactionFacts, compaction_records
from foretold.dialects.claude_code.compaction import compaction_rules
from foretold.dialects.claude_code.settings import slug
from foretold.instructions.compaction.restored_files import loaded_again, restore_files
from foretold.proof.probe.recipes import RECIPES
from foretold.proof.probe.run import ask_agent, first_option

SESSION = "11111111-1111-4111-8111-111111111111"
ANSWER = "<analysis>hm</analysis>\n<summary>\n1. Wishes: to see the files.\n</summary>"


def ask(program: str, root: str, turns: list[list[object]], prompt: str, *words: str) -> list[str]:
    """Everything that the agent says in its last request, block by block."""
    recipe = RECIPES["claude-code"]
    at = first_option(recipe.argv)
    # without SHELL, 2.1.325 names a shell that it finds on the machine
    env = {**recipe.env, "SHELL": "/bin/bash"}
    recipe = recipe._replace(argv=(*recipe.argv[:at], *words, *recipe.argv[at:]), env=env)
    os.makedirs(f"{root}/tmp", exist_ok=True)
    answer, _ = ask_agent(recipe, program, f"{root}/proj", f"{root}/tmp", {}, turns, prompt, 90.0, home=f"{root}/home")
    requests = answer["requests"]
    assert isinstance(requests, list)
    last = [request["body"] for request in requests if request["tools"]][-1]
    contents = [message["content"] for message in last["messages"]]
    blocks = [each for content in contents for each in ([content] if isinstance(content, str) else content)]
    return [each if isinstance(each, str) else each.get("text") or json.dumps(each) for each in blocks]


def hold(program: str, root: str) -> list[str]:
    """A conversation; the files it has read."""
    os.makedirs(f"{root}/home")
    os.makedirs(f"{root}/proj")
    files = []
    for number, text in enumerate(("one\n", "two\n", "long line\n" * 4000)):
        files.append(f"{root}/proj/f{number}.txt")
        with open(files[-1], "w", encoding="utf-8") as file:
            file.write(text)
        os.utime(files[-1], (1_700_000_000 - number,) * 2)
    with open(f"{root}/proj/CLAUDE.md", "w", encoding="utf-8") as file:
        file.write("Old rule.\n")
    reads = [{"names": ["Read"], "input": {"file_path": path}} for path in files]
    ask(program, root, [reads], "FIRST-PROMPT", "--session-id", SESSION)
    ask(program, root, [], "SECOND-PROMPT", "--resume", SESSION)
    ask(program, root, [], "THIRD-PROMPT", "--resume", SESSION)
    return files


def differences(program: str, version: str) -> list[str]:
    """What the agent does otherwise than we say."""
    top = os.path.realpath(tempfile.mkdtemp(prefix="foretold-live-"))
    try:
        root = f"{top}/held"
        files = hold(program, root)
        path = f"{root}/home/.claude/projects/{slug(f'{root}/proj')}/{SESSION}.jsonl"
        with open(path, encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        form, read = compaction_rules(version), []
        for name in files:
            with open(name, encoding="utf-8") as file:
                read.append((name, file.read(), os.stat(name).st_mtime_ns // 1_000_000))
        never = loaded_again(f"{root}/proj", f"{root}/home/.claude")
        restored = restore_files(read, form, cwd=f"{root}/proj", never=never)
        written = compaction_records(
            records, ANSWER, path, facts=CompactionFacts("manual", 1000, 500), restored=restored
        )
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in written.records)
        with open(f"{root}/proj/CLAUDE.md", "w", encoding="utf-8") as file:
            file.write("New rule.\n")
        blocks = ask(program, root, [], "FOURTH-PROMPT", "--resume", SESSION)
        return _compare(blocks, written.records, [file.path for file in restored.files], files[2])
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _compare(blocks: list[str], written: list[dict[str, object]], paths: list[str], named: str) -> list[str]:
    said, found = "\n".join(blocks), []
    message = written[1]["message"]
    assert isinstance(message, dict)
    if message["content"] not in blocks:
        found.append("the summary is not sent as we wrote it")
    wanted = [("Done.", "the last answer"), ("New rule.", "the instructions as they are now"), ("FOURTH-PROMPT", "")]
    wanted += [(f'{{"file_path":"{path}"}}', f"the file {path}") for path in paths]
    wanted += [(f"Note: {named} was read before", "the name of the long file")]
    found += [f"{what} is not sent" for text, what in wanted if text not in said]
    gone = ("FIRST-PROMPT", "SECOND-PROMPT", "THIRD-PROMPT", "Old rule.", "long line\nlong line", '"tool_result"')
    found += [f"{text} is sent, but was dropped" for text in gone if text in said]
    return found


def main() -> int:
    failed = 0
    for release in RELEASES:
        if release.agent == "claude-code":
            found = differences(install(release), release.version)
            print(f"{release.agent} {release.version}: {'; '.join(found) or 'goes on from what we wrote'}")
            failed += bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
