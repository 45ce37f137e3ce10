"""The family truth: commands that run scripts, targets, packages and programs; versions; names of code."""

import json
import os

import pytest
from tests.check.families import findings_of

from foretold.check.truth.commands import parse_commands

MAKEFILE = """\
.PHONY: help lint

help:
\t@echo help

lint test: help
\techo $@

%.o: %.c
\tcc $<
"""


def package(name, scripts=(), **more):
    return json.dumps({"name": name, "scripts": dict.fromkeys(scripts, "run"), **more})


@pytest.fixture
def workspace(place):
    """A workspace of two packages, a Makefile, a justfile and a Taskfile."""
    place.write("proj/package.json", package("top", ["test", "build", "db:migrate"], devDependencies={"vitest": "3"}))
    place.write("proj/packages/api/package.json", package("@top/api", ["dev", "test"], bin={"harbor": "x.js"}))
    place.write("proj/packages/web/package.json", package("@top/web", ["storybook"]))
    place.write("proj/Makefile", MAKEFILE)
    place.write("proj/justfile", "build target='x':\n  echo\n\nalias b := build\n@test *args:\n  echo\n")
    place.write("proj/Taskfile.yml", "version: '3'\n\ntasks:\n  deploy:\n    cmds:\n      - echo\n")
    place.write("proj/tools/seed.py", "print()\n")
    return place


def said(place, text, path="CLAUDE.md"):
    place.write(f"proj/{path}", text + "\n")
    return [f"{each.line} {each.code} {each.message}" for each in findings_of(place, "truth", "claude-code")]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npm run lint", "script-missing npm run lint: no script lint in 3 files"),
        ("npm run db:migrat", "script-missing npm run db:migrat: no script db:migrat in 3 files; db:migrate is there"),
        ("npm start", "script-missing npm run start: no script start in 3 files"),
        ("pnpm run lint", "script-missing pnpm run lint: no script lint in 3 files"),
        ("pnpm typecheck", "script-missing pnpm run typecheck: no script typecheck in 3 files"),
        ("pnpm -r typecheck", "script-missing pnpm run typecheck: no script typecheck in 3 files"),
        ("yarn typecheck", "script-missing yarn run typecheck: no script typecheck in 3 files"),
        ("bun run typecheck", "script-missing bun run typecheck: no script typecheck in 3 files"),
        (
            "cd packages/api && npm run build",
            "script-missing npm run build: no script build in packages/api/package.json",
        ),
        (
            "npm --prefix packages/api run build",
            "script-missing npm run build: no script build in packages/api/package.json",
        ),
        (
            "pnpm --filter @top/site test",
            "package-missing pnpm --filter @top/site: no package @top/site in 3 files; @top/web is there",
        ),
        ("make seed", "target-missing make seed: no target seed in Makefile"),
        ("make -j4 lint sed", "target-missing make sed: no target sed in Makefile"),
        ("ENV=x make deploy FOO=1", "target-missing make deploy: no target deploy in Makefile"),
        ("just lint", "target-missing just lint: no target lint in justfile"),
        ("task clean", "target-missing task clean: no target clean in Taskfile.yml"),
        ("python tools/sed.py --dry-run", "path-missing tools/sed.py: there is no such file"),
        ("uv run python tools/grow.py", "path-missing tools/grow.py: there is no such file"),
        ("./tools/grow.sh", "path-missing ./tools/grow.sh: there is no such file"),
    ],
)
def test_a_command_that_fails(workspace, command, expected):
    said_in_code = said(workspace, f"Then run `{command}` here.")
    said_in_block = said(workspace, f"Then run:\n\n```bash\n{command}\n```")
    assert [each.partition("; there is")[0] for each in said_in_code] == [f"1 {expected}"]
    assert [each.partition("; there is")[0] for each in said_in_block] == [f"4 {expected}"]


