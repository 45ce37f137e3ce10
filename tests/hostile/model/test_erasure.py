"""A model that writes what it should not: what it wrote can be taken out again, everywhere."""

import base64
import binascii
import glob
import hashlib
import json
import os
import zlib

import foretold
from foretold.dialects.claude_code.settings import slug
from foretold.storage.frames import Frames

from ...sessions.talk import Talk

# Erasing

#: a password with every character that some format escapes, and a key that a detector knows
PASSWORD = "pä\"ss\\w/0rd\N{PILE OF POO}'&<k>"
KEY = "AKIAQ7ZZRT4MNB2XKLPD"
SESSION = "11111111-2222-4333-8444-555555555555"


def readings(path):
    """The bytes of a file, and whatever they may be read as: JSON in lines, JSON in JSON, packed records, frames."""
    with open(path, "rb") as file:
        data = file.read()
    yield data
    if path.endswith(".frames"):
        frames = Frames(path)
        for frame in frames.scan():
            yield from parts(frames.read(frame) or b"")
    yield from parts(data)


def parts(data):
    yield data
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        yield from strings(value)


def strings(value):
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
        for unpack in (base64.b64decode, lambda text: zlib.decompress(base64.b64decode(text))):
            try:
                yield unpack(value)
            except (ValueError, binascii.Error, zlib.error):
                continue
        if value.startswith(("{", "[")):
            yield from parts(value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, dict):
        for each in (*value, *value.values()):
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def holding(folder, text):
    """The files below a folder that have a text in any reading."""
    needle = text.encode()
    found = set()
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            if needle in path.encode() or any(needle in each for each in readings(path)):
                found.add(os.path.relpath(path, folder))
    return found


def leak(place, installed, text):
    """A model writes a text wherever a model can: memories, versions, proposals, a session that is archived."""

    def run(*words, code=0, **options):
        answer = installed.run(*words, **options)
        assert answer[0] == code, answer
        return answer[1].decode()

    long = "Filler.\n" * 2000
    run("memory", "add", "Deploy", "-t", "project", "-d", f"with {text}", "-b", f"{long}The key is {text}.", "--anyway")
    run("memory", "edit", "deploy", "-b", f"{long}The key is {text}!", "--anyway")
    run("memory", "edit", "deploy", "-d", "harmless", "-b", f"{long}The key is elsewhere.")
    run("memory", "add", "Gone", "-t", "user", "-d", "gone", "-b", text, "--anyway")
    run("memory", "rm", "gone")
    run("memory", "add", "Other", "-t", "user", "-d", "not about it", "-b", "Use tabs.")
    quoted = json.dumps({"command": f"curl -u me:{text}"})
    talk = Talk(SESSION, cwd=place.proj).user(f"use {text}").says("ok").calls("Bash", command=quoted).result(text)
    talk.write(place.home, slug(place.proj))
    run("sessions", "archive")
    run("sessions", "search", "use")
    run("memory", "recall", "deploy key")
    place.write("export.json", json.dumps({"schema": "foretold.export/1", "text": f"The key is {text}."}))
    place.write("page.html", f"<p>{text.replace('&', '&amp;').replace('<', '&lt;')}</p>")
    memories = foretold.memory.open(place.proj, home=place.home, managed=place.managed, env={}, policy="confirm")
    written = {"type": "user", "description": "proposed", "body": text}
    memories.create("Proposed", **written, by="agent", allow_credentials=True)
    return run


def erase(installed, text, *words, code):
    answer = installed.run(
        "memory", "erase", "--text-from", "-", *words, "--yes", "--json", given=text.encode() + b"\n"
    )
    assert answer[0] == code, answer
    return json.loads(answer[1])


def check_erased(place, installed, text):
    leak(place, installed, text)
    transcript = f".claude/projects/{slug(place.proj)}/{SESSION}.jsonl"
    ours = holding(place.home, text) - {transcript}
    assert any(path.endswith("log.jsonl") for path in ours)
    assert any(path.endswith(".frames") for path in ours)
    also = ("--also", place.path("export.json"), "--also", place.path("page.html"))

    shown = installed.run("memory", "erase", "--text-from", "-", *also, given=text.encode())
    assert shown[0] == 1
    assert b"would be erased" in shown[1]
    assert text.encode() not in shown[1] + shown[2]
    assert holding(place.home, text) - {transcript} == ours  # it only looked

    done = erase(installed, text, *also, code=1)  # 1: an agent's own transcript still has it, and is named
    assert (done["done"], done["left"]) == (True, 0)
    assert done["found"] > 6
    named = [each["path"] for each in done["places"] if each["kind"] == "agent" and each["found"]]
    assert named == [place.path(f"home/{transcript}")]
    assert holding(place.home, text) == {transcript}
    assert holding(place.root, text) - {f"home/{transcript}"} == set()
    assert text not in json.dumps(done, ensure_ascii=False)

    erase(installed, text, "--also", place.path(f"home/{transcript}"), code=0)
    assert holding(place.root, text) == set()


