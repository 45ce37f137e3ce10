"""Claims against real repositories: what is there, what moved, what is gone, what cannot be told."""

import os
import subprocess

import pytest

from foretold.memory.drift.claims import DriftClaim
from foretold.memory.drift.verify import needles_of, verify
from foretold.memory.note import read_note

DATE = "2026-01-02"


class Repository:
    """A repository in a temporary folder, and an identity to commit with."""

    def __init__(self, root, *, is_git=True):
        self.root = os.path.realpath(root)
        os.makedirs(self.root, exist_ok=True)
        if is_git:
            self.git("init", "-q", "-b", "main")

    def git(self, *words, check=True):
        who = {f"GIT_{who}_{what}": "t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL", "DATE")}
        who |= {name: f"{DATE}T12:00:00Z" for name in who if name.endswith("DATE")}
        env = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "GIT_CONFIG_NOSYSTEM": "1", **who}
        command = ["git", "-c", "protocol.file.allow=always", "-C", self.root, *words]
        return subprocess.run(command, env=env, check=check, capture_output=True, text=True).stdout.strip()

    def write(self, path, content="text\n"):
        whole = os.path.join(os.fsencode(self.root), path if isinstance(path, bytes) else path.encode())
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def commit(self, **files):
        for path, content in files.get("files", {}).items():
            self.write(path, content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def check(self, text, **options):
        """Kind, text, state and evidence of every claim of a memory."""
        [verdict] = verify([read_note("note.md", text.encode())], self.root, **options)
        return [(each.claim.text, each.state, each.evidence) for each in verdict.claims]


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "repo")


LONG = "".join(f"line {number} of a file that git can recognise\n" for number in range(40))


def test_what_is_there_is_valid(repository):
    repository.commit(files={"src/a.py": "def open_store():\n    flag('--fast-mode')\n", "docs/x/y.md": "x\n"})
    head = repository.git("rev-parse", "--short=7", "HEAD")
    text = f"`src/a.py` has `open_store()` and `--fast-mode`; `docs/x/` since commit `{head}`."
    assert repository.check(text) == [
        ("src/a.py", "valid", "src/a.py exists"),
        ("open_store", "valid", "it is in src/a.py:1"),
        ("--fast-mode", "valid", "it is in src/a.py:2"),
        ("docs/x/", "valid", "docs/x exists"),
        (head, "valid", f"commit {head} is reachable from a ref"),
    ]


def test_moved_with_later_edits_and_moved_again(repository):
    repository.commit(files={"src/a.py": LONG})
    os.mkdir(f"{repository.root}/lib")
    repository.git("mv", "src/a.py", "lib/b.py")
    repository.commit()
    repository.commit(files={"lib/b.py": LONG + "one more\n"})
    repository.git("mv", "lib/b.py", "lib/c.py")
    last = repository.commit()[:7]
    repository.commit(files={"lib/c.py": "all new\n"})
    assert repository.check("It is in `src/a.py`.") == [
        ("src/a.py", "moved", f"git moved lib/b.py to lib/c.py in {last} ({DATE})")
    ]


def test_moved_by_one_commit_names_the_commit(repository):
    repository.commit(files={"src/api/a.py": LONG})
    repository.git("mv", "src/api/a.py", "a.py")
    commit = repository.commit()[:7]
    said = f"git moved src/api/a.py to a.py in {commit} ({DATE})"
    assert repository.check("See `src/api/a.py`.") == [("src/api/a.py", "moved", said.replace("src/api/a.py", "it"))]
    assert repository.check("See `api/a.py`.") == [("api/a.py", "moved", said)]


def test_a_moved_folder(repository):
    repository.commit(files={f"src/old/f{n}.py": f"{n}{LONG}" for n in range(4)})
    repository.git("mv", "src/old", "src/new")
    commit = repository.commit()[:7]
    assert repository.check("All in `src/old/`.") == [
        ("src/old/", "moved", f"git moved src/old/f0.py to src/new in {commit} ({DATE})")
    ]


