"""How Claude Code reads its surroundings."""

import json
import os

import pytest
from hypothesis import given, strategies as st

from foretold.dialects.claude_code.settings import read_surroundings, slug
from foretold.dialects.registry import dialect_at
from foretold.dialects.surroundings import LoadRequest, Repository, Surroundings, walk_of
from foretold.storage.tree import Disk
from foretold.types import Finding

V2_1_197, V2_1_325 = (dialect_at("claude-code", version) for version in ("2.1.197", "2.1.325"))

DATE = "2026-01-02"


class Counting(Disk):
    """A disk that remembers what was read."""

    def __init__(self):
        super().__init__()
        self.reads = []

    def read(self, path, limit):
        self.reads.append(path)
        return super().read(path, limit)


def surroundings_of(
    place, *args, cwd="proj", env=None, settings=None, dialect=V2_1_325, tree=None, model=None, add_dirs=()
):
    request = LoadRequest(
        dialect, place.path(cwd), place.home, place.managed, env or {}, args, settings or {}, model, DATE, add_dirs
    )
    return read_surroundings(tree or Disk(), request)


def write_settings(place, **scopes):
    """Settings files by scope."""
    paths = {
        "user": "home/.claude/settings.json",
        "project": "proj/.claude/settings.json",
        "local": "proj/.claude/settings.local.json",
        "managed": "managed/managed-settings.json",
        "global_": "home/.claude.json",
    }
    for scope, values in scopes.items():
        place.write(paths.get(scope, f"managed/managed-settings.d/{scope}.json"), json.dumps(values))


def test_the_whole_world_of_an_empty_place(place):
    surroundings = surroundings_of(place)
    approved, rest = surroundings.approved, surroundings._replace(approved=None)
    assert rest._asdict() == {
        **Surroundings._field_defaults,
        "cwd": place.proj,
        "walk": tuple(walk_of(place.proj)),
        "home": place.home,
        "user": place.home + "/.claude",
        "managed": place.managed,
        "added": (),
        "off": "",
        "sources": frozenset(("user", "project", "local")),
        "switched_by": "--setting-sources",
        "excludes": (),
        "spelled": {},
        "approved": None,
        "mode": "instead",
        "mode_reason": "",
        "texts": {},
        "memory": f"{place.home}/.claude/projects/{slug(place.proj)}/memory",
        "memory_reason": "",
        "model": "claude-opus-5-5",
        "date": DATE,
        "prompt_follows": False,
        "git": None,
        "findings": (),
        "working": (place.proj,),
        "store": f"{place.home}/.claude/projects/{slug(place.proj)}/memory",
    }
    assert approved("/x") is False


# -- the slug (A3) -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "-"),
        ("/home/me", "-home-me"),
        ("/a.b_c-d e", "-a-b-c-d-e"),
        ("/UPPER/lower/09", "-UPPER-lower-09"),
        ("/é", "--"),
        ("/世界", "---"),
        ("/😀", "---"),  # two UTF-16 units
        ("/a😀b", "-a--b"),
        ("/①²٣", "----"),  # digits elsewhere, not here
        ("/x\udce9", "-x-"),  # a byte that is no UTF-8
    ],
)
def test_a_slug_replaces_every_unit(path, name):
    assert slug(path) == name


def oracle(path):
    """The rule of A3 in other words: JavaScript's string hash over UTF-16 units."""
    raw = path.encode("utf-16-be", "surrogatepass")
    units = [raw[at] << 8 | raw[at + 1] for at in range(0, len(raw), 2)]
    letters = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    text = "".join(chr(unit) if unit in letters else "-" for unit in units)
    if len(text) <= 200:
        return text
    total = sum(unit * pow(31, len(units) - 1 - at, 2**32) for at, unit in enumerate(units)) % 2**32
    total = min(total, 2**32 - total)  # the absolute value of the signed number
    digits = []
    while total or not digits:
        total, rest = divmod(total, 36)
        digits.append("0123456789abcdefghijklmnopqrstuvwxyz"[rest])
    return f"{text[:200]}-{''.join(reversed(digits))}"