@pytest.mark.parametrize(
    "command",
    [
        *(
            "npm run build",
            "npm test",
            "npm install",
            "npm run <name>",
            "npm run $X",
            "npm run X",
            "npm run build:<package>",
            "npm run script-name",
            "npm run your-script",
            "npm run test:foo",
            "make target-name",
            "just recipe_name",
        ),
        *("npm run dev", "pnpm dev", "pnpm --filter <package> test", "pnpm --filter ./packages/* test"),  # of a package
        *("pnpm --filter @top/api dev", "pnpm --filter api dev", "npm run dev -w packages/api"),
        *("pnpm exec tsc", "pnpm dlx depcheck", "pnpm vitest", "pnpm tsc --noEmit", "yarn harbor", "bun run src/a.ts"),
        *("make", "make lint test", "make a.o", "make -C other x", "make -f x.mk y", "make tools", "make lint/test"),
        *(
            "just build x",
            "just b",
            "just --list",
            "task deploy",
            "python -m pytest",
            "python tools/seed.py",
            "bash -c x",
        ),
        *("cd elsewhere && npm run x", "npm run --unknown x y", "cat <<EOF\nnpm run nothing\nEOF"),
    ],
)
def test_a_command_that_runs_or_cannot_be_judged(workspace, command):
    assert said(workspace, f"Then run `{command}` here.") == []
    assert said(workspace, f"Then run:\n\n```bash\n{command}\n```") == []


@pytest.mark.parametrize(
    "text",
    [
        "Never run `npm run lint` here.",
        "Use `npm test` instead of `npm run lint`.",
        "For example `npm run lint`.",
        "If present, run `npm run lint`.",
        "We removed `npm run lint`.",
        "```text\nnpm run lint\n```",
        "```\nmake sure of it\n```",
        '```json\n{"a": "npm run lint"}\n```',
        "```console\n$ npm test\nnpm run lint is not run\n```",
    ],
)
def test_a_command_that_is_not_meant(workspace, text):
    assert said(workspace, text) == []


def test_a_script_of_the_package_of_a_nested_file(workspace):
    assert said(workspace, "Run `pnpm storybook`.", "packages/web/CLAUDE.md") == []
    workspace.write("proj/packages/web/package.json", package("@top/web"))
    assert said(workspace, "Run `pnpm storybook`.", "packages/web/CLAUDE.md") == [
        "1 script-missing pnpm run storybook: no script storybook in 3 files"
    ]


def test_without_a_package_nothing_is_said_about_scripts(place):
    place.write("proj/web/package.json", package("web", ["a"]))
    place.write("proj/web/Makefile", "a:\n")
    assert said(place, "Run `npm run b` and `make b`.") == []


@pytest.mark.parametrize(
    "makefile",
    ["include common.mk\n", "$(TARGETS):\n", "%:\n\techo\n", "$(eval $(call x))\n", "define x\nendef\n", ".DEFAULT:\n"],
)
def test_a_makefile_that_may_define_more(place, makefile):
    place.write("proj/Makefile", "a:\n\techo\n" + makefile)
    assert said(place, "Run `make b`.") == []


def test_a_makefile_with_what_it_includes(place):
    place.write("proj/Makefile", "-include .env\ninclude mk/more.mk\na:\n\techo\n")
    place.write("proj/mk/more.mk", "more:\n\techo\n")
    assert said(place, "Run `make more` and `make less`.") == ["1 target-missing make less: no target less in Makefile"]


def test_a_folder_that_a_block_goes_to(workspace):
    text = "Then:\n\n```bash\ncd packages/api\nnpm run dev\nnpm run build\n```"
    assert said(workspace, text) == ["6 script-missing npm run build: no script build in packages/api/package.json"]


def test_the_parts_of_a_line():
    line = "cd web && FOO=1 npm run build -- --x && make -C api lint; python3 a/b.py c/d.json"
    assert [(each.kind, each.tool, each.name, each.folder) for each in parse_commands(line)] == [
        ("cd", "cd", "", "web"),
        ("script", "npm", "build", "web"),
        ("target", "make", "lint", "web/api"),
        ("program", "python3", "a/b.py", "web"),
        ("argument", "", "c/d.json", "web"),
    ]
    assert parse_commands("just a word")
    assert not parse_commands("a just word")
    assert not parse_commands("x" * 2000)