def test_deleted(repository):
    repository.commit(files={"src/a.py": "x\n"})
    repository.git("rm", "-q", "src/a.py")
    commit = repository.commit()[:7]
    assert repository.check("It is in `src/a.py`.") == [("src/a.py", "missing", f"git deleted it in {commit} ({DATE})")]


def test_never_existed(repository):
    repository.commit(files={"lib/a.py": "x\n"})
    assert repository.check("`src/b.py` calls `never_was()`.") == [
        ("src/b.py", "missing", "there is no such file, and git knows of none"),
        ("never_was", "missing", "no file of 1 contains it"),
    ]
    assert (
        repository.check("`src/a.py`")[0][2] == "there is no such file, and git knows of none; lib/a.py has that name"
    )


def test_a_renamed_symbol_and_a_removed_flag(repository):
    repository.commit(files={"a.py": "def new_name(): '--kept-flag'\n"})
    assert repository.check("`old_name()` takes `--kept-flag` and `--lost-flag`.") == [
        ("old_name", "missing", "no file of 1 contains it"),
        ("--kept-flag", "valid", "it is in a.py:1"),
        ("--lost-flag", "missing", "no file of 1 contains it"),
    ]


@pytest.mark.parametrize(
    "code", ['flag.Bool("dry-run", false)', "dry_run: bool,", "option('dry-run')", "dryRun = true", "'--dry-run'"]
)
def test_a_flag_that_a_library_makes(repository, code):
    repository.commit(files={"main.go": code + "\n"})
    assert repository.check("Pass `--dry-run` first.")[0][1] == "valid"


def test_dotted_names(repository):
    repository.commit(files={"shop/cart.py": "class Cart:\n    def total_of(self): ...\n"})
    assert repository.check("`shop.cart.Cart.total_of`, `Basket.total_of()`, `Cart.sum_up()`") == [
        ("shop.cart.Cart.total_of", "valid", "total_of is in shop/cart.py:2"),
        ("Basket.total_of", "missing", "total_of is in shop/cart.py:2, but nothing contains Basket"),
        ("Cart.sum_up", "missing", "no file of 1 contains it"),
    ]


def test_words_are_whole(repository):
    repository.commit(files={"a.py": "open_stores xopen_store open_store2 open-store --fast-modes x--fast-mode\n"})
    assert [each[1] for each in repository.check("`open_store()` and `--fast-mode`.")] == ["missing", "missing"]


def test_only_documents_mention_it(repository):
    repository.commit(files={"docs/guide.md": "Call `old_name()`.\n", "a.py": "x\n"})
    assert repository.check("Call `old_name()`.") == [
        ("old_name", "unknown", "only documents mention it: docs/guide.md:1")
    ]


@pytest.mark.parametrize(
    "path", ["CHANGELOG.md", "CHANGES", "docs/news.rst", "HISTORY.txt", "docs/releases/2.0.md", "docs/migration.md"]
)
def test_release_notes_keep_no_name_alive(repository, path):
    repository.commit(files={path: "Removed `old_name()` and `--old-flag`.\n", "a.py": "x\n"})
    said = "no file of 1 contains it (not searched: 1 of release notes)"
    assert repository.check("Call `old_name()` with `--old-flag`.") == [
        ("old_name", "missing", said),
        ("--old-flag", "missing", said),
    ]


def test_code_is_found_whatever_its_white_space(repository):
    repository.commit(files={"src/a.py": "class A:\n    def run(self):\n        return self.value + 1\n"})
    quoted = "In `src/a.py`:\n\n```python\ndef run(self):\n    return self.value {} 1\n```\n"
    assert repository.check(quoted.format("+"))[1][1:] == ("valid", "it is in src/a.py:2")
    assert repository.check(quoted.format("-"))[1][1:] == ("missing", "no file of 1 contains it")
    example = quoted.replace("In `src/a.py`:", "So:").format("-")
    assert repository.check(example)[0][1] == "unknown"


def test_what_is_said_to_be_gone_is_no_drift(repository):
    repository.commit(files={"b.py": "x\n"})
    gone = repository.check("We removed `a.py`.")
    assert [each[1] for each in gone] == ["unknown"]
    assert gone[0][2].endswith('not taken for drift (gone: "removed")')
    assert repository.check("We removed `b.py`.") == [
        ("b.py", "valid", 'b.py exists, though the memory says otherwise (gone: "removed")')
    ]