#: claude-code-memory: project_slug
RECORDED = [
    ("/tmp/ws/héllo-世界", "-tmp-ws-h-llo---"),
    ("/tmp/ws/x😀y", "-tmp-ws-x--y"),
    ("/tmp/ws/p@+(1)#,=~'x", "-tmp-ws-p---1------x"),
    ("/tmp/ws/ａｂｃ", "-tmp-ws----"),
    ("/tmp/ws/٣٤", "-tmp-ws---"),
    (
        "/tmp/ws/" + "L" * 60 + "/" + "M" * 60 + "/" + "N" * 100,
        "-tmp-ws-" + "L" * 60 + "-" + "M" * 60 + "-" + "N" * 70 + "-kecrv8",
    ),
    ("/tmp/ws/" + "é" * 100 + "/" + "世" * 80, "-tmp-ws" + "-" * 182),
    ("/tmp/ws/" + "😀" * 40 + "/" + "z" * 150, "-tmp-ws" + "-" * 82 + "z" * 111 + "-a0p1qt"),
    ("/tmp/ws/...x/" + "_" * 190, "-tmp-ws----x" + "-" * 189 + "4u6it5"),
]


@pytest.mark.parametrize(("path", "name"), RECORDED, ids=range(len(RECORDED)))
def test_slugs_that_were_recorded(path, name):
    assert (slug(path), oracle(path)) == (name, name)


def test_200_units_stay_whole_and_201_are_shortened():
    assert slug("/" + "a" * 199) == "-" + "a" * 199
    assert slug("/" + "a" * 200)[:201] == "-" + "a" * 199 + "-"
    assert slug("/" + "😀" * 99 + "a") == "-" * 199 + "a"
    assert slug("/" + "😀" * 100)[:201] == "-" * 201


@given(st.text(st.characters(exclude_characters="\0"), max_size=260))
def test_slugs_follow_the_rule(text):
    assert slug("/" + text) == oracle("/" + text)


@given(st.text(max_size=260), st.text(st.sampled_from("a/.é😀"), min_size=190, max_size=230))
def test_long_slugs_follow_the_rule(head, tail):
    assert slug("/" + head + tail) == oracle("/" + head + tail)


# -- settings ------------------------------------------------------------------------------------------------


def test_the_strongest_setting_wins(place):
    order = ["user", "project", "local", "managed", "10-first", "20-second"]
    for count in range(1, len(order) + 1):
        write_settings(place, **{order[count - 1]: {"model": order[count - 1]}})
        assert surroundings_of(place).model == order[count - 1]


def test_the_flag_is_stronger_than_files_but_not_than_managed(place):
    write_settings(place, local={"model": "local"})
    assert surroundings_of(place, settings={"model": "flag"}).model == "flag"
    assert surroundings_of(place, "--settings", '{"model": "text"}').model == "text"
    path = place.write("proj/extra.json", '{"model": "file"}')
    assert surroundings_of(place, "--settings", path).model == "file"
    assert surroundings_of(place, "--settings", "extra.json").model == "file"
    write_settings(place, managed={"model": "managed"})
    assert surroundings_of(place, "--settings", path).model == "managed"


def test_the_model_asked_for_is_stronger_than_settings(place):
    write_settings(place, managed={"model": "managed"})
    assert surroundings_of(place, env={"ANTHROPIC_MODEL": "env"}).model == "env"
    assert surroundings_of(place, "--model", "flag", env={"ANTHROPIC_MODEL": "env"}).model == "flag"
    assert surroundings_of(place, "--model", "flag", model="asked").model == "asked"
    assert surroundings_of(place, dialect=V2_1_197, cwd="home").model == "managed"


def test_a_model_that_is_no_text_is_not_used(place):
    write_settings(place, user={"model": 3})
    assert surroundings_of(place).model == "claude-opus-5-5"
    assert surroundings_of(place, dialect=V2_1_197).model == "claude-opus-4-8"


def test_excludes_of_all_scopes_are_joined(place):
    scopes = ("user", "project", "local", "managed", "50-drop")
    write_settings(place, **{scope: {"claudeMdExcludes": [f"/{scope}"]} for scope in scopes})
    found = surroundings_of(place, settings={"claudeMdExcludes": ["/flag"]}).excludes
    assert found == ("/50-drop", "/managed", "/flag", "/local", "/project", "/user")


