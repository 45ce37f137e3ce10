"""Which version of an agent a repository pins, and which one runs on a machine."""

import json
import os
import time

import pytest

from foretold.dialects.registry import choose
from foretold.dialects.releases.pinned import (
    LOCKS,
    MAX_FILE,
    MAX_LOCK,
    PinnedVersions,
    UnreadPin,
    VersionSource,
    find_installed,
    find_pins,
    may_pin,
)
from foretold.storage.layers import CachingDisk, ChangedTree
from foretold.storage.tree import Disk

CLAUDE = "@anthropic-ai/claude-code"


def pins(place):
    return find_pins(Disk(), place.proj)


def rows(found):
    """Agent, version, kind and place of every source."""
    return [(each.agent, each.version, each.kind, each.place) for each in found.sources]


def manifest(place, version, section="devDependencies", name=CLAUDE):
    text = json.dumps({"name": "bakery", section: {"left-pad": "1.0.0", name: version}}, indent=2)
    place.write("proj/package.json", text)


# -- packages of npm


def test_nothing_is_pinned_in_an_empty_folder(place):
    assert pins(place) == PinnedVersions()


@pytest.mark.parametrize("section", ["dependencies", "devDependencies", "optionalDependencies"])
@pytest.mark.parametrize("written", ["2.1.250", "=2.1.250", "v2.1.250", " 2.1.250 ", "2.1.250+build.5"])
def test_a_manifest_with_a_whole_version_pins(place, section, written):
    manifest(place, written, section)
    found = pins(place)
    assert found == PinnedVersions((VersionSource("claude-code", "2.1.250", "manifest", "package.json", 5),))
    assert str(found.sources[0]) == "pinned in package.json"


@pytest.mark.parametrize(
    "written",
    ["^2.1.250", "~2.1", "2.x", "*", "", "latest", ">=2.1.0 <3", "1.0.0 || 2.0.0", "2.1", "workspace:*", "catalog:",
     "file:../x", "github:a/b#v1", "a/b", "npm:other@1.2.3", "https://a.b/c.tgz"],
)  # fmt: skip
def test_a_range_or_a_tag_pins_nothing_and_is_not_wrong(place, written):
    manifest(place, written)
    assert pins(place) == PinnedVersions()


@pytest.mark.parametrize("agent_and_name", [("codex", "@openai/codex"), ("gemini-cli", "@google/gemini-cli"),
                                            ("opencode", "opencode-ai"), ("copilot-cli", "@github/copilot"),
                                            ("qwen-code", "@qwen-code/qwen-code"), ("cline", "cline"),
                                            ("continue", "@continuedev/cli")])  # fmt: skip
def test_every_agent_has_its_package(place, agent_and_name):
    agent, name = agent_and_name
    manifest(place, "1.2.3", name=name)
    assert rows(pins(place)) == [(agent, "1.2.3", "manifest", "package.json:5")]
    assert choose(f"{agent}@1.2.3").asked == "1.2.3"


LOCK_TEXTS = {
    "package-lock.json": """\
{
  "lockfileVersion": 3,
  "packages": {
    "": {"devDependencies": {"@anthropic-ai/claude-code": "^2.1.0"}},
    "node_modules/other/node_modules/@anthropic-ai/claude-code": {
      "version": "1.0.1"
    },
    "node_modules/@anthropic-ai/claude-code": {
      "version": "2.1.250",
      "resolved": "https://packages.example/x.tgz"
    }
  }
}
""",
    "npm-shrinkwrap.json": """\
{"lockfileVersion": 1,
 "dependencies": {



  "@anthropic-ai/claude-code": {
    "version": "2.1.250"}}}
""",
    "pnpm-lock.yaml": """\
lockfileVersion: '9.0'
importers:
  .:
    devDependencies:
      other:
        specifier: ^1.0.0
        version: 1.0.9
      '@anthropic-ai/claude-code':
        specifier: ^2.1.0
        version: 2.1.250(react@18.0.0)
packages:
  '@anthropic-ai/claude-code@2.1.250':
    resolution: {integrity: sha512-x}
""",
    "yarn.lock": """\
# yarn lockfile v1


"@anthropic-ai/other@^2.0.0":
  version "2.0.0"

# here
"@anthropic-ai/claude-code@^2.1.0", "@anthropic-ai/claude-code@^2.1.1":
  version "2.1.250"
  resolved "https://packages.example/x.tgz"
""",
    "bun.lock": """\
{
  "lockfileVersion": 1,
  "workspaces": {
    "": {"devDependencies": {"@anthropic-ai/claude-code": "^2.1.0",},},
  },
  "packages": {

    "@anthropic-ai/claude-code": ["@anthropic-ai/claude-code@2.1.250", "", {"bin": {"claude": "cli.js"}}, "sha512-x"],
  }
}
""",
}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_says_what_a_range_became(place, name):
    manifest(place, "^2.1.0")
    place.write(f"proj/{name}", LOCK_TEXTS[name])
    assert rows(pins(place)) == [("claude-code", "2.1.250", "lock", f"{name}:{6 if 'shrink' in name else 8}")]