def test_a_line_beyond_the_end(repository):
    repository.commit(files={"a.py": "1\n2\n3"})
    assert repository.check("`a.py:3` and `a.py:4`") == [
        ("a.py:3", "valid", "a.py exists"),
        ("a.py:4", "missing", "a.py has 3 lines, no line 4"),
    ]


def test_ends_of_paths_case_and_endings(repository):
    files = {"src/api/users.py": "", "one/same.py": "", "two/same.py": "", "Docs/Guide.md": "", "src/core/Main.ts": ""}
    repository.commit(files={path: content or "x\n" for path, content in files.items()})
    assert repository.check("`api/users.py`, `same.py`, `docs/guide.md`, `core/Main`, `repo/src/api/users.py`") == [
        ("api/users.py", "valid", "it is src/api/users.py"),
        ("same.py", "unknown", "2 paths end with it: one/same.py, two/same.py"),
        ("docs/guide.md", "valid", "it is Docs/Guide.md"),
        ("core/Main", "valid", "it is src/core/Main.ts"),
        ("repo/src/api/users.py", "valid", "src/api/users.py exists"),
    ]


def test_patterns(repository):
    repository.commit(files={"src/a/b/c.test.ts": "x\n", "app/[id]/page.tsx": "x\n"})
    assert repository.check(
        "`src/**/*.test.ts`, `src/*.{ts,tsx}`, `a/*/c.*.ts`, `app/[id]/page.tsx`, `app/[x]/page.tsx`"
    ) == [
        ("src/**/*.test.ts", "valid", "src/a/b/c.test.ts matches"),
        ("src/*.{ts,tsx}", "missing", "no file of 2 matches"),
        ("a/*/c.*.ts", "valid", "src/a/b/c.test.ts matches"),
        ("app/[id]/page.tsx", "valid", "app/[id]/page.tsx exists"),
        ("app/[x]/page.tsx", "unknown", "nothing has that name; it may not be a path"),
    ]


def test_what_may_be_no_path(repository):
    repository.commit(files={"src/a.py": "x\n"})
    assert repository.check("`acme/widgets` and `src/widgets`") == [
        ("acme/widgets", "unknown", "nothing has that name; it may not be a path"),
        ("src/widgets", "missing", "there is no such file, and git knows of none"),
    ]


def test_what_programs_make(repository):
    repository.commit(files={".gitignore": "dist/\n.env\n", "build.py": "open('out/report.html')\n"})
    states = {text: (state, said) for text, state, said in repository.check("`dist/app.js`, `.env`, `out/report.html`")}
    ignored = "it is not there, and git would ignore it: a program may make it"
    named = "there is no such file, but build.py:1 names it: a program may make it"
    assert states == {
        "dist/app.js": ("unknown", ignored),
        ".env": ("unknown", ignored),
        "out/report.html": ("unknown", named),
    }
    repository.write("dist/app.js")
    assert repository.check("`dist/app.js`") == [
        ("dist/app.js", "valid", "dist/app.js exists, and git does not list it")
    ]


def test_a_file_that_programs_look_for_need_not_be_here(repository):
    repository.commit(files={"find.py": "NAMES = ['AGENTS.md']\n"})
    assert repository.check("It reads `AGENTS.md` and `RULES.md`.") == [
        ("AGENTS.md", "unknown", "there is no such file, but find.py:1 names it: a program may make it"),
        ("RULES.md", "missing", "there is no such file, and git knows of none"),
    ]


def test_outside(repository, tmp_path):
    repository.commit()
    (tmp_path / "x.conf").write_text("x")
    text = f"`{tmp_path}/x.conf`, `{tmp_path}/y.conf`, `{repository.root}/z.conf`"
    assert [each[1:] for each in repository.check(text)] == [
        ("unknown", "outside the repository, not looked at"),
        ("unknown", "outside the repository, not looked at"),
        ("missing", "there is no such file, and git knows of none"),
    ]
    assert [each[1] for each in repository.check(text, outside=True)] == ["valid", "missing", "missing"]


