"""A check that is repeated gives the answer of a new one, whatever changed, and repeats only what it must."""

import os
import random

import pytest
from hypothesis import given, settings as limits, strategies as st

from foretold.check import CheckOptions, check_tree
from foretold.check.memo import Memo, TrackedTree
from foretold.check.recheck import LiveCheck, LiveDisk
from foretold.check.run import open_project
from foretold.git.runner import ask, keep_answers
from foretold.storage.layers import CachingDisk

OPTIONS = CheckOptions(home="")
FILES = (
    *("CLAUDE.md", "AGENTS.md", "GEMINI.md", "docs/style.md", "docs/api.md", "src/CLAUDE.md", "src/AGENTS.md"),
    *("src/deep/AGENTS.md", ".claude/rules/api.md", ".claude/rules/deep/sql.md", ".claude/settings.json"),
    *(
        ".github/copilot-instructions.md",
        ".cursor/rules/a.mdc",
        ".claude/skills/x/SKILL.md",
        "src/app.ts",
        ".gitignore",
    ),
)
TEXTS = (
    "Use tabs.\n",
    "Use tabs.\n" * 40,
    "See @docs/style.md and @docs/gone.md\n",
    "See @docs/api.md.\n\n- `@docs/style.md`\n",
    '---\npaths: "src/**/*.ts"\n---\nValidate input.\n',
    "---\nglobs: src/**\n---\nAlways on, by accident.\n",
    '---\npaths: ["src/**\n---\nBroken.\n',
    "<!-- foretold: ignore import-missing -->\n@docs/lost.md\n",
    "Run `npm run build`, read `src/app.ts` and `src/lost.ts`.\n",
    '{"hooks": {"NoSuchEvent": []}, "claudeMdExcludes": ["**/src/**"]}\n',
    "x" * 40_000 + "\n# Lost\n",
    "",
    "docs/\n",
)


def fresh(top, unsaved=None):
    """What a new check of the same tree says."""
    from foretold.storage.layers import ChangedTree

    tree = ChangedTree(CachingDisk(), unsaved) if unsaved else CachingDisk()
    opened = open_project(top, top, OPTIONS, tree=tree)
    report = check_tree(opened.project, opened.settings)
    return report[1:]


def fill(place):
    for number, name in enumerate(FILES[:8]):
        place.write(f"proj/{name}", TEXTS[number % 5])
    return LiveCheck(place.proj, place.proj, OPTIONS)


@pytest.mark.parametrize("seed", range(6))
def test_the_answer_is_that_of_a_new_check(place, seed):
    chosen = random.Random(seed)
    live = fill(place)
    unsaved = {}
    for _ in range(25):
        name, text = chosen.choice(FILES), chosen.choice(TEXTS)
        path = place.path(f"proj/{name}")
        kind = chosen.choice(["write", "write", "edit", "edit", "close", "delete"])
        if kind == "write":
            place.write(f"proj/{name}", text)
        elif kind == "delete" and os.path.exists(path):
            os.remove(path)
        elif kind == "edit":
            unsaved[path] = text.encode()
            live.edit({path: unsaved[path]})
        elif kind == "close":
            unsaved.pop(path, None)
            live.edit({path: None})
        live.refresh(live.find_changes())
        new = fresh(place.proj, unsaved)
        assert set(live.report.findings) ^ set(new[0]) == set(), (seed, kind, name, text[:40])
        assert live.report[1:] == new


def test_a_file_that_is_written_with_the_same_text_is_no_news(place):
    live = fill(place)
    place.write("proj/CLAUDE.md", TEXTS[0])
    before = live.report
    assert live.find_changes() == [place.path("proj/CLAUDE.md")]
    assert live.refresh(live.find_changes()) is before
    assert (live.has_news, live.find_changes()) == (False, [])


