"""Findings about what instructions claim and the repository does not have."""

from __future__ import annotations

from foretold.findings.registry import Rule

RULES = (
    Rule(
        "heading-missing",
        "note",
        what="a link leads to a heading that its page does not have",
        why="The reader, or the model, is sent to a part of the page that is not there.",
        example="[rollback](docs/deploy.md#roll-back), where the heading is “Rollback”",
        fix="correct the part after the `#`",
        instead="[rollback](docs/deploy.md#rollback)",
    ),
    Rule(
        "link-dead",
        "warning",
        what="a Markdown link leads to a file that is not there",
        why="The model tries to read it, and goes on without.",
        example="[onboarding](docs/onboarding.md), after the page was removed",
        fix="correct the link, or remove it",
        instead="[onboarding](docs/start.md)",
    ),
    Rule(
        "package-missing",
        "warning",
        what="a command names a package that the workspace does not have",
        why="The command fails, and the model looks for another way.",
        example="pnpm --filter @harbor/site test, where the package is @harbor/web",
        fix="write the name of a package of the workspace",
        instead="pnpm --filter @harbor/web test",
    ),
    Rule(
        "path-missing",
        "warning",
        what="instructions name a file or a folder that the repository does not have, though the folder that it "
        "should be in is there, or git once had it",
        why="The model looks for it, or makes it anew.",
        example="routes are in `src/routes/`, where the folder is `src/api/`",
        fix="correct the path, or remove the sentence",
        instead="routes are in `src/api/`",
        fixable="unsafe",
    ),
    Rule(
        "path-moved",
        "warning",
        what="instructions name a file under the path that it had before git moved it",
        why="The model looks for it where it was, or makes it anew.",
        example="money is formatted in `src/money.ts`, which is now `src/lib/money.ts`",
        fix="write the new path",
        instead="money is formatted in `src/lib/money.ts`",
        fixable="safe",
    ),
    Rule(
        "paths-missing",
        "note",
        what="most of the files and folders that instructions name are not in the repository",
        why="The model takes them for the layout of this repository. They are not reported one by one, because a text "
        "that names so many is mostly about another tree, or about one that is still to be made.",
        example="`src/routes/`, `src/models/` and `src/api/orders.ts`, where only `src/index.ts` is there",
        fix="describe the folders that are there, or say that these are to be made",
        instead="the code is in `src/index.ts`",
    ),
    Rule(
        "script-missing",
        "warning",
        what="a command runs a script that no package.json has",
        why="The command fails, and the model looks for another way.",
        example="npm run typecheck, where the script is called `types`",
        fix="write the name of a script that is there",
        instead="npm run types",
    ),
    Rule(
        "symbol-missing",
        "note",
        what="instructions name a function, a class or a constant that no code has",
        why="The model looks for it, or invents it.",
        example="`calculateFee` computes the fee, after it was renamed",
        fix="write the name that the code has",
        instead="`computeFee` computes the fee",
    ),
    Rule(
        "target-missing",
        "warning",
        what="a command makes a target that no Makefile, justfile or Taskfile has",
        why="The command fails, and the model looks for another way.",
        example="make bootstrap, where the target is called `setup`",
        fix="write the name of a target that is there",
        instead="make setup",
    ),
    Rule(
        "version-differs",
        "note",
        what="instructions name an older version of Node than package.json asks for",
        why="The model writes for, or installs, a version on which the project does not run.",
        example="We run on Node 18, where package.json has engines: node >=22",
        fix="write the version that the project needs",
        instead="We run on Node 22",
    ),
)