# -- states of a repository ----------------------------------------------------------------------------------------


def test_a_commit_that_was_rewritten_away(repository):
    repository.commit()
    lost = repository.commit(files={"a.py": "1\n"})[:9]
    repository.git("reset", "-q", "--hard", "HEAD~1")
    kept = repository.commit(files={"a.py": "2\n"})[:9]
    assert repository.check(f"Commits `{lost}`, `{kept}` and `abcdef123`; commit abcdef124.") == [
        (lost, "missing", "commit is not reachable from any ref"),
        (kept, "valid", f"commit {kept[:7]} is reachable from a ref"),
        ("abcdef123", "missing", "git has no such commit"),
        ("abcdef124", "missing", "git has no such commit"),
    ]
    assert repository.check("Image `abcdef123`.")[0][1] == "unknown"
    tree = repository.git("rev-parse", "HEAD^{tree}")
    assert repository.check(f"Commit `{tree}`.")[0][1:] == ("unknown", "it names a tree, not a commit")


def test_a_dirty_working_tree(repository):
    repository.commit(files={"gone.py": "x\n", "staged.py": LONG, "kept.py": "old_text\n"})
    os.remove(f"{repository.root}/gone.py")
    repository.git("mv", "staged.py", "moved.py")
    repository.write("kept.py", "new_text\n")
    repository.write("untracked.py", "brand_new\n")
    assert repository.check("`gone.py`, `staged.py`, `untracked.py`; `old_text`, `new_text`, `brand_new`") == [
        ("gone.py", "missing", "it is deleted in the working tree, not committed yet"),
        ("staged.py", "moved", "git moved it to moved.py in the index, not committed yet"),
        ("untracked.py", "valid", "untracked.py exists"),
        ("old_text", "missing", "no file of 3 contains it (not searched: 1 links or unreadable)"),
        ("new_text", "valid", "it is in kept.py:1"),
        ("brand_new", "valid", "it is in untracked.py:1"),
    ]


def test_without_git(tmp_path):
    plain = Repository(tmp_path / "plain", is_git=False)
    plain.write("src/a.py", "def run_all(): ...\n")
    plain.write("node_modules/x/b.js", "hidden_name\n")
    assert plain.check("`src/a.py`, `run_all()`, `hidden_name`, `src/b.py`, commit `1a2b3c4`") == [
        ("src/a.py", "valid", "src/a.py exists"),
        ("run_all", "valid", "it is in src/a.py:1"),
        ("hidden_name", "missing", "no file of 1 contains it"),
        ("src/b.py", "missing", "there is no such file"),
        ("1a2b3c4", "unknown", "there is no git repository to ask"),
    ]


def test_without_the_git_command(repository, monkeypatch):
    repository.commit(files={"a.py": "def run_all(): ...\n"})
    monkeypatch.setenv("PATH", "/nowhere")
    assert [each[1] for each in repository.check("`a.py`, `run_all()`, `b.py`")] == ["valid", "valid", "missing"]


def test_a_repository_without_commits(repository):
    repository.write("a.py", "def run_all(): ...\n")
    assert [each[1] for each in repository.check("`a.py`, `run_all()`, `b.py`, commit `1a2b3c4`")] == [
        *("valid", "valid", "missing", "missing")
    ]


def test_a_submodule(repository, tmp_path):
    inner = Repository(tmp_path / "inner")
    inner.commit(files={"lib/core.c": "int inner_name;\n"})
    repository.git("submodule", "add", "-q", inner.root, "vendor/inner")
    repository.commit()
    assert repository.check("`vendor/inner/lib/core.c` has `inner_name`, `vendor/inner/b.c`") == [
        ("vendor/inner/lib/core.c", "valid", "vendor/inner/lib/core.c exists"),
        ("inner_name", "valid", "it is in vendor/inner/lib/core.c:1"),
        ("vendor/inner/b.c", "missing", "there is no such file, and git knows of none"),
    ]
    repository.git("submodule", "deinit", "-q", "-f", "vendor/inner")
    assert repository.check("`vendor/inner/lib/core.c` has `inner_name`") == [
        ("vendor/inner/lib/core.c", "unknown", "vendor/inner cannot be read"),
        ("inner_name", "missing", "no file of 1 contains it (not searched: submodule vendor/inner)"),
    ]