def test_older_and_newer_forms_of_locks(place):
    manifest(place, "^2.1.0")
    berry = '"@anthropic-ai/claude-code@npm:^2.1.0":\r\n  version: 2.1.250\r\n'
    place.write("proj/yarn.lock", berry)
    old = (
        "specifiers:\n  '@anthropic-ai/claude-code': ^2.1.0\ndevDependencies:\n  '@anthropic-ai/claude-code': 2.1.251\n"
    )
    place.write("proj/pnpm-lock.yaml", old)
    assert rows(pins(place)) == [
        ("claude-code", "2.1.251", "lock", "pnpm-lock.yaml:4"),
        ("claude-code", "2.1.250", "lock", "yarn.lock:1"),
    ]


def test_a_lock_is_not_asked_about_what_the_manifest_does_not_name(place):
    place.write("proj/package.json", '{"dependencies": {"left-pad": "1.0.0"}}')
    place.write("proj/package-lock.json", LOCK_TEXTS["package-lock.json"])
    place.fifo("proj/yarn.lock")
    assert pins(place) == PinnedVersions()


def test_the_manifest_counts_before_its_lock_and_the_other_is_a_conflict(place):
    manifest(place, "2.1.300")
    place.write("proj/package-lock.json", LOCK_TEXTS["package-lock.json"])
    found = pins(place)
    one = VersionSource("claude-code", "2.1.300", "manifest", "package.json", 5)
    other = VersionSource("claude-code", "2.1.250", "lock", "package-lock.json", 8)
    assert (found.find("claude-code"), found.list_conflicts("claude-code")) == (one, (other,))
    assert (found.find("codex"), found.list_conflicts("codex")) == (None, ())


# -- tools, containers, workflows


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        (".tool-versions", "nodejs 22.1.0\nclaude 2.1.250 2.1.200 # why\n", 2),
        (".tool-versions", "npm:@anthropic-ai/claude-code 2.1.250\n", 1),
        ("mise.toml", '[tools]\nnode = "22"\n"npm:@anthropic-ai/claude-code" = "2.1.250"\n', 3),
        (".mise.toml", '[tools]\nclaude = ["2.1.250", "latest"]\n', 2),
        (".config/mise.toml", '[tools]\n"aqua:anthropics/claude-code[exe=claude]" = "2.1.250"\n', 2),
        ("mise/config.toml", '[tools.claude-code]\nversion = "2.1.250"\n', 1),
    ],
)
def test_files_of_mise_and_asdf(place, path, text, line):
    place.write(f"proj/{path}", text)
    assert rows(pins(place)) == [("claude-code", "2.1.250", "tools", f"{path}:{line}")]
    assert may_pin(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Dockerfile", "FROM node:22\n# npm i @anthropic-ai/claude-code@1.0.0\nRUN npm i -g {}@2.1.250 && true\n"),
        ("Dockerfile.ci", "FROM node:22\nRUN true\nRUN npm install -g left-pad@1.0.0 {}@2.1.250\n"),
        ("dev.Dockerfile", "FROM node:22\n\nRUN curl -fsSL https://claude.ai/install.sh | bash -s -- 2.1.250\n"),
        (".devcontainer/devcontainer.json", '{{\n// {}@1.0.0\n"postCreateCommand": "npm i -g {}@2.1.250"}}\n'),
    ],
)
def test_files_of_containers(place, path, text):
    place.write(f"proj/{path}", text.format(CLAUDE, CLAUDE))
    assert rows(pins(place)) == [("claude-code", "2.1.250", "container", f"{path}:3")]
    assert may_pin(path)


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", ".forgejo/workflows/a.yaml", ".gitlab-ci.yml"])
@pytest.mark.parametrize(
    "line", ["- run: npx -y {}@2.1.250 -p hi", "  - npm install -g '{}@2.1.250'", '- "$(npx {}@2.1.250)"',
             "- curl -fsSL https://claude.ai/install.sh | bash -s 2.1.250"],
)  # fmt: skip
def test_workflows(place, path, line):
    place.write(f"proj/{path}", f"jobs:\n{line.format(CLAUDE)}\n")
    assert rows(pins(place)) == [("claude-code", "2.1.250", "workflow", f"{path}:2")]
    assert may_pin(path)