@pytest.mark.parametrize(
    ("given_", "sources"),
    [
        ([], {"user", "project", "local"}),
        (["--setting-sources", "user"], {"user"}),
        (["--setting-sources", "user, local"], {"user", "local"}),
        (["--setting-sources=project"], {"project"}),
        (["--setting-sources", ""], set()),
        (["--setting-sources="], set()),
        (["--setting-sources", "managed,nonsense"], set()),
    ],
)
def test_setting_sources(place, given_, sources):
    write_settings(place, **{scope: {"claudeMdExcludes": [scope]} for scope in ("local", "project", "user", "managed")})
    surroundings = surroundings_of(place, *given_)
    assert surroundings.sources == sources
    assert surroundings.excludes == ("managed", *(scope for scope in ("local", "project", "user") if scope in sources))


def test_the_text_of_managed_settings(place):
    where = "<managed-settings>"
    write_settings(place, user={"claudeMd": "user"}, project={"claudeMd": "project"}, local={"claudeMd": "local"})
    assert surroundings_of(place, settings={"claudeMd": "flag"}).texts == {}
    write_settings(place, managed={"claudeMd": "plain"})
    assert surroundings_of(place).texts == {"claudeMd": (where, "plain")}
    write_settings(place, **{"10-a": {"claudeMd": "first"}, "20-b": {"claudeMd": "last"}})
    assert surroundings_of(place).texts == {"claudeMd": (where, "last")}


def test_a_drop_in_that_is_hidden_or_no_json_is_not_read(place):
    write_settings(place, managed={"claudeMd": "plain"})
    for name in (".hidden.json", "50-x.json.bak", "60-x.txt"):
        place.write(f"managed/managed-settings.d/{name}", '{"claudeMd": "no"}')
    assert surroundings_of(place).texts == {"claudeMd": ("<managed-settings>", "plain")}


def test_broken_settings_are_findings(place):
    place.write("home/.claude/settings.json", "{")
    place.folder("proj/.claude/settings.json")
    place.fifo("proj/.claude/settings.local.json")
    place.write("managed/managed-settings.json", "[]")
    place.write("managed/managed-settings.d/a.json", "[" * 100_000)
    surroundings = surroundings_of(
        place, "--settings", "missing.json", "--settings", "{nonsense"
    )  # the last one counts
    assert [(place.short(each.path), each.line, each.code) for each in surroundings.findings] == [
        ("managed/managed-settings.d/a.json", None, "settings-invalid"),
        ("managed/managed-settings.json", None, "settings-invalid"),
        ("--settings", 1, "settings-invalid"),
        ("proj/.claude/settings.local.json", None, "settings-unreadable"),
        ("proj/.claude/settings.json", None, "settings-unreadable"),
        ("home/.claude/settings.json", 1, "settings-invalid"),
    ]
    assert all(isinstance(each, Finding) for each in surroundings.findings)


def test_the_config_folder_moves(place):
    elsewhere = place.folder("elsewhere")
    place.write("elsewhere/settings.json", '{"model": "moved"}')
    write_settings(place, user={"model": "home"})
    surroundings = surroundings_of(place, env={"CLAUDE_CONFIG_DIR": elsewhere})
    assert (surroundings.user, surroundings.model) == (elsewhere, "moved")
    assert surroundings.memory == f"{elsewhere}/projects/{slug(place.proj)}/memory"
    assert surroundings_of(place, env={"CLAUDE_CONFIG_DIR": "conf"}).user == place.proj + "/conf"
    assert surroundings_of(place, env={"CLAUDE_CONFIG_DIR": ""}).user == place.proj


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", 3),
        ("claudeMdExcludes", "**"),
        ("claudeMdExcludes", ["**", 3]),
        ("autoMemoryEnabled", "no"),
        ("enabledPlugins", []),
        ("env", "X=1"),
        ("includeCoAuthoredBy", 0),
    ],
)
def test_a_value_of_the_wrong_type_costs_the_whole_file(place, key, value):
    """But a managed file loses that key alone."""
    write_settings(place, user={"autoMemoryDirectory": "/x/u", key: value})
    surroundings = surroundings_of(place)
    assert surroundings.memory != "/x/u"
    assert [(place.short(each.path), each.code, each.message.partition(" ")[0]) for each in surroundings.findings] == [
        ("home/.claude/settings.json", "settings-invalid", key)
    ]
    write_settings(place, user={}, managed={"claudeMd": "kept", key: value})
    surroundings = surroundings_of(place)
    assert surroundings.texts == {"claudeMd": ("<managed-settings>", "kept")}
    assert [place.short(each.path) for each in surroundings.findings] == ["managed/managed-settings.json"]