def test_a_worktree(repository, tmp_path):
    repository.commit(files={"src/a.py": LONG})
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    other = Repository(tmp_path / "tree", is_git=False)
    other.git("mv", "src/a.py", "b.py")
    commit = other.commit()[:7]
    assert other.check(f"`src/a.py` since commit {commit}") == [
        ("src/a.py", "moved", f"git moved it to b.py in {commit} ({DATE})"),
        (commit, "valid", f"commit {commit} is reachable from a ref"),
    ]
    assert [each[1] for each in repository.check(f"`src/a.py` since commit {commit}")] == ["valid", "valid"]


def test_a_shallow_clone(repository, tmp_path):
    first = repository.commit(files={"a.py": "x\n"})[:8]
    repository.git("rm", "-q", "a.py")
    repository.commit()
    repository.commit(files={"b.py": "x\n"})
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.root}", str(tmp_path / "shallow"))
    shallow = Repository(tmp_path / "shallow", is_git=False)
    assert shallow.check(f"`a.py` since commit {first}") == [
        ("a.py", "missing", "there is no such file"),
        (first, "unknown", "it is not in this shallow clone"),
    ]


def test_a_sparse_checkout(repository):
    repository.commit(files={"in/a.py": "x\n", "out/b.py": "def far_away(): ...\n"})
    repository.git("sparse-checkout", "set", "in")
    found = repository.check("`out/b.py` has `far_away()`")
    assert found[0] == ("out/b.py", "valid", "git has out/b.py; the sparse checkout leaves it out")
    assert found[1][1] == "unknown"


def test_a_folder_of_a_repository(repository):
    repository.commit(files={"app/a.py": LONG, "app/old.py": "1" + LONG, "lib/x.py": "def of_lib(): ...\n"})
    repository.git("mv", "app/a.py", "app/b.py")
    repository.git("mv", "app/old.py", "lib/old.py")
    repository.commit()
    app = Repository(f"{repository.root}/app", is_git=False)
    assert [(state, said.partition(" in ")[0]) for _, state, said in app.check("`a.py`, `old.py`, `of_lib()`")] == [
        ("moved", "git moved it to b.py"),
        ("moved", "git moved it to ../lib/old.py"),
        ("missing", "no file of 1 contains it"),
    ]


def test_names_that_are_no_utf8(repository):
    repository.write(b"src/\xff\xfe.py", "def odd_name(): ...\n")
    repository.commit()
    assert repository.check("`odd_name()` in `src/x.py`") == [
        ("odd_name", "valid", "it is in src/\\xff\\xfe.py:1"),
        ("src/x.py", "missing", "there is no such file, and git knows of none"),
    ]
    repository.git("mv", "src", "lib")
    repository.commit()
    assert repository.check("`src/`")[0][1] == "moved"


@pytest.mark.parametrize("is_git", [True, False])
def test_links_that_loop_or_lead_outside(tmp_path, is_git):
    place = Repository(tmp_path / "repo", is_git=is_git)
    (tmp_path / "secret.py").write_text("def far_secret(): ...\n")
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer/in.py").write_text("def far_inner(): ...\n")
    place.write("a.py", "x\n")
    os.symlink("loop", f"{place.root}/loop")
    os.symlink(".", f"{place.root}/self")
    os.symlink(tmp_path / "secret.py", f"{place.root}/link.py")
    os.symlink(tmp_path / "outer", f"{place.root}/outer")
    assert [each[:2] for each in place.check("`loop/x.py`, `link.py`, `self/`; `far_secret()`, `far_inner()`")] == [
        ("loop/x.py", "missing"),
        ("link.py", "valid"),
        ("self/", "valid"),
        ("far_secret", "missing"),
        ("far_inner", "missing"),
    ]