def test_a_variable_that_the_same_file_sets(place):
    place.write(
        "proj/Dockerfile", "ARG CLAUDE_CODE_VERSION=2.1.250\nRUN npm i -g " + CLAUDE + "@${CLAUDE_CODE_VERSION}\n"
    )
    place.write("proj/.github/workflows/a.yml", "env:\n  V: '2.1.251'\nrun: npx " + CLAUDE + "@${{ env.V }}\n")
    place.write("proj/.github/workflows/b.yml", f"run: npx {CLAUDE}@${{V:-2.1.252}}\n")
    place.write("proj/.github/workflows/c.yml", f"run: npx {CLAUDE}@$V {CLAUDE}@${{{{ inputs.version }}}}\n")
    assert rows(pins(place)) == [
        ("claude-code", "2.1.250", "container", "Dockerfile:1"),
        ("claude-code", "2.1.251", "workflow", ".github/workflows/a.yml:2"),
        ("claude-code", "2.1.252", "workflow", ".github/workflows/b.yml:1"),
    ]


def test_arguments_of_a_dev_container_count_before_the_defaults_of_its_dockerfile(place):
    place.write("proj/.devcontainer/devcontainer.json", '{"build": {"args": {\n"CLAUDE_CODE_VERSION": "2.1.300"}}}')
    docker = "ARG CLAUDE_CODE_VERSION=latest\nRUN npm install -g " + CLAUDE + "@${CLAUDE_CODE_VERSION}\n"
    place.write("proj/.devcontainer/Dockerfile", docker)
    expected = [("claude-code", "2.1.300", "container", ".devcontainer/devcontainer.json:2")]
    assert rows(pins(place)) == expected


def test_the_order_of_kinds(place):
    place.write("proj/.github/workflows/ci.yml", f"run: npx {CLAUDE}@2.1.204\n")
    place.write("proj/Dockerfile", f"RUN npm i {CLAUDE}@2.1.203\n")
    place.write("proj/.tool-versions", "claude 2.1.202\n")
    manifest(place, "2.1.200")
    place.write("proj/yarn.lock", f'"{CLAUDE}@2.1.201":\n  version "2.1.201"\n')
    assert [(each.version, each.kind) for each in pins(place).sources] == [
        ("2.1.200", "manifest"),
        ("2.1.201", "lock"),
        ("2.1.202", "tools"),
        ("2.1.203", "container"),
        ("2.1.204", "workflow"),
    ]


def test_names_that_only_look_alike_pin_nothing(place):
    text = "npx @me/@anthropic-ai/claude-code@1.0.0 x-opencode-ai@1.0.0 a@cline@1.0.0 incline@2.0.0 cline/cli@1.0.0\n"
    place.write("proj/Dockerfile", text)
    place.write("proj/.tool-versions", "claude-squad 1.0.0\nnpm:claude-code-router 2.0.0\n")
    manifest(place, "1.2.3", name="claude-code")
    assert pins(place) == PinnedVersions()


def test_a_tree_that_is_not_on_the_disk(place):
    """An earlier commit, or the unsaved text of an editor."""
    manifest(place, "2.1.250")
    changes = {f"{place.proj}/package.json": None, f"{place.proj}/.tool-versions": b"claude 2.1.197\n"}
    found = find_pins(ChangedTree(CachingDisk(), changes), place.proj)
    assert rows(found) == [("claude-code", "2.1.197", "tools", ".tool-versions:1")]


