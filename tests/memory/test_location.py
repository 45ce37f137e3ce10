"""Where memories are: the agent's own folder, the repository's identity, settings, and nothing outside."""

import os

import pytest

from foretold.dialects.claude_code.settings import slug
from foretold.errors import NotAFolder, UnknownAgent
from foretold.memory.location import folder_name, locate_memories, location_of_path


def find(place, cwd="proj", agent="claude-code", **options):
    given = {"home": place.home, "managed": place.managed, "env": {}, **options}
    return locate_memories(place.path(cwd), agent=agent, **given)


def store_of(place, project, user="home/.claude"):
    return f"{place.path(user)}/projects/{slug(place.path(project))}/memory"


def commit(place, folder="proj"):
    place.git("init -q", folder)
    place.write(f"{folder}/a", "a")
    place.git("add -A", folder)
    place.git("commit -qm a", folder)


def findings(found, place):
    return [(place.short(each.path), each.code, each.message) for each in found.findings]


def test_the_folder_of_the_agent(place):
    place.folder("proj/.git")
    place.folder("proj/deep/er")
    found = find(place, "proj/deep/er")
    assert os.path.dirname(found.consent) == f"{place.home}/.local/state/foretold/consents"
    assert found._replace(consent="")._asdict() == {
        "project": place.proj,
        "root": place.proj,
        "store": store_of(place, "proj"),
        "under": "",
        "team": f"{place.proj}/.foretold/memory",
        "state": f"{place.home}/.local/state/foretold",
        "cache": f"{place.home}/.cache/foretold",
        "policy": "auto",
        "agent": "claude-code",
        "off": "",
        "dialect": "claude-code@2.1.325",
        "home": place.home,
        "findings": (),
        "is_read": True,
        "history": 0,
        "consent": "",
        "is_accepted": False,
    }


def test_without_git_a_folder_is_its_own_project_and_has_no_team(place):
    place.folder("proj/sub")
    found = find(place, "proj/sub")
    assert (found.project, found.store, found.team) == (place.path("proj/sub"), store_of(place, "proj/sub"), "")


def test_settings_of_the_agent_are_followed(place):
    elsewhere = find(place, env={"CLAUDE_CONFIG_DIR": place.path("conf")})
    assert elsewhere.store == store_of(place, "proj", "conf")
    place.write("home/.claude/settings.json", '{"autoMemoryDirectory": "~/notes"}')
    named = find(place)
    assert (named.store, named.is_read) == (place.path("home/notes"), True)


@pytest.mark.parametrize(
    ("env", "settings", "why"),
    [
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, "{}", "CLAUDE_CODE_DISABLE_AUTO_MEMORY"),
        ({}, '{"autoMemoryEnabled": false}', "autoMemoryEnabled in {home}/.claude/settings.json"),
    ],
)
def test_memory_that_is_switched_off_is_still_found(place, env, settings, why):
    place.write("home/.claude/settings.json", settings)
    found = find(place, env=env)
    assert (found.store, found.off, found.is_read) == (
        store_of(place, "proj"),
        why.format(home=place.home),
        False,
    )
    given = find(place, env=env, folder=place.path("mine"))
    assert (given.off, given.is_read) == ("", False)


def test_a_worktree_shares_or_lies_on_top(place):
    commit(place)
    place.git("worktree add -q ../tree")
    shared = find(place, "tree")
    assert (shared.project, shared.root, shared.store, shared.under) == (
        place.proj,
        place.path("tree"),
        store_of(place, "proj"),
        "",
    )
    place.write("home/.config/foretold/config.toml", '[memory]\nworktrees = "overlay"\n')
    over = find(place, "tree")
    assert (over.store, over.under, over.team) == (
        store_of(place, "tree"),
        store_of(place, "proj"),
        place.path("tree/.foretold/memory"),
    )
    assert over.is_read is False  # the agent reads the one below
    assert find(place).under == ""
    assert find(place, "tree", folder=place.path("mine")).under == ""


def test_a_submodule_is_a_project_of_its_own(place):
    commit(place, "proj")
    place.folder("lib")
    commit(place, "lib")
    place.git(f"submodule add -q {place.path('lib')} vendored")
    found = find(place, "proj/vendored")
    assert (found.project, found.store) == (place.path("proj/vendored"), store_of(place, "proj/vendored"))


def test_agents_with_another_folder_or_none(place):
    place.folder("proj/.git")
    place.folder("proj/sub")
    qwen = find(place, agent="qwen-code")
    assert (qwen.store, qwen.off, qwen.is_read) == (store_of(place, "proj", "home/.qwen"), "", True)
    for agent in ("codex", "gemini-cli", "opencode", "copilot-cli"):
        found = find(place, "proj/sub", agent=agent)
        ours = f"{place.home}/.local/state/foretold/{folder_name(place.proj)}/memories"
        assert (found.project, found.store, found.is_read) == (place.proj, ours, False)
        assert found.team == f"{place.proj}/.foretold/memory"
    with pytest.raises(UnknownAgent):
        find(place, agent="emacs")


def test_our_own_folders(place):
    env = {"XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": place.path("conf")}
    place.write("conf/foretold/config.toml", '[memory]\npolicy = "manual"\n')
    found = find(place, env=env)
    assert (found.state, found.cache, found.policy) == ("/s/foretold", "/c/foretold", "manual")
    relative = find(place, env={"XDG_STATE_HOME": "s", "XDG_CACHE_HOME": ""})
    assert (relative.state, relative.cache) == (
        f"{place.home}/.local/state/foretold",
        f"{place.home}/.cache/foretold",
    )
    place.write("ours/config.toml", '[memory]\npolicy = "read-only"\n')
    own = find(place, env={**env, "FORETOLD_HOME": place.path("ours")})
    assert (own.state, own.cache, own.policy) == (place.path("ours"), place.path("ours/cache"), "read-only")