def test_a_folder_replaced_by_a_link_is_not_read(repository, tmp_path):
    repository.commit(files={"src/a.py": "x\n"})
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer/a.py").write_text("def far_inner(): ...\n")
    repository.git("rm", "-rq", "--cached", "src")
    repository.git("reset", "-q")
    os.rename(f"{repository.root}/src", f"{repository.root}/away")
    os.symlink(tmp_path / "outer", f"{repository.root}/src")
    assert repository.check("`far_inner()`")[0][1] == "missing"


def test_an_unreadable_folder(tmp_path):
    place = Repository(tmp_path / "plain", is_git=False)
    place.write("shut/a.py", "def shut_name(): ...\n")
    place.write("b.py", "x\n")
    os.chmod(f"{place.root}/shut", 0)
    is_root = os.geteuid() == 0
    if is_root:  # who reads every folder
        above = [folder for folder in tmp_path.parents if folder.name.startswith(("pytest-", "popen-"))]
        for folder in (tmp_path, *above):
            os.chmod(folder, 0o755)
        os.seteuid(65534)
    try:
        assert place.check("`shut/a.py` has `shut_name()`") == [
            ("shut/a.py", "unknown", "shut cannot be read"),
            ("shut_name", "missing", "no file of 1 contains it (not searched: folder shut)"),
        ]
    finally:
        if is_root:
            os.seteuid(0)
        os.chmod(f"{place.root}/shut", 0o755)


def test_pipes_binaries_and_large_files_are_named(repository):
    repository.commit(files={"a.bin": b"\0 some_name", "big.sql": b"some_name\n" + b"x" * 2_000_000, "a.py": "x\n"})
    os.remove(f"{repository.root}/a.py")
    os.mkfifo(f"{repository.root}/a.py")
    repository.write("b.py")
    assert repository.check("`some_name`") == [
        (
            "some_name",
            "missing",
            "no file of 1 contains it (not searched: 1 binary, 1 large (big.sql), 1 links or unreadable)",
        )
    ]


# -- many memories, and memories that lie in the repository --------------------------------------------------------


def test_a_memory_is_no_evidence_for_itself(repository):
    note = read_note("note.md", b"Call `only_here()`, see `other.md` and `other_name`.\n")
    other = read_note("team/other.md", b"---\nname: other_name\n---\nText.\n")
    repository.commit(files={".memory/note.md": note.text, ".memory/MEMORY.md": "only_here\n", "a.py": "x\n"})
    first, second = verify([note, other], repository.root)
    assert [(each.claim.text, each.state) for each in first.claims] == [("only_here", "missing")]
    assert (second.file, second.state, second.claims) == ("team/other.md", "unknown", ())


def test_a_memory_is_as_good_as_its_worst_claim(repository):
    repository.commit(files={"a.py": LONG, "b.py": "x\n"})
    repository.git("mv", "a.py", "c.py")
    repository.commit()
    texts = ["`b.py`", "`b.py` `x/y`", "`b.py` `a.py` `x/y`", "`a.py` `d.py`", "nothing", "`b.py` was `removed_name`"]
    notes = [read_note(f"{number}.md", text.encode()) for number, text in enumerate(texts)]
    assert [verdict.state for verdict in verify(notes, repository.root)] == [
        *("valid", "unknown", "moved", "missing", "unknown", "missing")
    ]


def test_progress_is_told(repository):
    repository.commit(files={"a.py": "x\n"})
    told = []
    repository.check("`some_name`", progress=lambda *words: told.append(words))
    assert told == [("list", 0, 0), ("search", 0, 1), ("history", 0, 0)]


# -- hostile repositories ------------------------------------------------------------------------------------------