# -- hostile


@pytest.mark.parametrize(
    "version", ["$(id)", "`id`", "2.1.250; rm -rf /", "$(touch x) ", "2.1.250\x1b[31m", "²", "٢.١.٢"]
)
def test_what_is_no_version_is_reported_and_selects_nothing(place, version):
    manifest(place, version)
    said = f"asks for claude-code {version!r}, which is not a version"
    assert pins(place) == PinnedVersions((), (UnreadPin("package.json", 5, said),))
    assert os.listdir(place.proj) == ["package.json"]


def test_a_command_in_a_workflow_is_text(place):
    place.write("proj/.github/workflows/ci.yml", f"run: npx {CLAUDE}@$(touch {place.proj}/x; echo 2.1.250)\n")
    (unread,) = pins(place).unread
    assert (unread.path, unread.line, len(unread.reason) < 150) == (".github/workflows/ci.yml", 1, True)
    assert not os.path.exists(f"{place.proj}/x")


def test_long_texts_are_cut_in_reports(place):
    manifest(place, "$(" + "x" * 100_000 + ")")
    (unread,) = pins(place).unread
    assert len(unread.reason) < 150


def test_deep_json_and_broken_json(place):
    unread = UnreadPin("package.json", None, "is not a JSON object, so what it pins is not known")
    for text in ('{"a": ' + "[" * 200_000 + f'"{CLAUDE}"', f'["{CLAUDE}"]', f'{{"{CLAUDE}": ', f'"{CLAUDE}"\xff'):
        place.write("proj/package.json", text)
        assert pins(place) == PinnedVersions((), (unread,))
    place.write("proj/package.json", "{ broken, and without an agent")
    assert pins(place) == PinnedVersions()


def test_values_of_other_types(place):
    for value in (1, None, [], {"a": 1}):
        manifest(place, value)
        assert pins(place) == PinnedVersions()
    place.write("proj/package.json", json.dumps({"dependencies": ["x"], "devDependencies": CLAUDE, "x": f"{CLAUDE}"}))
    assert pins(place) == PinnedVersions()


def test_broken_toml_that_names_an_agent(place):
    place.write("proj/mise.toml", "[tools\nclaude = 1")
    unread = UnreadPin("mise.toml", None, "is not TOML, so what it pins is not known")
    assert pins(place) == PinnedVersions((), (unread,))
    for text in (
        "[tools]\nclaude = 2\n",
        "tools = 1\n# claude",
        "[tools]\nclaude = []\n",
        "a = " + "[" * 5000 + "#claude",
    ):
        place.write("proj/mise.toml", text)
        assert pins(place).sources == ()


def test_pipes_folders_and_links_out(place):
    place.fifo("proj/package.json")
    place.folder("proj/Dockerfile")
    place.write("outside/.tool-versions", "claude 2.1.250\n")
    place.link("proj/.tool-versions", place.path("outside/.tool-versions"))
    place.write("outside/workflows/ci.yml", f"npx {CLAUDE}@2.1.250\n")
    place.link("proj/.github", place.path("outside"))
    place.link("proj/.mise.toml", "nowhere")
    out = "is a link out of the repository, so it pins nothing"
    assert pins(place) == PinnedVersions(
        (),
        (
            UnreadPin("package.json", None, "cannot be read (not a file), so what it pins is not known"),
            UnreadPin(".tool-versions", None, out),
            UnreadPin(".github/workflows/ci.yml", None, out),
        ),
    )


def test_links_within_the_repository_count(place):
    place.write("proj/tools/versions", "claude 2.1.250\n")
    place.link("proj/.tool-versions", "tools/versions")
    assert rows(pins(place)) == [("claude-code", "2.1.250", "tools", ".tool-versions:1")]


