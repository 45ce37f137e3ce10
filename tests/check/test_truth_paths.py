"""The family truth: paths that instructions name, whether they are there, and whether they are meant."""

import os
import re
import sys

import pytest
from tests.check.families import findings_of

CODE = "export const one = 1;\n"


@pytest.fixture
def repo(place):
    """A small repository with three files of code and a history."""
    place.git("init -q .")
    for path in ("src/lib/money.ts", "src/lib/dates.ts", "packages/web/src/App.tsx", "docs/style.md"):
        place.write(f"proj/{path}", CODE)
    place.write("proj/.gitignore", "coverage/\n*.out\n")
    commit(place)
    return place


def commit(place):
    place.git("add -A")
    place.git("-c user.name=a -c user.email=a@b commit -q -m change")


def check(place, *agents):
    """Path, line, code and message, with `abc1234` for every commit and `2026-01-02` for every date."""
    found = findings_of(place, "truth", *(agents or ("claude-code",)))
    return [(each.path, each.line, each.code, tidy(each.message)) for each in found]


def tidy(text):
    return re.sub(r"git [0-9a-f]{7}, \d{4}-\d\d-\d\d", "git abc1234, 2026-01-02", text)


def said(place, text):
    """What is said about a CLAUDE.md with one line."""
    place.write("proj/CLAUDE.md", text + "\n")
    return [f"{code} {message}" for _, _, code, message in check(place)]


def test_a_file_that_never_was(repo):
    repo.write("proj/CLAUDE.md", "# Where\n\n- prices are in `src/lib/prices.ts`\n")
    assert check(repo) == [("CLAUDE.md", 3, "path-missing", "src/lib/prices.ts: there is no such file")]


def test_many_files_that_never_were_are_one_finding(repo):
    repo.write("proj/CLAUDE.md", "".join(f"- part {at} is in `src/lib/part{at}.ts`\n" for at in range(1, 5)))
    message = "4 of the 4 paths that it names are not there: src/lib/part1.ts, src/lib/part2.ts, src/lib/part3.ts"
    assert check(repo) == [("CLAUDE.md", 1, "paths-missing", f"{message} and 1 more")]


def test_a_typo_names_what_is_there(repo):
    assert said(repo, "Money is in `src/lib/mony.ts`.") == [
        "path-missing src/lib/mony.ts: there is no such file; there is src/lib/money.ts"
    ]


def test_the_only_file_of_that_name_is_named(repo):
    assert said(repo, "The page is `src/lib/App.tsx`.") == [
        "path-missing src/lib/App.tsx: there is no such file; there is packages/web/src/App.tsx"
    ]


def test_a_file_that_git_deleted(repo):
    os.remove(repo.path("proj/src/lib/dates.ts"))
    commit(repo)
    assert said(repo, "Dates are in `src/lib/dates.ts`.") == [
        "path-missing src/lib/dates.ts: there is no such file any more (git abc1234, 2026-01-02)"
    ]


def test_a_file_that_git_moved(repo):
    repo.folder("proj/src/core")
    repo.git("mv src/lib/dates.ts src/core/dates.ts")
    commit(repo)
    repo.write("proj/CLAUDE.md", "Dates are in `src/lib/dates.ts:12`.\n")
    (found,) = findings_of(repo, "truth", "claude-code")
    assert tidy(found.message) == "src/lib/dates.ts: moved to src/core/dates.ts (git abc1234, 2026-01-02)"
    assert (found.code, found.line, found.hint) == ("path-moved", 1, "write src/core/dates.ts")


def test_a_rename_that_is_only_staged(repo):
    repo.folder("proj/src/core")
    repo.git("mv src/lib/dates.ts src/core/dates.ts")
    assert said(repo, "Dates are in `src/lib/dates.ts`.") == [
        "path-moved src/lib/dates.ts: moved to src/core/dates.ts (staged in git)"
    ]


def test_the_new_path_is_written_as_the_old_one_was(repo):
    repo.write("proj/packages/web/src/old/Dock.tsx", CODE * 3)
    commit(repo)
    repo.folder("proj/packages/web/src/new")
    repo.git("mv packages/web/src/old/Dock.tsx packages/web/src/new/Dock.tsx")
    commit(repo)
    repo.write("proj/packages/web/CLAUDE.md", "The page is `./src/old/Dock.tsx`.\n")
    message = "./src/old/Dock.tsx: moved to ./src/new/Dock.tsx (git abc1234, 2026-01-02)"
    assert check(repo) == [("packages/web/CLAUDE.md", 1, "path-moved", message)]