SETTINGS = {
    "core.fsmonitor": "{run}",
    "core.hooksPath": "{folder}/hooks",
    "core.pager": "{run}",
    "pager.log": "{run}",
    "core.sshCommand": "{run}",
    "core.gitProxy": "{run}",
    "core.askPass": "{run}",
    "core.editor": "{run}",
    "core.alternateRefsCommand": "{run}",
    "credential.helper": "!{run}",
    "diff.external": "{run}",
    "diff.evil.textconv": "{run}",
    "diff.evil.command": "{run}",
    "filter.evil.clean": "{run}",
    "filter.evil.smudge": "{run}",
    "filter.evil.process": "{run}",
    "filter.evil.required": "true",
    "merge.evil.driver": "{run}",
    "log.showSignature": "true",
    "gpg.program": "{run}",
    "gpg.ssh.program": "{run}",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "protocol.file.allow": "always",
    "remote.origin.url": "ext::{run}",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "remote.origin.uploadpack": "{run}",
    "extensions.partialClone": "origin",
    "submodule.recurse": "true",
    "alias.log": "!{run}",
    "alias.ls-files": "!{run}",
    "core.untrackedCache": "true",
    "trace2.eventTarget": "{folder}/marker",
}


@pytest.mark.parametrize("with_objects", [True, False])
def test_a_hostile_repository_runs_nothing(repository, tmp_path, with_objects):
    repository.commit(files={"a.py": LONG, "b.py": "x\n", ".gitattributes": "* diff=evil filter=evil merge=evil\n"})
    repository.git("mv", "a.py", "c.py")
    signed = repository.git("cat-file", "commit", repository.commit())
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"
    repository.write("../object", signed.replace("\n\n", "\n" + signature + "\n", 1) + "\n")
    repository.git("reset", "-q", repository.git("hash-object", "-t", "commit", "-w", f"{tmp_path}/object"))
    blob = repository.git("rev-parse", "HEAD:c.py")
    marker, run, hooks = tmp_path / "marker", tmp_path / "run", tmp_path / "hooks"
    run.write_text(f"#!/bin/sh\necho ran >> {marker}\ncat\n")
    run.chmod(0o755)
    hooks.mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc", "post-checkout"):
        for folder in (hooks, tmp_path / "repo/.git/hooks"):
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(run.read_text())
            (folder / name).chmod(0o755)
    for name, value in SETTINGS.items():
        repository.git("config", name, value.format(run=run, folder=tmp_path))
    if not with_objects:
        os.remove(f"{repository.root}/.git/objects/{blob[:2]}/{blob[2:]}")
    repository.write("b.py", "changed\n")
    marker.unlink(missing_ok=True)
    found = repository.check("`a.py`, `b.py`, `c.py`, `d.py`, `some_name`, commits `1a2b3c4` and `1a2b3c5`")
    assert [each[1] for each in found][1:] == ["valid", "valid", "missing", "missing", "missing", "missing"]
    assert found[0][1] in ("moved", "missing")
    assert not marker.exists(), marker.read_text()


def test_the_hostile_settings_would_act(repository, tmp_path):
    """The trap above is set: git itself, asked plainly, runs the program."""
    marker, run = tmp_path / "marker", tmp_path / "run"
    run.write_text(f"#!/bin/sh\necho ran >> {marker}\n")
    run.chmod(0o755)
    repository.commit(files={"a.py": "x\n"})
    repository.git("config", "core.fsmonitor", str(run))
    repository.git("status", check=False)
    assert marker.exists()


def test_a_program_named_git_in_the_repository_is_not_run(repository, tmp_path, monkeypatch):
    repository.commit(files={"a.py": "x\n"})
    repository.write("git", f"#!/bin/sh\ntouch {tmp_path}/marker\n")
    os.chmod(f"{repository.root}/git", 0o755)
    monkeypatch.chdir(repository.root)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    repository.check("`a.py`, `b.py`")
    assert not (tmp_path / "marker").exists()


def test_git_variables_of_the_caller_are_not_heard(repository, tmp_path, monkeypatch):
    other = Repository(tmp_path / "other")
    other.commit(files={"z.py": "x\n"})
    repository.commit(files={"a.py": "x\n"})
    monkeypatch.setenv("GIT_DIR", f"{other.root}/.git")
    monkeypatch.setenv("GIT_WORK_TREE", other.root)
    assert [each[1] for each in repository.check("`a.py`, `z.py`")] == ["valid", "missing"]


def test_a_damaged_repository_is_walked(repository):
    repository.commit(files={"a.py": "def run_all(): ...\n"})
    repository.write(".git/index", b"no index")
    assert [each[1] for each in repository.check("`a.py`, `run_all()`, `b.py`")] == ["valid", "valid", "missing"]