def test_settings_may_set_the_environment(place):
    name = "CLAUDE_CODE_SIMPLE"
    write_settings(place, user={"env": {name: "1", "UNKNOWN": "1"}})
    assert surroundings_of(place).off == name
    write_settings(place, local={"env": {name: "0"}})
    assert surroundings_of(place).off == ""
    assert surroundings_of(place, env={name: "1"}).off == ""


def test_relative_folders_are_shown_as_they_were_given(place):
    surroundings = surroundings_of(place, "--add-dir", "./a//b", "/abs", "../x", env={"CLAUDE_CONFIG_DIR": "conf"})
    assert surroundings.spelled == {
        place.path("proj/a/b"): "a/b/",
        place.path("x"): "../x/",
        place.path("proj/conf"): "conf/",
    }


# -- switches ------------------------------------------------------------------------------------------------

OFF = [
    (["--safe-mode"], {}, "--safe-mode"),
    (["--bare"], {}, "--bare"),
    ([], {"CLAUDE_CODE_SIMPLE": "1"}, "CLAUDE_CODE_SIMPLE"),
    ([], {"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"}, "CLAUDE_CODE_DISABLE_CLAUDE_MDS"),
    ([], {"CLAUDE_CODE_SIMPLE": "0", "CLAUDE_CODE_DISABLE_CLAUDE_MDS": ""}, ""),
]


@pytest.mark.parametrize(("args", "env", "off"), OFF)
@pytest.mark.parametrize("dialect", [V2_1_197, V2_1_325], ids=["197", "325"])
def test_what_turns_all_loading_off(place, args, env, off, dialect):
    assert surroundings_of(place, *args, env=env, dialect=dialect).off == off


@pytest.mark.parametrize(("dialect", "off"), [(V2_1_197, ""), (V2_1_325, "--bare")], ids=["197", "325"])
def test_an_added_folder_turned_loading_back_on_once(place, dialect, off):
    assert surroundings_of(place, "--bare", "--add-dir", "../x", dialect=dialect).off == off
    assert surroundings_of(place, "--bare", dialect=dialect, add_dirs=("../x",)).off == off


def test_added_folders_need_a_variable(place):
    on = {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}
    assert surroundings_of(place, "--add-dir", "../x", "/y").added == ()
    assert surroundings_of(place, "--add-dir", "../x", "/y", "--add-dir", "z", env=on, add_dirs=("w",)).added == (
        place.path("x"),
        "/y",
        place.path("proj/z"),
        place.path("proj/w"),
    )


# -- approval ------------------------------------------------------------------------------------------------

APPROVED = {"hasClaudeMdExternalIncludesApproved": True}


def test_approval_is_read_when_asked_for_and_once(place):
    write_settings(place, global_={"projects": {place.proj: APPROVED}})
    tree = Counting()
    surroundings = surroundings_of(place, tree=tree)
    path = place.path("home/.claude.json")
    assert path not in tree.reads
    assert [surroundings.approved("/x"), surroundings.approved("/y"), tree.reads.count(path)] == [True, True, 1]


@pytest.mark.parametrize(
    "value", [{}, {"projects": {}}, {"projects": []}, {"projects": {"/elsewhere": APPROVED}}, {"projects": None}, []]
)
def test_no_approval(place, value):
    write_settings(place, global_=value)
    assert surroundings_of(place).approved("/x") is False


@pytest.mark.parametrize("value", [1, "true", None, False, [True]])
def test_only_true_approves(place, value):
    write_settings(place, global_={"projects": {place.proj: {"hasClaudeMdExternalIncludesApproved": value}}})
    assert surroundings_of(place).approved("/x") is False


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, b"\xff\0"], ids=["empty", "open", "deep", "bytes"])
def test_a_broken_global_file_approves_nothing(place, content):
    place.write("home/.claude.json", content)
    assert surroundings_of(place).approved("/x") is False


def test_in_a_repository_its_top_is_the_key(place):
    place.git("init -q")
    place.folder("proj/sub")
    write_settings(place, global_={"projects": {place.path("proj/sub"): APPROVED}})
    assert surroundings_of(place, cwd="proj/sub").approved("/x") is False
    write_settings(place, global_={"projects": {place.proj: APPROVED}})
    assert surroundings_of(place, cwd="proj/sub").approved("/x") is True


