"""A disk that is full, broken, or gone; and what others leave on it.

Real errors of the system come from a small library that is loaded before the C library (`faults.c`, needs a C compiler)
and from permission bits and limits of the system, which need none.
"""

import errno
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys

import pytest

from foretold.memory.note import INDEX, MAX_FILE

HERE = os.path.dirname(os.path.abspath(__file__))

# One memory that cannot be read

#: the nine commands that stopped at one file that cannot be read, and their exit codes: 1 where it is a finding
COMMANDS = {
    "list": (["list"], 1),
    "show": (["show", "other"], 0),
    "add": (["add", "New", "-t", "user", "-d", "d", "-b", "b"], 0),
    "verify": (["verify"], 1),
    "doctor": (["doctor"], 1),
    "export": (["export", "-"], 1),
    "log": (["log"], 0),
    "rm": (["rm", "other"], 0),
    "recall": (["recall", "other"], 0),
}
FINDS = ("list", "verify", "doctor", "export")


def note(name):
    return f"---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: user\n---\n\nThe {name} one.\n"


@pytest.fixture
def folder(place):
    for name in ("bad", "other", "third"):
        place.write(f"memory/user_{name}.md", note(name))
    place.write("memory/MEMORY.md", "# Mine\n\nKeep this line.\n")
    return place.path("memory")