def test_a_file_that_is_replaced_by_renaming(place):
    """As many editors save: the folder has had another name in between, and the file is another one."""
    live = fill(place)
    place.write("proj/CLAUDE.md.tmp", "See @docs/lost.md\n")
    os.rename(place.path("proj/CLAUDE.md.tmp"), place.path("proj/CLAUDE.md"))
    project = live.project
    assert live.find_changes() == [place.path("proj/CLAUDE.md")]
    live.refresh(live.find_changes())
    assert live.project is project
    assert live.report[1:] == fresh(place.proj)


def test_what_other_programs_write_above_the_tree_does_not_matter(place):
    live = fill(place)
    place.write("other.txt")
    assert live.find_changes() == []
    place.write("CLAUDE.md", "See @gone.md\n")  # but this is read by agents that start below
    assert live.find_changes() == [place.path("CLAUDE.md")]
    live.refresh(live.find_changes())
    assert live.report[1:] == fresh(place.proj)


def test_a_link_counts_with_the_text_that_it_leads_to(place):
    place.write("proj/AGENTS.md", "Use tabs.\n")
    place.link("proj/CLAUDE.md", "AGENTS.md")
    place.write("proj/docs/a.md")
    live = LiveCheck(place.proj, place.proj, OPTIONS)
    chosen = "Use npm as the package manager.\n\nUse pnpm as the package manager.\n"
    for text in ("See @docs/gone.md\n", "See @docs/a.md\n", chosen, f"\n{chosen}"):
        place.write("proj/AGENTS.md", text)
        live.refresh(live.find_changes())
        assert live.report[1:] == fresh(place.proj)
        live.edit({place.path("proj/CLAUDE.md"): b"See @docs/lost.md\n"})
        assert live.report[1:] == fresh(place.proj, {place.path("proj/AGENTS.md"): b"See @docs/lost.md\n"})
        live.edit({place.path("proj/CLAUDE.md"): None})
        assert live.report[1:] == fresh(place.proj)


def test_settings_that_cannot_be_read_and_then_can(place):
    from foretold.errors import BadSettings

    live = fill(place)
    place.write("proj/.foretold.toml", "selct = 1\n")
    with pytest.raises(BadSettings):
        live.refresh(live.find_changes())
    place.write("proj/.foretold.toml", 'ignore = ["delivery"]\n')
    live.refresh(live.find_changes())
    assert live.settings.ignore == ("delivery",)
    assert live.report[1:] == fresh(place.proj)


def test_only_what_depends_on_a_file_is_computed_again(place):
    live = fill(place)
    views = {key: live.project.view(*key) for key in [(choice, place.proj) for choice in live.project.choices]}
    place.write("proj/CLAUDE.md", "Use spaces.\n")
    live.refresh(live.find_changes())
    again = {
        choice.dialect.agent: live.project.view(choice, folder) is view for (choice, folder), view in views.items()
    }
    assert again == {"claude-code": False, "codex": True, "gemini-cli": True}


def test_git_is_asked_once(place):
    """As long as nothing has changed that it looks at; a file that git tracks from now on is noticed."""
    place.write("proj/CLAUDE.md", "See @docs/a.md\n")
    place.write("proj/docs/a.md")
    place.git("init -q")
    live = LiveCheck(place.proj, place.proj, OPTIONS)
    place.write("proj/CLAUDE.md", "See @docs/a.md, `src/lost.ts`\n")
    live.refresh(live.find_changes())
    project = live.project
    place.git("add CLAUDE.md")
    assert live.find_changes() == [place.path("proj/.git/index")]
    live.refresh(live.find_changes())
    assert live.project is not project
    assert live.report[1:] == fresh(place.proj)


def test_the_index_of_a_worktree(place):
    place.write("proj/CLAUDE.md")
    place.git("init -q")
    place.git("add -A")
    place.git("commit -q -m one")
    place.git("worktree add -q ../tree")
    folder = place.path("tree")
    place.write("tree/CLAUDE.local.md", "Mine.\n")
    live = LiveCheck(folder, folder, OPTIONS)
    assert live.find_changes() == []
    place.git("-C ../tree add -f CLAUDE.local.md")
    live.refresh(live.find_changes())
    assert "local-tracked" in {each.code for each in live.report.findings}
    assert live.report[1:] == fresh(folder)