def test_a_folder_that_git_moved(repo):
    for number in range(3):
        repo.write(f"proj/src/lib/areas/a{number}.ts", CODE * (number + 2))
    commit(repo)
    repo.folder("proj/src/core")
    repo.git("mv src/lib/areas src/core/areas")
    commit(repo)
    assert said(repo, "Areas are in `src/lib/areas/`.") == [
        "path-moved src/lib/areas/: moved to src/core/areas/ (git abc1234, 2026-01-02)"
    ]


def test_a_file_that_comes_and_goes_is_not_missed(repo):
    for _ in range(2):
        repo.write("proj/docs/next.md", CODE)
        commit(repo)
        os.remove(repo.path("proj/docs/next.md"))
        commit(repo)
    assert said(repo, "What is new is in `docs/next.md`.") == []


@pytest.mark.parametrize(
    "text",
    [
        "See `src/lib/money.ts`, `lib/money.ts`, `src/lib/` and `src/lib/money`.",  # there, in part, a folder, a module
        "See `src/lib/money.ts:12` and `src/lib/money.ts#L3`.",
        "A route is `src/lib/your-route.ts`, a hook is `src/lib/useMyHook.ts`.",
        "Names are `src/lib/kebab-case.ts` or `src/lib/<name>.ts`.",
        "Open `path/to/file.ts` first, or `foo/bar.ts`.",
        "Branch off `origin/main`; run build/test; Ship/deploy/PR.",
        "Create `src/lib/orders.ts` for orders.",
        "Add a module `src/lib/orders.ts`.",
        "We removed `src/lib/orders.ts`; do not bring it back.",
        "It was `src/lib/orders.ts` until February.",
        "Planned: `src/lib/orders.ts` will hold orders.",
        "Put orders into a file, e.g. `src/lib/orders.ts`.",
        "If it exists, read `src/lib/orders.ts` first.",
        "The upstream repo has `src/lib/orders.ts`.",
        "The report is written to `src/lib/orders.ts`.",
        "Coverage is in `src/lib/coverage/index.html`; the log is `src/lib/run.out`.",  # ignored by git
        "Settings are in `~/.config/app.toml`, `/etc/hosts` and `.env.local`.",
        "Sources match `src/**/*.tsx` and `src/{lib,core}/*.ts`.",
        "The page is https://example.com/src/lib/orders.ts.",
        "There is no `src/lib/orders.ts`.",
        "Mirror the tree: `src/lib/money.ts` → `src/lib/money.test.ts`.",
        "Look into `frontend/app/orders.ts`.",  # not even the folders are there: another repository
        "Types are `application/json`; 1/2 of `and/or`.",
        "See `orders.ts`.",  # a bare name may be anywhere
    ],
)
def test_what_is_there_or_not_meant_is_not_missed(repo, text):
    assert said(repo, text) == []


def test_a_folder_must_be_there_for_new_files_in_it(repo):
    repo.write(
        "proj/CLAUDE.md",
        "Look at `src/lib/money.ts`, `src/lib/dates.ts`, `docs/style.md`.\n\n"
        "Changes are new files in `src/db/steps/`.\n",
    )
    assert [each[3] for each in check(repo)] == ["src/db/steps/: there is no such folder"]


def test_a_path_that_code_names_is_made_by_a_program(repo):
    repo.write("proj/src/build.ts", "write('orders.json');\n")
    commit(repo)
    assert said(repo, "Orders are in `src/lib/orders.json`.") == []


def test_without_git_the_tree_alone_is_asked(place):
    place.write("proj/src/lib/money.ts", CODE)
    place.write("proj/src/make.ts", "write('made.json');\n")
    place.write("proj/CLAUDE.md", "See `src/lib/prices.ts` and `src/lib/made.json`.\n")
    assert [each[3] for each in check(place)] == ["src/lib/prices.ts: there is no such file"]


def test_paths_of_a_nested_file_count_from_its_folder_and_those_above(repo):
    repo.write("proj/packages/web/CLAUDE.md", "See `src/App.tsx`, `web/src/App.tsx`, `docs/style.md`, `src/Nav.tsx`.\n")
    assert check(repo) == [("packages/web/CLAUDE.md", 1, "path-missing", "src/Nav.tsx: there is no such file")]


def test_each_thing_once_in_a_document_where_it_is_named_first(repo):
    repo.write("proj/CLAUDE.md", "See `src/lib/a.ts`.\n\nAnd `src/lib/a.ts` again.\n")
    assert [each[:3] for each in check(repo)] == [("CLAUDE.md", 1, "path-missing")]