@pytest.fixture(scope="session")
def faults(tmp_path_factory):
    """A library that makes system calls fail; its path."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler, so system calls cannot be made to fail")
    path = str(tmp_path_factory.mktemp("faults") / "faults.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, os.path.join(HERE, "faults.c"), "-ldl"], check=True)
    return path


def index_of(folder):
    with open(f"{folder}/{INDEX}", encoding="utf-8") as file:
        return file.read()


def memory(installed, folder, *words, **options):
    code, out, err = installed.run("memory", *words, "--folder", folder, **options)
    return code, out.decode(), err.decode()


def check(installed, folder, name, env, reason):
    words, wanted = COMMANDS[name]
    code, out, err = memory(installed, folder, *words, env=env)
    assert (code, "cannot be written" in err) == (wanted, False), err
    if name in FINDS:
        assert "user_bad.md" in out + err
        assert reason in " ".join((out + err).split())
    if name == "add":
        assert os.path.exists(f"{folder}/user_new.md")
    if name == "rm":
        assert not os.path.exists(f"{folder}/user_other.md")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    ("call", "code"), [("read", errno.EIO), ("read", errno.ESTALE), ("open", errno.EIO), ("open", errno.EACCES)]
)
def test_a_memory_that_the_disk_does_not_give_stops_nothing(installed, folder, faults, name, call, code):
    reason = "permission denied" if code == errno.EACCES else os.strerror(code)
    check(installed, folder, name, {"LD_PRELOAD": faults, "FAULT": f"{call}:{code}:user_bad.md"}, reason)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_memory_that_this_user_may_not_read_stops_nothing(installed, folder, needs_bits, name):
    os.chmod(f"{folder}/user_bad.md", 0)
    check(installed, folder, name, {}, "permission denied")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_in_the_place_of_a_memory_stops_nothing(installed, folder, name):
    memory(installed, folder, "log")
    os.unlink(f"{folder}/user_bad.md")
    os.mkdir(f"{folder}/user_bad.md")
    check(installed, folder, name, {}, "it is a folder")


def test_a_memory_that_vanishes_while_it_is_read_is_not_there(installed, folder, faults):
    env = {"LD_PRELOAD": faults, "FAULT": f"open:{errno.ENOENT}:user_bad.md"}
    code, out, _ = memory(installed, folder, "list", env=env)
    assert (code, "user_other" in out, "user_bad" in out) == (0, True, False)


def test_the_memory_that_cannot_be_read_says_so_itself(installed, folder, faults):
    env = {"LD_PRELOAD": faults, "FAULT": f"read:{errno.EIO}:user_bad.md"}
    code, _, err = memory(installed, folder, "show", "user_bad", env=env)
    assert (code, err) == (3, "foretold: cannot read user_bad.md: Input/output error\n")
    for words in (("show", "bad"), ("edit", "bad", "-b", "x"), ("rm", "bad"), ("rename", "bad", "New")):
        code, _, err = memory(installed, folder, *words, env=env)
        assert (code, "cannot read user_bad.md" in err, "no memory" in err) == (3, True, False), (words, err)


def test_the_entry_of_an_unreadable_memory_does_not_dangle(installed, folder, faults):
    memory(installed, folder, "add", "First", "-t", "user", "-d", "d", "-b", "b")
    env = {"LD_PRELOAD": faults, "FAULT": f"open:{errno.EACCES}:user_bad.md"}
    code, out, _ = memory(installed, folder, "doctor", env=env)
    assert (code, "cannot read user_bad.md" in out, "does not exist" in out) == (1, True, False), out


def test_an_unreadable_index_is_said_by_list_and_no_advice_loses_it(installed, folder, faults):
    memory(installed, folder, "add", "First", "-t", "user", "-d", "d", "-b", "b")
    env = {"LD_PRELOAD": faults, "FAULT": f"open:{errno.EACCES}:MEMORY.md"}
    for name in ("list", "doctor"):
        code, out, _ = memory(installed, folder, name, env=env)
        assert (code, "chmod u+r " in out, "plain file" in out, "missing" in out) == (1, True, False, False), out
        assert "Nothing was changed" not in out


def test_a_folder_that_cannot_be_read_is_not_empty(installed, folder, needs_bits):
    memory(installed, folder, "add", "First", "-t", "user", "-d", "d", "-b", "b")
    os.chmod(folder, 0)
    try:
        code, out, _ = memory(installed, folder, "list")
    finally:
        os.chmod(folder, 0o700)
    assert (code, "cannot be read" in out, "no memories here yet" in out) == (1, True, False), out


def test_what_could_not_be_read_is_not_taken_for_deleted(installed, folder, faults):
    memory(installed, folder, "add", "First", "-t", "user", "-d", "d", "-b", "b")
    env = {"LD_PRELOAD": faults, "FAULT": f"read:{errno.EIO}:user_bad.md"}
    memory(installed, folder, "add", "New", "-t", "user", "-d", "d", "-b", "b", env=env)
    assert "delete" not in memory(installed, folder, "log", env=env)[1]
    assert "user_bad.md" in index_of(folder)


# A disk that takes nothing


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (f"write:{errno.ENOSPC}:log.jsonl", "the disk is full"),
        (f"write:{errno.EIO}:log.jsonl", "Input/output error"),
        (f"flock:{errno.ENOLCK}:memory", "No locks available"),
    ],
)
def test_a_disk_that_takes_nothing_changes_nothing(installed, folder, faults, fault, said):
    memory(installed, folder, "log")
    before = digest_of_tree(folder)
    env = {"LD_PRELOAD": faults, "FAULT": fault}
    code, _, err = memory(installed, folder, "add", "New", "-t", "user", "-d", "d", "-b", "b", env=env)
    assert (code, said in err, "Nothing was changed" in err) == (3, True, True), err
    assert digest_of_tree(folder) == before
    assert memory(installed, folder, "add", "New", "-t", "user", "-d", "d", "-b", "b")[0] == 0


def test_a_limit_on_the_size_of_files_changes_nothing(installed, folder):
    memory(installed, folder, "log")
    before = digest_of_tree(folder)
    small = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))}
    code, _, err = memory(installed, folder, "rm", "other", **small)
    assert (code, "cannot be written" in err) == (3, False), err
    assert digest_of_tree(folder) == before
    assert memory(installed, folder, "rm", "other")[0] == 0


def digest_of_tree(*folders):
    """Everything below some folders, as one digest."""
    found = hashlib.sha256()
    for top in folders:
        for base, names, files in sorted(os.walk(top)):
            names.sort()
            for name in sorted(files):
                with open(os.path.join(base, name), "rb") as file:
                    found.update(os.path.relpath(os.path.join(base, name), top).encode() + b"\0" + file.read() + b"\0")
    return found.hexdigest()


# An index that is too large to be read

CHANGES = {
    "add": ["add", "New", "-t", "user", "-d", "d", "-b", "b"],
    "edit": ["edit", "other", "-d", "another line"],
    "rename": ["rename", "other", "Another"],
    "rm": ["rm", "other"],
    "restore": ["restore", "third"],
}


@pytest.fixture
def large(installed, folder):
    """A folder whose index grew to twice of what is read, as a merge of git leaves it."""
    memory(installed, folder, "edit", "third", "-d", "changed")
    memory(installed, folder, "rm", "third")
    with open(f"{folder}/{INDEX}", "a", encoding="utf-8") as file:
        file.write("- [Nowhere](nowhere.md) - a line of the other branch\n" * (2 * MAX_FILE // 50))
        file.write("The last line of the user.\n")
    return folder


@pytest.mark.parametrize("name", CHANGES)
def test_a_large_index_hinders_no_change(installed, large, name):
    before = digest_of_file(large)
    code, _, err = memory(installed, large, *CHANGES[name])
    assert (code, err) == (0, "")
    assert digest_of_file(large) == before
    code, out, _ = memory(installed, large, "doctor")
    assert (code, "index-too-large" in out or "bytes: new entries" in " ".join(out.split())) == (1, True)


@pytest.mark.parametrize("words", [["doctor", "--fix"], ["compact", "--yes"]])
def test_a_large_index_is_shortened_and_comes_back(installed, large, words):
    before = digest_of_file(large)
    if words[0] == "compact":
        code, out, _ = memory(installed, large, "compact")
        assert (code, "Keep this line." in out, digest_of_file(large)) == (1, True, before)  # nobody agreed
    memory(installed, large, *words)
    text = index_of(large)
    assert text.startswith("# Mine\n\nKeep this line.\n")
    assert ("The last line of the user." in text, "user_other.md" in text, "nowhere.md" in text) == (True, True, False)
    assert memory(installed, large, "add", "New", "-t", "user", "-d", "d", "-b", "b", "--why", "x")[0] == 0
    assert "user_new.md" in index_of(large)
    number = next(
        each["number"]
        for each in json.loads(memory(installed, large, "log", "--json")[1])["changes"]
        if each["file"] == INDEX and each["text"] is None
    )
    assert memory(installed, large, "restore", INDEX, "--at", str(number))[0] == 0
    assert digest_of_file(large) == before


def test_the_old_index_comes_back_at_once(installed, large):
    before = digest_of_file(large)
    memory(installed, large, "doctor", "--fix")
    assert memory(installed, large, "restore", INDEX)[0] == 0
    assert digest_of_file(large) == before


def digest_of_file(folder):
    with open(f"{folder}/{INDEX}", "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def test_reading_a_large_index_takes_little_memory(installed, folder):
    with open(f"{folder}/{INDEX}", "w", encoding="utf-8") as file:
        file.writelines(f"- [Line {number}](no_{number}.md) - {'x' * 60}\n" for number in range(600_000))
    for words in (["list"], ["show", "--index"], ["doctor"], ["doctor", "--fix"]):
        code = (
            # not getrusage: its maximum includes the process that started this one
            "import sys; from foretold.cli import main; main(sys.argv[1:])\n"
            "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
            "print(status['VmHWM'].split()[0], file=sys.stderr)"
        )
        run = [sys.executable, "-I", "-c", code, "memory", *words, "--folder", folder]
        done = subprocess.run(
            run, env=installed.environment(), cwd=installed.place.proj, capture_output=True, check=False
        )
        peak = int(done.stderr.split()[-1])
        assert peak < 250 * 1024, words  # the index has 60 MB; as text with its lines it would be ten times that


# A store that a newer foretold wrote

WRITES = [*CHANGES.values(), ["doctor", "--fix"], ["log"], ["diff", "other"], ["inbox", "accept", "abcd"]]


@pytest.mark.parametrize("words", WRITES, ids=" ".join)
def test_a_store_of_a_newer_program_is_refused_and_stays(installed, folder, words):
    memory(installed, folder, "log")
    own = [os.path.join(base, name) for base, _, names in os.walk(installed.place.home) for name in names]
    mark = next(path for path in own if path.endswith("/format"))
    with open(mark, "w", encoding="utf-8") as file:
        file.write('{"store": 99, "written_by": "9.9"}\n')
    state = os.path.dirname(mark)
    before = digest_of_tree(folder, state)
    code, _, err = memory(installed, folder, *words)
    assert digest_of_tree(folder, state) == before
    if words[0] != "inbox":
        assert code == 3
        assert "written by a newer foretold (format 99; this one knows 2). Nothing was changed" in err
    for reading in (["list"], ["show", "other"], ["recall", "other"]):
        assert memory(installed, folder, *reading)[0] == 0
    assert digest_of_tree(folder, state) == before