@pytest.mark.parametrize(
    ("mine", "theirs", "policy"),
    [
        ("auto", "confirm", "confirm"),
        ("manual", "auto", "manual"),
        ("read-only", "auto", "read-only"),
        ("confirm", "read-only", "read-only"),
    ],
)
def test_a_repository_makes_the_policy_only_stricter(place, mine, theirs, policy):
    place.folder("proj/.git")
    place.write("home/.config/foretold/config.toml", f'[memory]\npolicy = "{mine}"\n')
    place.write("proj/.foretold.toml", f'[memory]\npolicy = "{theirs}"\n')
    found = find(place)
    assert (found.policy, found.findings) == (policy, ())


def test_the_folders_that_settings_name(place):
    place.folder("proj/.git")
    place.write("home/.config/foretold/config.toml", '[memory]\ndirectory = "~/notes"\n')
    place.write("proj/.foretold.toml", '[memory]\nteam = "docs/memory"\n')
    found = find(place)
    assert (found.store, found.team, found.is_read) == (
        place.path("home/notes"),
        f"{place.proj}/docs/memory",
        False,
    )
    given = find(place, folder=place.path("given"))
    assert given.store == place.path("given")


OUTSIDE = "the team's folder {!r} is not a folder inside the repository; it is not used"


@pytest.mark.parametrize("team", ["../out", "/etc", "..", ".", "", "link", "link/sub", ".git/memory", "a/../../out"])
def test_a_team_outside_is_refused(place, team):
    place.folder("proj/.git")
    place.folder("out")
    place.link("proj/link", "../out")
    place.write("proj/.foretold.toml", f'[memory]\nteam = "{team}"\n')
    found = find(place)
    told = [] if not team else [("proj/.foretold.toml", "settings-invalid", OUTSIDE.format(team))]
    assert (found.team, findings(found, place)) == (f"{place.proj}/.foretold/memory", told)


def test_a_link_where_the_team_should_be_is_refused(place):
    place.folder("proj/.git")
    place.folder("out/memory")
    place.link("proj/.foretold", "../out")
    found = find(place)
    assert (found.team, findings(found, place)) == (
        "",
        [("proj/.foretold/memory", "settings-invalid", OUTSIDE.format(".foretold/memory"))],
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[memory]\npolicy = "readonly"\n', "memory.policy is 'readonly'; it counts as 'confirm'"),
        ("[memory]\npolicy = 3\n", "memory.policy is 3; it counts as 'confirm'"),
        ('[memory]\nworktrees = "both"\n', "memory.worktrees is 'both'"),
        ("[memory]\nteam = 1\n", "memory.team is 1"),
        ("[memory]\ndirectory = []\n", "memory.directory is []"),
        (
            '[memory]\ndirectory = "notes"\n',
            "memory.directory is 'notes', which is not an absolute path; it is not used",
        ),
        ('[memory]\npolcy = "manual"\n', "memory.polcy is not a setting"),
        ("memory = 1\n", "memory is 1"),
        (
            "[memory\n",
            "not TOML, so it is not used: Expected ']' at the end of a table declaration (at line 1, column 8)",
        ),
    ],
    ids=range(9),
)
def test_bad_settings_are_findings(place, text, said):
    place.folder("proj/.git")
    path = place.write("home/.config/foretold/config.toml", text)
    found = find(place)
    assert [(each.path, each.code, each.message) for each in found.findings] == [(path, "settings-invalid", said)]
    assert found.policy == ("confirm" if "policy" in said or "TOML" in said else "auto")
    assert (found.store, found.team) == (store_of(place, "proj"), f"{place.proj}/.foretold/memory")


def test_a_repository_does_not_say_where_memories_are(place):
    place.folder("proj/.git")
    place.write("proj/.foretold.toml", '[memory]\ndirectory = "/tmp/x"\n')
    found = find(place)
    said = "a repository may not set memory.directory; it is not used"
    assert findings(found, place) == [("proj/.foretold.toml", "settings-invalid", said)]
    assert found.store == store_of(place, "proj")


def test_settings_of_a_repository_that_cannot_be_read_do_not_loosen(place):
    place.folder("proj/.git")
    place.write("proj/.foretold.toml", b"\xff\xfe[memory")
    assert (find(place).policy, [each.code for each in find(place).findings]) == ("confirm", ["settings-invalid"])


def test_a_place_of_a_project_that_is_gone(place):
    like = find(place)
    gone = location_of_path(place.path("gone/app"), like)
    assert (gone.store, gone.team, gone.project) == (store_of(place, "gone/app"), "", place.path("gone/app"))
    with pytest.raises(NotAFolder):
        location_of_path("/gone", find(place, agent="codex"))
    with pytest.raises(NotAFolder):
        find(place, "nowhere")


def test_names_of_folders():
    assert folder_name("/h/.claude/projects/-home-me-app/memory").startswith("home-me-app-")
    assert folder_name("/a/b c") != folder_name("/a/b-c")
    assert len(folder_name("/" + "x" * 300)) < 60
    assert all(os.sep not in folder_name(path) for path in ("/", "/..", "/a/..", "/é/memory"))


def test_folder_name():
    assert folder_name("/home/me/my app") == "my-app-38d8f0bcc4da"