def test_a_link_to_a_file_is_the_same_file(repo):
    repo.write("proj/AGENTS.md", "See `src/lib/a.ts`.\n")
    repo.link("proj/CLAUDE.md", "AGENTS.md")
    assert [each[:3] for each in check(repo, "claude-code", "codex")] == [("AGENTS.md", 1, "path-missing")]


def test_imported_files_and_rules_are_read_and_frontmatter_is_not(repo):
    repo.write("proj/CLAUDE.md", "@docs/more.md\n")
    repo.write("proj/docs/more.md", "See `src/lib/a.ts`.\n")
    repo.write("proj/.claude/rules/api.md", '---\npaths: "src/lib/b.ts"\n---\n\nSee `src/lib/c.ts`.\n')
    assert [each[:2] for each in check(repo)] == [(".claude/rules/api.md", 5), ("docs/more.md", 1)]


def test_a_page_named_agents_is_not_an_instruction_file(repo):
    repo.write("proj/AGENTS.md", "Be brief.\n")
    repo.write("proj/docs/agents.md", "See `src/lib/a.ts`.\n")
    assert check(repo, "codex") == []


def test_an_agent_is_told_to_read_what_is_not_there(repo):
    repo.write("proj/CLAUDE.md", "Be brief.\n")
    repo.write("proj/.claude/agents/reviewer.md", "---\nname: reviewer\n---\n\nStart with `docs/review.md`.\n")
    message = "docs/review.md: there is no such file"
    assert check(repo) == [(".claude/agents/reviewer.md", 5, "path-missing", message)]


def test_a_skill_from_elsewhere_is_not_about_this_repository(repo):
    repo.write("proj/CLAUDE.md", "Be brief.\n")
    lines = [f"- `src/lib/part{number}.ts` has part {number}\n" for number in range(5)]
    repo.write("proj/.claude/skills/parts/SKILL.md", "---\nname: parts\n---\n\n" + "".join(lines))
    assert check(repo) == []


def test_another_language_is_believed_about_what_git_knows(repo):
    os.remove(repo.path("proj/src/lib/dates.ts"))
    commit(repo)
    german = "Die Werkzeuge sind in der Datei `src/lib/{}.ts` und für das Haus.\n"
    repo.write("proj/CLAUDE.md", german.format("dates") + "\n" + german.format("preise"))
    assert [each[:3] for each in check(repo)] == [("CLAUDE.md", 1, "path-missing")]
    repo.write("proj/CLAUDE.md", german.format("dates").replace("sind", "sind nicht"))
    assert check(repo) == []


def test_a_submodule_may_not_be_checked_out(repo):
    repo.write("proj/.gitmodules", '[submodule "ui"]\n\tpath = src/lib/ui\n\turl = https://example.com/ui.git\n')
    assert said(repo, "Buttons are in `src/lib/ui/button.ts`.") == []


def test_what_a_sparse_checkout_leaves_out_is_there(repo):
    repo.git("sparse-checkout set --no-cone /docs/ /src/lib/money.ts /.gitignore")
    assert not os.path.exists(repo.path("proj/src/lib/dates.ts"))
    assert said(repo, "Dates are in `src/lib/dates.ts`.") == []


def test_unsaved_texts_count(repo):
    from foretold.check.project import CheckOptions, Project
    from foretold.check.settings import CheckSettings
    from foretold.check.truth import find_problems

    repo.write("proj/CLAUDE.md", "See `src/lib/a.ts`.\n")
    project = Project(repo.proj, CheckOptions(agents=("claude-code",), home=""))
    assert [each.line for each in find_problems(project, CheckSettings())] == [1]
    there = project.with_changes({repo.path("proj/src/lib/a.ts"): b""})
    assert [*find_problems(there, CheckSettings())] == []
    elsewhere = project.with_changes({repo.path("proj/CLAUDE.md"): b"\n\nSee `src/lib/b.ts`.\n"})
    assert [each.line for each in find_problems(elsewhere, CheckSettings())] == [3]


@pytest.mark.parametrize(
    "piece",
    [
        "- see `src/m{n}/f{n}.py`\n",
        "see `src/m{n}/f{n}.py` and ",
        "[x](docs/a{n}.md) ",
        "# h{n} ####\n[x](#q{n})\n",
        "- `npm run x{n}`\n",
    ],
)
def test_a_hostile_text_takes_linear_work(repo, piece):
    """Calls are counted, not seconds: four times the text may not take more than about four times the calls."""

    def count_calls(count):
        repo.write("proj/CLAUDE.md", "".join(piece.format(n=number) for number in range(count)))
        calls = [0]

        def note(_frame, event, _arg):
            calls[0] += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            check(repo)
        finally:
            sys.setprofile(None)
        return calls[0]

    repo.write("proj/package.json", '{"scripts": {"a": "b"}}')
    small, large = count_calls(1_000), count_calls(4_000)
    assert large < 6 * small