# Versions of Node


@pytest.mark.parametrize(
    ("engines", "text", "expected"),
    [
        (">=22", "Write code for Node 18.", ["1 version-differs Node 18: package.json asks for >=22"]),
        ("^22.1.0", "Use Node.js v20 or newer.", ["1 version-differs Node 20: package.json asks for ^22.1.0"]),
        (">=22", "Write code for Node 22, or Node.js 24.", []),
        (">=18 || >=20", "Write code for Node 16.", []),
        (">=22", "We dropped Node 18; Node 18 is no longer supported.", []),
        (">=22", "For example Node 18.", []),
        (">=22.18.0", "These options are about ESM, Node 18+/22+ and bundlers.", []),
        (">=22", "CI runs Node 18/20/22.", []),
        (">=22", "CI runs Node 18.x / 20.x.", ["1 version-differs Node 20: package.json asks for >=22"]),
    ],
)
def test_a_version_of_node_that_the_package_rules_out(place, engines, text, expected):
    place.write("proj/package.json", json.dumps({"name": "x", "engines": {"node": engines}}))
    assert said(place, text) == expected


def test_a_version_of_node_next_to_those_of_browsers_is_about_what_they_have(place):
    place.write("proj/package.json", json.dumps({"name": "x", "engines": {"node": ">=22.13"}}))
    assert said(place, "`toSorted` is in all modern browsers (Chrome 110+, Safari 16+, Node.js 20+).") == []


def test_a_package_that_cannot_be_read_may_have_any_script_and_name(workspace):
    workspace.write("proj/packages/web/package.json", '{\n<<<<<<< HEAD\n  "name": "odd", "scripts": {}\n}')
    assert said(workspace, "Run `cd packages/web && npm run quay`.") == []
    assert said(workspace, "Run `pnpm --filter odd test`.") == []


# Names of code


@pytest.fixture
def code(place):
    place.git("init -q .")
    place.write("proj/src/berth.ts", "export class BerthService {}\nexport function rentBerth() {}\n")
    place.write("proj/CLAUDE.md", "`BerthService` changes berths; `rentBerth()` rents one; `useQuery` is React's.\n")
    commit(place)
    return place


def commit(place):
    place.git("add -A")
    place.git("-c user.name=a -c user.email=a@b commit -q -m change")


def test_a_name_that_the_code_had_when_its_line_was_written(code):
    assert findings_of(code, "truth", "claude-code") == []
    code.write("proj/src/berth.ts", "export class BerthRegistry {}\nexport function rentBerth() {}\n")
    commit(code)
    (found,) = findings_of(code, "truth", "claude-code")
    assert (found.path, found.line, found.code) == ("CLAUDE.md", 1, "symbol-missing")
    assert found.message.startswith("BerthService: no code has it any more; src/berth.ts had it in ")


def test_a_name_that_never_was_there_may_be_of_a_library(code):
    code.write("proj/CLAUDE.md", "Use `formatBerthPrice` for prices.\n")
    commit(code)
    assert findings_of(code, "truth", "claude-code") == []


@pytest.mark.parametrize(
    "comment", ["/// Not `PriceDelegate`.", "  * A PriceDelegate:", "# PriceDelegate", "-- PriceDelegate"]
)
def test_a_name_that_only_a_comment_had_may_be_of_a_library(code, comment):
    code.write("proj/src/price.ts", f"export const price = 1;\n{comment}\n")
    code.write("proj/CLAUDE.md", "`BerthService` bridges to a `PriceDelegate`.\n")
    commit(code)
    code.write("proj/src/price.ts", "export const price = 1;\n")
    code.write("proj/src/berth.ts", "export class BerthRegistry {}\n")
    commit(code)
    (found,) = findings_of(code, "truth", "claude-code")
    assert found.message.startswith("BerthService: ")


def test_a_name_that_is_said_to_be_gone(code):
    code.write("proj/CLAUDE.md", "We removed `BerthService`.\n")
    commit(code)
    os.remove(code.path("proj/src/berth.ts"))
    commit(code)
    assert findings_of(code, "truth", "claude-code") == []