def test_the_global_file_follows_the_config_folder(place):
    write_settings(place, global_={"projects": {place.proj: APPROVED}})
    place.folder("conf")
    env = {"CLAUDE_CONFIG_DIR": place.path("conf")}
    assert surroundings_of(place, env=env).approved("/x") is False
    place.write("conf/.claude.json", json.dumps({"projects": {place.proj: APPROVED}}))
    assert surroundings_of(place, env=env).approved("/x") is True


# -- AGENTS.md (F27-F29) -------------------------------------------------------------------------------------

NAME, CC_NAME = "agents-md@builtin", "cc-plugin-agents-md@builtin"


def mode(value, name=NAME):
    return {"pluginConfigs": {name: {"options": {"instructionFiles": value}}}}


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        ("claude-md", "never"),
        ("claude-md-or-agents-md", "instead"),
        ("claude-md-and-agents-md", "beside"),
        ("managed-only", "managed-only"),
        ("nonsense", "instead"),
        (3, "instead"),
        (None, "instead"),
        (["claude-md"], "instead"),
        ({}, "instead"),
    ],
)
def test_modes(place, value, meaning):
    write_settings(place, user=mode(value))
    assert surroundings_of(place).mode == meaning


def test_which_scopes_may_set_the_mode(place):
    write_settings(place, project=mode("claude-md"), local=mode("claude-md"))
    assert surroundings_of(place).mode == "instead"
    write_settings(place, user=mode("claude-md"))
    assert surroundings_of(place).mode_reason == f"instructionFiles in {place.path('home/.claude/settings.json')}"
    assert surroundings_of(place, settings=mode("managed-only")).mode == "managed-only"
    write_settings(place, managed=mode("claude-md-and-agents-md"))
    assert surroundings_of(place, settings=mode("managed-only")).mode == "beside"


def test_the_longer_name_wins(place):
    both = {"pluginConfigs": {**mode("claude-md")["pluginConfigs"], **mode("managed-only", CC_NAME)["pluginConfigs"]}}
    write_settings(place, user=both)
    assert surroundings_of(place).mode == "managed-only"


@pytest.mark.parametrize("scope", ["user", "project", "local", "managed"])
@pytest.mark.parametrize("name", [NAME, CC_NAME])
def test_the_plugin_can_be_disabled_anywhere(place, scope, name):
    write_settings(place, **{scope: {"enabledPlugins": {name: False}}})
    surroundings = surroundings_of(place)
    assert (surroundings.mode, surroundings.mode_reason.startswith("enabledPlugins in /")) == ("never", True)


@pytest.mark.parametrize(
    ("sources", "meaning"), [("user", "never"), ("", "never"), ("local", "never"), ("project", "instead")]
)
def test_without_project_sources_there_is_no_agents_md(place, sources, meaning):
    assert surroundings_of(place, "--setting-sources", sources).mode == meaning


# -- the memory folder (A1, A2) ------------------------------------------------------------------------------

DEFAULT = "{user}/projects/{slug}/memory"


def memory_of(place, surroundings):
    return surroundings.memory.replace(f"{place.home}/.claude", "{user}").replace(slug(place.proj), "{slug}")