# -- labelled by construction --------------------------------------------------------------------------------------


def test_verdicts_by_construction(tmp_path):
    """Memories written at each commit of a scripted history; what the history did later is the label."""
    from foretold.memory.note import Memory

    place = Repository(tmp_path / "repo")
    labels: dict[str, str] = {}
    notes: list[Memory] = []
    for number in range(12):
        place.write(
            f"src/m{number}.py", f"def task_{number}_run():\n    return '--mode-{number}x'\n" + f"{number}" + LONG
        )
    place.commit()
    for number in range(12):
        fate = ("kept", "renamed", "deleted", "symbol")[number % 4]
        text = (
            f"Task {number} is `task_{number}_run()` in `src/m{number}.py`.\n\n**Why:** `--mode-{number}x` is slow.\n"
        )
        notes.append(read_note(f"{fate}-{number}.md", text.encode()))
        if fate == "renamed":
            place.git("mv", f"src/m{number}.py", f"src/task{number}.py")
        elif fate == "deleted":
            place.git("rm", "-q", f"src/m{number}.py")
        elif fate == "symbol":
            place.write(f"src/m{number}.py", f"def other_{number}():\n    return '--mode-{number}x'\n")
        place.commit()
        labels[notes[-1].file] = {"kept": "valid", "renamed": "moved"}.get(fate, "missing")
    assert {verdict.file: verdict.state for verdict in verify(notes, place.root)} == labels


# -- paths that resolve by their end -----------------------------------------------------------------------------


def test_a_renamed_file_is_not_its_namesake(repository):
    repository.commit(files={"README.rst": LONG, "examples/README.rst": "x\n"})
    repository.git("mv", "README.rst", "README.md")
    commit = repository.commit()[:7]
    assert repository.check("See `README.rst`.") == [
        ("README.rst", "moved", f"git moved it to README.md in {commit} ({DATE})")
    ]


def test_a_deleted_file_is_not_its_namesake(repository):
    repository.commit(files={"setup.cfg": LONG, "tests/sample/setup.cfg": "x\n"})
    repository.git("rm", "-q", "setup.cfg")
    commit = repository.commit()[:7]
    assert repository.check("See `setup.cfg`.") == [("setup.cfg", "missing", f"git deleted it in {commit} ({DATE})")]


def test_a_file_that_moved_down_still_resolves(repository):
    repository.commit(files={"shop/cart.py": LONG})
    os.mkdir(f"{repository.root}/src")
    repository.git("mv", "shop", "src/shop")
    repository.commit()
    assert repository.check("See `shop/cart.py`.") == [("shop/cart.py", "valid", "it is src/shop/cart.py")]


def test_a_file_that_was_written_anew_elsewhere_still_resolves(repository):
    repository.commit(files={"util.py": LONG})
    repository.git("rm", "-q", "util.py")
    repository.commit(files={"src/util.py": "all new\n"})
    assert repository.check("See `util.py`.") == [("util.py", "valid", "it is src/util.py")]


# -- what is said, and not claimed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "We plan a `src/asgi.py`.",
        "Next year we plan `src/asgi.py` with `AsgiServer`.",
        "`flask/app.py` is not part of this repository.",
        "`src/old.py` was removed.",
        "`src/next.py` should become the second backend.",
        "The project once had a `BaseSpider`.",
        "If we ever need it, `src/cache/disk.py` would be the place.",
        "Sentry's `capture_exception()` is called on errors.",
        "Users put their own parts into `mysite/parts.py`.",
        "An async pool might one day be `src/aio.py`.",
        "The viewer is in its own repository, `viewer/tasks.py` is not here.",
    ],
)
def test_a_hedged_sentence_claims_nothing(repository, text):
    repository.commit(files={"src/a.py": "x = 1\n"})
    assert {state for _, state, _ in repository.check(text)} == {"unknown"}


def test_needles_of():
    assert [needle.text for needle in needles_of(DriftClaim("symbol", "Store.open", 1, True))] == ["Store", "open"]