# what public repositories taught: none of these is a fault


@pytest.mark.parametrize(
    "text",
    [
        "Do not create flat provider files at the top like `src/lib/mony.ts`.",
        "These rules are from old `src/lib/mony.ts`.",
        "Run it in `src/lib/MIGRATION_FOLDER/change.ts`.",
        "The file is `src/lib/change-version-NEW_VERSION.ts`.",
        "It prints\nFAIL src/lib/mony.ts",
        "| Topic | Our path | Consumer path |\n|---|---|---|\n| Money | `src/lib/money.ts` | `src/lib/mony.ts` |",
        "| Old | New |\n| --- | --- |\n| `src/lib/mony.ts` | `src/lib/money.ts` |",
    ],
)
def test_examples_of_what_not_to_do_and_columns_about_others_are_not_missed(repo, text):
    assert said(repo, text) == []


def test_the_other_column_of_a_table_is_still_checked(repo):
    table = "| Old | New |\n|---|---|\n| `src/lib/money.ts` | `src/lib/mony.ts` |"
    assert said(repo, table) == ["path-missing src/lib/mony.ts: there is no such file; there is src/lib/money.ts"]


def test_what_was_there_once_is_not_missed_where_it_is_called_old_or_bad(repo):
    os.remove(repo.path("proj/src/lib/dates.ts"))
    commit(repo)
    assert said(repo, "## Patterns (from old `src/lib/dates.ts`)") == []
    assert said(repo, "- Do not create flat top-level files of a provider like `src/lib/dates.ts`") == []
    assert len(said(repo, "## Patterns (from `src/lib/dates.ts`)")) == 1


def test_a_report_that_somebody_is_to_save_is_not_missed_in_portuguese(repo):
    os.remove(repo.path("proj/docs/style.md"))
    commit(repo)
    start = "As regras do projeto são para os agentes que trabalham com os arquivos.\n\n"
    assert said(repo, start + "Salve o resultado como `docs/style.md` ao concluir.") == []
    assert len(said(repo, start + "As regras de estilo estão em `docs/style.md`.")) == 1


def test_a_sample_of_another_repository_is_not_about_this_one(repo):
    named = "".join(f"- `src/lib/part{number}.ts`\n" for number in range(7))
    repo.write("proj/package.json", '{"scripts": {"test": "x"}}')
    repo.write("proj/samples/CLAUDE.md", f"# Shop\n\n{named}\nRun `npm run dev:main`, see [plans](plans.md).\n")
    assert check(repo) == []
    repo.write("proj/samples/CLAUDE.md", "# Shop\n\nRun `npm run dev:main`, see [plans](plans.md).\n")
    assert [code for _, _, code, _ in check(repo)] == ["link-dead", "script-missing"]


def test_what_came_with_a_skill_does_not_tell_that_it_is_about_this_repository(repo):
    repo.write("proj/package.json", '{"scripts": {"test": "x"}}')
    own = [f"references/page{number}.md" for number in range(6)]
    for path in own:
        repo.write(f"proj/.claude/skills/crud/{path}", "x\n")
    named = "".join(f"- `{path}`\n" for path in own)
    skill = f"---\nname: crud\ndescription: d\n---\n{named}\nCheck with `pnpm run typecheck`.\n"
    repo.write("proj/.claude/skills/crud/SKILL.md", skill)
    assert check(repo) == []


def test_a_copied_guide_holds_nothing_but_usual_names(repo):
    repo.write("proj/src/main.tsx", CODE)
    repo.write("proj/src/routes/index.tsx", CODE)
    missing = "".join(f"- `src/routes/{name}.tsx`\n" for name in ("posts", "about", "dashboard"))
    repo.write("proj/.claude/rules/router.md", f"Begin with `src/main.tsx` and `src/routes/index.tsx`.\n\n{missing}")
    assert check(repo) == []


def test_a_skill_does_not_name_paths_from_the_folder_of_all_agents(repo):
    repo.write("proj/.claude/skills/setup-all/references/a.md", "x\n")
    text = "---\nname: setup-all\ndescription: d\n---\nThis skill (source `skills/setup/`) uses `src/lib/money.ts`.\n"
    repo.write("proj/.claude/skills/setup-all/SKILL.md", text)
    assert check(repo) == []


def test_an_archived_file_is_kept_as_it_was(repo):
    repo.write("proj/docs/archived/CLAUDE.md", "Money is in `src/lib/mony.ts`.\n")
    assert check(repo) == []
