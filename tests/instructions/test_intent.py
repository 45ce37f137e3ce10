"""Whether an `@path` that is not imported was meant as one: false alarms of public repositories, and their like."""

import pytest


def codes(place, text, *files, **options):
    for path in files:
        place.write(f"proj/{path}", "text")
    place.write("proj/CLAUDE.md", text)
    return [(finding.line, finding.code) for finding in place.load(**options).findings]


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n| x | viem, @solana/web3.js, @stellar/stellar-sdk, ioredis |\n",
        "Use @angular/core.js and @vue/test-utils.ts here.\n",
        '- `relationLine`: the field line (e.g., `"parent Category? @relation(...)"`)\n',
        "Put @Component({selector: 'a.md'}) above the class, @param x.y and @pytest.mark.skip too.\n",
        '- @app.route("/users.json") is a decorator\n',
        "Ask @Node.js or @socket.io people.\n",
    ],
    ids=["npm-table", "npm-scope", "prisma", "decorators", "route", "handles"],
)
def test_what_is_not_a_path_is_no_finding(place, text):
    assert codes(place, text) == []


@pytest.mark.parametrize(
    "text",
    ["@docs/stlye.md\n", "see @docs/stlye.md, please\n", "- Settings: @config/app.yaml\n", "@src/api.ts\n"],
)
def test_a_path_that_is_not_there_is_one(place, text):
    place.write("proj/src/x.ts")
    assert codes(place, text) == [(1, "import-missing")]


def test_names_that_are_no_paths_stay_facts(place):
    place.write("proj/CLAUDE.md", "viem, @solana/web3.js, ioredis\n")
    (skip,) = place.load().skips
    assert (place.short(skip.path), skip.reason) == ("proj/solana/web3.js,", "missing")


EXAMPLE = """\
### Memory Import Syntax

Use `@path/to/file` to include other files:

```markdown
See @docs/a.md for details.
@docs/a.md
```

**Import Features**:
- Not evaluated in code spans or code blocks: `@package.json`
"""


@pytest.mark.parametrize(
    "text",
    [
        EXAMPLE,
        "1. **`@docs/a.md` is registered as a job** with `CronCreate`\n   - prompt: `@docs/a.md do it`\n",
        "Read this:\n\n```bash\nclaude 'review @docs/a.md'\n```\n",
        "- Key files, e.g. `@docs/a.md`\n",
        "Do not import from code: `@docs/a.md`\n",
        "## Examples\n\nSee `@docs/a.md`\n",
        "Mentioned in passing, `@docs/a.md` is a file.\n",
        "See `@src/x.ts`\n",
    ],
    ids=["syntax", "cron", "prompt", "e.g.", "importing", "heading", "passing", "code"],
)
def test_an_example_in_code_is_no_finding(place, text):
    assert codes(place, text, "docs/a.md", "package.json", "src/x.ts") == []
    assert [skip for skip in place.load().skips if skip.reason == "in-code"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Read `@docs/a.md` first.\n", 1),
        ("# Rules\n\n> Conventions: `@docs/a.md`\n", 3),
        ("x\n\n`@docs/a.md`\n", 3),
        ("Before you start, read:\n\n```\n@docs/a.md\n```\n", 4),
        ("For style, follow **`@docs/a.md`**.\r\n", 1),
    ],
)
def test_an_import_in_code_that_was_meant(place, text, line):
    assert codes(place, text, "docs/a.md") == [(line, "import-in-code")]


def test_the_message_says_where_it_stands(place):
    codes(place, "Read `@docs/a.md` first.\n", "docs/a.md")
    (finding,) = place.load().findings
    assert place.short(finding.message) == "proj/docs/a.md: the import is not followed: it is in a code span"


def test_a_start_that_no_import_has_needs_a_file(place):
    assert codes(place, "@{docs}/a.md and @<x/y.md>\n") == []
    assert codes(place, "@{docs}/a.md\n", "{docs}/a.md") == [(1, "import-form")]


def test_what_an_import_is_relative_to(place):
    place.write("proj/docs/a.md", "A")
    place.write("proj/.claude/rules/r.md", "@docs/a.md and @docs/gone.md and @../gone.md\n")
    found = [(place.short(each.message), each.hint) for each in place.load().findings]
    relative = "imports are relative to the folder of the importing file, proj/.claude/rules"
    rules, hint = "proj/.claude/rules", "fix the path, or write it without @"
    assert found == [
        (
            f"{rules}/docs/a.md: not imported, there is no such file: {relative}; proj/docs/a.md exists",
            "write @../../docs/a.md",
        ),
        (f"{rules}/docs/gone.md: not imported, there is no such file: {relative}", hint),
        ("proj/.claude/gone.md: not imported, there is no such file", hint),
    ]
    place.write("proj/.claude/rules/r.md", "@../../docs/a.md\n")
    assert place.load().findings == ()


def test_the_top_of_the_repository_counts_as_a_root(place):
    place.git("init -q .")
    place.write("proj/docs/a.md", "A")
    place.write("proj/app/.claude/CLAUDE.md", "@docs/a.md\n")
    (finding,) = place.load(cwd="proj/app").findings
    assert finding.hint == "write @../../docs/a.md"