@pytest.mark.parametrize(
    ("args", "env", "settings", "reason"),
    [
        (["--bare"], {}, {}, "--bare"),
        (["--safe-mode"], {}, {}, "--safe-mode"),
        ([], {"CLAUDE_CODE_SIMPLE": "1"}, {}, "CLAUDE_CODE_SIMPLE"),
        ([], {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, {}, "CLAUDE_CODE_DISABLE_AUTO_MEMORY"),
        ([], {}, {"user": {"autoMemoryEnabled": False}}, "autoMemoryEnabled in {user}"),
        ([], {}, {"project": {"autoMemoryEnabled": False}}, "autoMemoryEnabled in {project}"),
        ([], {}, {"local": {"autoMemoryEnabled": False}}, "autoMemoryEnabled in {local}"),
    ],
)
def test_what_turns_memory_off(place, args, env, settings, reason):
    write_settings(place, **settings)
    surroundings = surroundings_of(place, *args, env=env)
    names = {
        "user": place.path("home/.claude/settings.json"),
        "project": place.path("proj/.claude/settings.json"),
        "local": place.path("proj/.claude/settings.local.json"),
    }
    assert (surroundings.memory, surroundings.memory_reason) == ("", reason.format(**names))


@pytest.mark.parametrize(
    ("args", "env", "settings"),
    [
        ([], {}, {}),
        ([], {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}, {"user": {"autoMemoryEnabled": False}}),
        ([], {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "false"}, {"local": {"autoMemoryEnabled": False}}),
        ([], {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": ""}, {}),
        (["--system-prompt", "X"], {}, {}),
        (["--append-system-prompt", "X"], {}, {}),
        (["--setting-sources", "project"], {}, {}),
        ([], {}, {"user": {"autoMemoryEnabled": False}, "local": {"autoMemoryEnabled": True}}),
        ([], {}, {"user": {"autoMemoryEnabled": 0}}),
    ],
)
def test_what_leaves_memory_on(place, args, env, settings):
    write_settings(place, **settings)
    surroundings = surroundings_of(place, *args, env=env)
    assert (memory_of(place, surroundings), surroundings.memory_reason) == (DEFAULT, "")


@pytest.mark.parametrize(
    ("value", "folder"),
    [
        ("/x/alt", "/x/alt"),
        ("/x/a/../b", "/x/b"),
        ("//srv/x", "/srv/x"),
        ("/x/", "/x"),
        ("/tmp", "/tmp"),
        ("~/mm", "{home}/mm"),
        ("relative/x", None),
        ("./x", None),
        ("", None),
        ("~", None),
        ("~/", None),
        ("~/.", None),
        ("/", None),
        ("/..", None),
        ("~user/x", None),
        ("C:\\x", None),
        (3, None),
        (["/x"], None),
    ],
)
def test_memory_folders_that_are_accepted(place, value, folder):
    write_settings(place, user={"autoMemoryDirectory": value})
    expected = DEFAULT if folder is None else folder.format(home=place.home)
    assert memory_of(place, surroundings_of(place)) == expected


def test_the_strongest_memory_folder(place):
    write_settings(place, user={"autoMemoryDirectory": "/x/u"})
    assert surroundings_of(place).memory == "/x/u"
    write_settings(place, project={"autoMemoryDirectory": "/x/p"})
    assert surroundings_of(place).memory == "/x/p"
    write_settings(place, local={"autoMemoryDirectory": "/x/l"})
    assert surroundings_of(place).memory == "/x/l"
    assert surroundings_of(place, settings={"autoMemoryDirectory": "/x/f"}).memory == "/x/f"


def test_memory_is_that_of_the_repository(place):
    place.git("init -q")
    place.git("commit -q --allow-empty -m x")
    place.git(f"worktree add -q {place.path('beside')}")
    place.folder("proj/a/b")
    for cwd in ("proj", "proj/a/b", "beside"):
        assert memory_of(place, surroundings_of(place, cwd=cwd)) == DEFAULT
    assert surroundings_of(place, cwd="beside").git == Repository(
        place.path("beside"), place.proj, place.proj + "/.git", bare=False
    )


# -- what stands behind the text -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "env", "git", "follows"),
    [
        ({}, {}, False, False),
        ({"includeCoAuthoredBy": False}, {}, False, True),
        ({"includeCoAuthoredBy": False}, {}, True, False),
        ({"includeCoAuthoredBy": True}, {}, False, False),
        ({"attribution": {"commit": "", "pr": ""}}, {}, False, True),
        ({"attribution": {"commit": "x", "pr": ""}}, {}, False, False),
        ({"attribution": {}}, {}, False, False),
        ({}, {"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS": "1"}, True, True),
    ],
)
def test_whether_the_prompt_follows(place, settings, env, git, follows):
    if git:
        os.mkdir(place.path("proj/.git"))
    write_settings(place, user=settings)
    assert surroundings_of(place, env=env).prompt_follows is follows


@pytest.mark.parametrize(("given_", "shown"), [("./a//b/../c", "a/c/"), ("../x", "../x/"), ("", "")])
def test_how_a_relative_folder_is_shown(place, given_, shown):
    assert list(surroundings_of(place, "--add-dir", given_).spelled.values()) == [shown]


def test_the_name_of_a_project():
    assert slug("/home/me/my.app") == "-home-me-my-app"