def test_huge_files_are_not_read(place):
    manifest(place, "^2.1.0")
    for name, size in (("package-lock.json", MAX_LOCK), ("Dockerfile", MAX_FILE)):
        path = place.write(f"proj/{name}", "")
        os.truncate(path, size + 1)
    too_large = "cannot be read (too large), so what it pins is not known"
    expected = (UnreadPin("package-lock.json", None, too_large), UnreadPin("Dockerfile", None, too_large))
    assert pins(place) == PinnedVersions((), expected)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("yarn.lock", f"{CLAUDE}@" + ": " * 1000 + "\n"),
        ("yarn.lock", f"{CLAUDE}@x\n  version {CLAUDE}\n"),
        ("pnpm-lock.yaml", f"'{CLAUDE}': \n" + " " * 1000 + "specifier: x\n" + " " * 1000),
        ("package-lock.json", f'"{CLAUDE}": {{' + " " * 90 + '"version": '),
        ("package-lock.json", f'"{CLAUDE}": {{"version": "1"}},'),
        ("Dockerfile", f"{CLAUDE}@$VERSION VERSION = \n"),
        ("Dockerfile", "claude.ai/install.sh | sh " * 40 + "\n"),
        (".tool-versions", "claude x;y\n"),
    ],
)
def test_hostile_repetition_takes_no_time(place, path, text):
    manifest(place, "^2.1.0")
    limit = MAX_LOCK // 8 if path in LOCKS else 60_000 if path.startswith(".") else MAX_FILE
    place.write(f"proj/{path}", text * (limit // len(text)))
    began = time.process_time()
    found = pins(place)
    assert time.process_time() - began < 5
    assert len(found.sources) + len(found.unread) < 100


def test_many_workflows_are_bounded(place):
    for number in range(150):
        place.write(f"proj/.github/workflows/{number:03}.yml", f"npx {CLAUDE}@2.1.{number}\n")
    assert [each.version for each in pins(place).sources] == [f"2.1.{number}" for number in range(100)]


# -- this machine


def package(place, folder, version):
    place.write(f"{folder}/package.json", json.dumps({"name": CLAUDE, "version": version}))
    return place.write(f"{folder}/cli.js", "#!/bin/sh\necho 9.9.9\n", mode=0o755)


def test_the_package_of_the_repository_counts_before_the_program_on_path(place):
    package(place, f"lib/node_modules/{CLAUDE}", "2.1.300")
    place.link("bin/claude", place.path(f"lib/node_modules/{CLAUDE}/cli.js"))
    env = {"PATH": f"relative:{place.path('bin')}"}
    program = VersionSource("claude-code", "2.1.300", "program")
    assert find_installed(Disk(), place.proj, "claude-code", env) == program
    assert str(program) == "the program on PATH"
    package(place, f"proj/node_modules/{CLAUDE}", "2.1.250")
    local = VersionSource("claude-code", "2.1.250", "package", f"node_modules/{CLAUDE}/package.json")
    assert find_installed(Disk(), place.proj, "claude-code", env) == local
    assert str(local) == f"installed in node_modules/{CLAUDE}/package.json"
    assert find_installed(Disk(), place.proj, "codex", env) is None
    assert pins(place) == PinnedVersions()


def test_a_program_that_the_repository_links(place):
    """In a workspace, the package may be elsewhere."""
    package(place, "store/claude-code", "2.1.260")
    place.link("proj/node_modules/.bin/claude", place.path("store/claude-code/cli.js"))
    found = find_installed(Disk(), place.proj, "claude-code", {"PATH": "/nowhere"})
    assert found == VersionSource("claude-code", "2.1.260", "package", "node_modules/.bin")


def test_a_script_that_pnpm_wrote_does_not_have_the_version_of_the_project(place):
    place.write("proj/package.json", '{"name": "bakery", "version": "7.0.1"}')
    place.write("proj/node_modules/.bin/claude", "#!/bin/sh\nexec node x\n", mode=0o755)
    path = place.path("proj/node_modules/.bin")
    assert find_installed(Disk(), place.proj, "claude-code", {"PATH": path}) is None
    assert choose("claude-code", {"PATH": path}).asked == ""


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 1}', '{"version": "$(id)"}', "[" * 100_000, '{"version": "2.1"}']
)
def test_a_package_that_says_nothing(place, text):
    place.write(f"proj/node_modules/{CLAUDE}/package.json", text)
    assert find_installed(Disk(), place.proj, "claude-code", {"PATH": "/nowhere"}) is None


def test_a_pipe_in_place_of_a_package(place):
    place.fifo(f"proj/node_modules/{CLAUDE}/package.json")
    assert find_installed(Disk(), place.proj, "claude-code", {}) is None