def test_a_link_that_leads_elsewhere(place):
    place.write("proj/a.md", "See @docs/gone.md\n")
    place.write("proj/b.md", "Use tabs.\n")
    place.link("proj/CLAUDE.md", "a.md")
    live = LiveCheck(place.proj, place.proj, OPTIONS)
    assert "import-missing" in {each.code for each in live.report.findings}
    os.remove(place.path("proj/CLAUDE.md"))
    place.link("proj/CLAUDE.md", "b.md")
    live.refresh(live.find_changes())
    assert live.report[1:] == fresh(place.proj)


def test_answers_of_git_are_kept(place):
    place.git("init -q")
    answers = {}
    with keep_answers(answers):
        first = ask(place.proj, "rev-parse", "--git-dir")
        os.rename(place.path("proj/.git"), place.path("proj/gone"))
        assert (first, ask(place.proj, "rev-parse", "--git-dir")) == (b".git\n", b".git\n")
    assert ask(place.proj, "rev-parse", "--git-dir") is None
    assert list(answers.values()) == [b".git\n"]


# -- the memo


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=12))
@limits(max_examples=60)
def test_a_memo_forgets_what_it_must(changes):
    """Sums of sums of texts: after every change, each value is what it would be without a memo."""
    texts = {str(number): b"0" for number in range(4)}

    class Texts:
        def read(self, path, limit):
            return texts[path]

        def real(self, path):
            return path

    memo = Memo()
    tree = TrackedTree(memo, Texts())
    runs = []

    def number(path):
        return memo.remember(path, lambda: int(tree.read(path, 9)))

    def parity(path):
        return memo.remember(("parity", path), lambda: number(path) % 2)

    def total():
        return memo.remember("total", lambda: runs.append(1) or sum(map(parity, texts)))

    assert total() == 0
    for path, value in changes:
        before, count = total(), len(runs)
        texts[str(path)] = b"%d" % value
        memo.forget([str(path)])
        assert total() == sum(int(text) % 2 for text in texts.values())
        assert len(runs) == count + (before != total())  # equal parities: nothing is added up again


def test_what_fails_is_not_kept():
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.remember("a", lambda: 1 // 0)
    assert memo.remember("a", lambda: 2) == 2


# -- the disk


def test_a_disk_is_looked_at_again(place):
    disk = LiveDisk(place.proj)
    path = place.write("proj/a.md", "one")
    assert (disk.read(path, 99), disk.kind(place.path("proj/b.md"))) == (b"one", "missing")
    place.write("proj/a.md", "two")
    assert disk.find_changes() == [path]
    assert (disk.read(path, 99), disk.renew(path), disk.read(path, 99)) == (b"one", {path}, b"two")
    assert disk.find_changes() == []
    place.write("proj/b.md", "new")
    assert disk.find_changes() == [place.path("proj/b.md")]
    assert disk.renew(place.path("proj/b.md")) is None
    os.remove(path)
    assert disk.renew(path) is None
    assert disk.renew(place.path("elsewhere/a.md")) == set()


def test_a_script_that_becomes_executable_is_noticed(place):
    script = place.write("proj/run.sh", "#!/bin/sh\n", mode=0o644)
    place.write(
        "proj/.claude/settings.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./run.sh"}]}]}}'
    )
    live = LiveCheck(place.proj, place.proj, OPTIONS)
    for mode, codes in ((0o644, ["hook-not-executable"]), (0o755, []), (0o644, ["hook-not-executable"])):
        os.chmod(script, mode)
        live.refresh(live.find_changes())
        assert [each.code for each in live.report.findings] == codes
        assert live.report[1:] == fresh(place.proj)
    place.write("proj/run.sh", "#!/bin/sh\necho\n")
    live.refresh(live.find_changes())
    assert [each.code for each in live.report.findings] == ["hook-not-executable"]
    os.chmod(script, 0o755)
    live.refresh(live.find_changes())
    assert live.report.findings == ()