def test_a_password_is_erased_from_everything_in_every_spelling(place, installed):
    check_erased(place, installed, PASSWORD)


def test_a_key_is_erased_and_what_is_left_works(place, installed):
    check_erased(place, installed, KEY)
    code, out, err = installed.run("memory", "log", "--json")
    assert (code, err) == (0, b"")
    log = json.loads(out)["changes"]
    assert [each["number"] for each in log] == list(range(len(log), 0, -1))
    first = log[-1]
    assert first["erased"]
    assert "The key is (erased)." in first["text"]
    assert any(each["op"] == "erase" for each in log)
    for words in (("restore", "deploy", "--at", "1"), ("restore", "gone"), ("show", "deploy"), ("diff", "--at", "2")):
        assert installed.run("memory", *words)[0] == 0, words
    verified = installed.run("sessions", "archive", "--verify")
    assert verified[0] == 0, verified
    archive = glob.glob(place.path("home/.local/state/foretold/archive/*/*.frames"))
    assert len(archive) == 1


def test_a_memory_is_erased_with_all_its_versions(place, installed):
    run = leak(place, installed, KEY)
    run("memory", "erase", "deploy", "--yes")
    code, out, _ = installed.run("memory", "log", "project_deploy", "--json")
    life = json.loads(out)["changes"]
    assert code == 0
    assert life[0]["op"] == "erase"
    assert all(each["text"] is None and each["erased"] for each in life)
    code, _, err = installed.run("memory", "restore", "deploy", "--at", "1")
    assert (code, b"was erased on" in err) == (2, True)
    assert b"deploy" not in installed.run("memory", "show", "--index")[1]
    assert installed.run("memory", "doctor")[0] == 0


def test_a_memory_is_erased_from_every_store_that_has_or_had_it(place, installed):
    place.git("init -q")
    for words in (
        ("add", "Router", "-t", "project", "-d", "first XYZZY-ONE", "-b", "It is XYZZY-ONE."),
        ("edit", "router", "-b", "It is XYZZY-TWO."),
        ("share", "router", "--yes"),
        ("rm", "router"),
    ):
        code, _, err = installed.run("memory", *words)
        assert code == 0, err
    assert len(holding(place.root, "XYZZY")) > 2  # the team's file, two histories
    code, out, err = installed.run("memory", "erase", "router", "--yes")
    assert code == 0, (out, err)
    assert holding(place.root, "XYZZY") == set()


def test_the_credentials_of_a_memory_are_erased_by_kind_and_not_shown(place, installed):
    leak(place, installed, KEY)
    code, out, err = installed.run("memory", "erase", "deploy", "--credentials", "--yes")
    assert (code, err) == (1, b"")
    assert b"AWS access key" in out
    assert KEY.encode() not in out
    left = {path for path in holding(place.home, KEY) if not path.startswith(".claude/projects")}
    assert left == set()


def test_a_text_is_not_taken_from_the_command_line(place, installed):
    leak(place, installed, KEY)
    code, out, err = installed.run("memory", "erase", KEY, "--yes")
    assert code == 2
    assert KEY.encode() not in out + err
    assert b"--text-from -" in err
    assert installed.run("memory", "erase")[0] == 3  # without a terminal nobody can be asked


def test_a_text_that_is_too_short_is_refused(place, installed):
    leak(place, installed, KEY)
    code, _, err = installed.run("memory", "erase", "--text-from", "-", "--yes", given=b"ey\n")
    assert (code, b"4 to" in err) == (3, True)


def test_where_everything_of_ours_is_in_one_folder_settings_stay_and_caches_go(place, installed):
    env = {"FORETOLD_HOME": place.path("ours")}
    settings = place.write("ours/config.toml", f'[memory]\n# {KEY}\npolicy = "auto"\n')
    words = ("memory", "add", "Deploy", "-t", "project", "-d", "key", "-b", f"It is {KEY}.", "--anyway")
    assert installed.run(*words, env=env)[0] == 0
    assert installed.run("memory", "recall", "deploy key", env=env)[0] == 0
    answer = installed.run("memory", "erase", "--text-from", "-", "--yes", "--json", given=KEY.encode(), env=env)
    assert answer[0] == 1, answer
    done = json.loads(answer[1])
    assert [each["path"] for each in done["places"] if each["kind"] == "settings" and each["found"]] == [settings]
    assert holding(place.root, KEY) == {"ours/config.toml"}


def test_copies_that_undo_a_restore_are_deleted_with_what_names_them(place, installed):
    """Objects are named after their digest: who knows the rest of a file finds a short password by it."""
    data = f"password = {PASSWORD}\n".encode()
    name = hashlib.sha256(data).hexdigest()
    state = "home/.local/state/foretold/files"
    place.write(f"{state}/objects/{name}", data)
    place.write(f"{state}/restores/1.json", json.dumps({"files": [{"before": [name, 420]}]}))
    erase(installed, PASSWORD, code=0)
    assert not os.path.exists(place.path(f"{state}/objects/{name}"))
    assert holding(place.home, name) == set()
    with open(place.path(f"{state}/restores/1.json"), encoding="utf-8") as file:
        assert len(json.load(file)["files"][0]["before"][0]) == 64


# What cannot be searched


def add(installed, topic, body, **options):
    words = ("memory", "add", topic, "-t", "user", "-d", "about it", "-b", body, "--anyway")
    assert installed.run(*words, **options)[0] == 0


def erase_in_words(installed, text, *words):
    code, out, err = installed.run("memory", "erase", "--text-from", "-", *words, given=text.encode())
    assert err == b""
    return code, " ".join(out.decode().split())


def store_of(place):
    return f"{place.home}/.claude/projects/{slug(place.proj)}/memory"


def test_one_unreadable_memory_stops_no_erasing_and_is_named(place, installed, needs_bits):
    add(installed, "Locked", "Nothing to see.")
    add(installed, "Leak", f"The key is {KEY}.")
    os.chmod(f"{store_of(place)}/user_locked.md", 0)
    for words in ((), ("--yes",), ("--yes",)):
        code, said = erase_in_words(installed, KEY, *words)
        assert code == (3 if words else 1), said
        assert "user_locked.md" in said
        assert "nowhere" not in said
        assert "none is left" not in said
    os.chmod(f"{store_of(place)}/user_locked.md", 0o600)
    assert holding(place.home, KEY) == set()
    assert erase_in_words(installed, KEY, "--yes")[0] == 0


def test_nothing_is_promised_about_what_was_not_searched(place, installed, needs_bits):
    """An index, a folder in the store, a folder of an agent, a history: each is named, and the rest is erased."""
    add(installed, "Leak", f"The key is {KEY}.")
    folder = f"{store_of(place)}/auto"
    other = place.write("home/.claude/other/x.txt", "x")
    os.mkdir(folder)
    log = glob.glob(f"{place.home}/.local/state/foretold/*/log.jsonl")[0]
    for path in (folder, os.path.dirname(other), f"{store_of(place)}/MEMORY.md", log):
        mode = os.stat(path).st_mode
        os.chmod(path, 0)
        try:
            for words in ((), ("--yes",)):
                code, said = erase_in_words(installed, "n0t-" + KEY, *words)
                assert (code, os.path.basename(path) in said or "log" in path) == (3, True), said
                assert "nowhere" not in said
                assert "none is left" not in said
        finally:
            os.chmod(path, mode)
    assert erase_in_words(installed, KEY, "--yes")[0] == 0
    assert holding(place.home, KEY) == set()


def test_what_is_no_memory_in_the_folder_is_searched_and_named(place, installed):
    add(installed, "Leak", "It is elsewhere.")
    for name in ("notes.txt", ".hidden.md", "large.md"):
        with open(f"{store_of(place)}/{name}", "w", encoding="utf-8") as file:
            file.write(f"{KEY}\n" + "x" * (5 * 1024 * 1024 if name == "large.md" else 0))
    code, said = erase_in_words(installed, KEY, "--yes")
    assert code == 1
    assert "It is also in 3 files" in said


def test_each_memory_says_how_often_it_had_it_and_one_count_is_printed(place, installed):
    add(installed, "One", f"{KEY}.")
    add(installed, "Two", f"{KEY} and {KEY}.")
    assert installed.run("memory", "recall", "one two")[0] == 0
    before, after = erase_in_words(installed, KEY), erase_in_words(installed, KEY, "--yes")
    count = before[1].split(" occurrences would be erased")[0].split()[-1]
    assert f"{count} occurrences found:" in after[1]
    assert f"erased: {count} of {count} " in after[1]
    assert "would be" not in after[1]
    changes = json.loads(installed.run("memory", "log", "--json")[1])["changes"]
    why = {each["file"]: each["why"] for each in changes if each["op"] == "erase"}
    assert why == {
        "user_one.md": "erased 2 times; 1 record had it",
        "user_two.md": "erased 4 times; 1 record had it",
    }
    for line in installed.run("memory", "erase", "one", "--yes")[1].decode().splitlines():
        assert len(line) <= 80 or "/" in line, line
