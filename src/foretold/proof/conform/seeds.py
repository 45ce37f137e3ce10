"""Running a case of a compatible interface: call the function by its name, and check the result.

`{root}` and `{home}` are two folders, neither in the other; above them, and in the organisation's folder, is nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import Any

from foretold.compat import claude_code, code_assist, ex_athena, mink
from foretold.compat.code_assist import MemoryEntry, MemoryType
from foretold.errors import BadCase
from foretold.proof.conform.cases import Case, CaseOutcome, dict_at, list_at, outcome_of
from foretold.proof.conform.stage import Stage, StagedTree

Args = dict[str, object]
Surroundings = dict[str, object]  #: home and tree, as keywords


def _files(args: Args, kind: Callable[..., object]) -> list[object]:
    files = list_at(args, "files")
    args.pop("files", None)
    return [kind(**file) for file in files]


def _described(function: Callable[..., object]) -> Callable[[Args, Surroundings], object]:
    """A function of code-assist that takes files."""
    return lambda args, _: function(_files(args, code_assist.MemoryFileInfo))


def _claude_mds(args: Args, _: Surroundings) -> object:
    files = _files(args, claude_code.MemoryFileInfo)
    types = args.pop("filter_types", None)
    accepts = types.__contains__ if isinstance(types, list) else None
    return claude_code.get_claude_mds(files, accepts, **args)  # type: ignore[arg-type]


def _index_operations(args: Args, around: Surroundings) -> object:
    """A list of operations on one index; the result is that of the last."""
    result: object = None
    for name, *given in list_at(args, "ops"):
        result = INDEX_OPERATIONS[name]("/project", *given, **(around if name == "read" else {"home": around["home"]}))
    return result


INDEX_OPERATIONS: dict[str, Callable[..., object]] = {
    "read": code_assist.read_memory_index,
    "write": code_assist.write_memory_index,
    "add": code_assist.add_memory_to_index,
    "remove": code_assist.remove_memory_from_index,
}


def _should_load(description: str, context: str) -> bool:
    return code_assist.should_load_memory(MemoryEntry("case", description=description), context)


def _searching(args: Args, _: Surroundings) -> object:
    flags = {"tengu_coral_fern": args.pop("gate")}
    return claude_code.build_searching_past_context_section(flags=flags, **args)  # type: ignore[arg-type]


def _call(function: Callable[..., object], *needs: str) -> Callable[[Args, Surroundings], object]:
    """A function that takes the arguments of a case, and what it needs of its surroundings."""
    return lambda args, around: function(**args, **{name: around[name] for name in needs})


FUNCTIONS: dict[str, Callable[[Args, Surroundings], object]] = {
    "mink.discover": _call(mink.discover_memory_files, "home", "tree"),
    "mink.load": _call(mink.load_memory, "home", "tree"),
    "mink.inject": _call(mink.inject_memory, "home", "tree"),
    "mink.parse_frontmatter": _call(mink.parse_frontmatter),
    "mink.resolve_imports": _call(mink.resolve_imports, "home", "tree"),
    "ca.get_memory_files": _call(code_assist.get_memory_files, "home", "tree"),
    # the cases are recordings of the program, whose layout is not that of its documents
    "ca.build_claude_md_context": _described(partial(code_assist.build_claude_md_context, layout="program")),
    "ca.get_claude_mds": _described(code_assist.get_claude_mds),
    "ca.get_large_memory_files": _described(code_assist.get_large_memory_files),
    "ca.is_memory_file_path": _call(code_assist.is_memory_file_path),
    "ca.constants.get_memory_dir": _call(code_assist.get_memory_dir, "home"),
    "ca.paths.get_memory_dir": _call(code_assist.paths.get_memory_dir, "home"),
    "ca.scan": _call(code_assist.scan_memory_files, "home", "tree"),
    "ca.parse_memory_frontmatter": _call(code_assist.parse_memory_frontmatter),
    "ca.memory_entry": _call(MemoryEntry),
    "ca.memory_types": lambda _args, _: [kind.value for kind in MemoryType],
    "ca.index": _index_operations,
    "ca.generate_memory_filename": _call(code_assist.generate_memory_filename),
    "ca.find_relevant": _call(code_assist.find_relevant_memories, "home", "tree"),
    "ca.should_load": _call(_should_load),
    "cc.get_claude_mds": _claude_mds,
    "cc.searching_past_context": _searching,
    "cc.load_memory_prompt_branch": _call(claude_code.load_memory_prompt_branch),
    "cc.extra_guidelines": _call(claude_code.extra_guidelines),
    "cc.truncate_index": _call(claude_code.truncate_index),
    "ea.discover": _call(ex_athena.discover, "home", "tree"),
    "ea.memory_message": _call(ex_athena.is_memory_message),
    "ea.pinned_count": _call(ex_athena.pinned_count),
}


def reason_to_skip(case: Case) -> str:
    """Why a case cannot run; empty if it can."""
    return "" if case["fn"] in FUNCTIONS else f"no interface has a function {case['fn']}"


def run_seed_case(case: Case) -> CaseOutcome:
    """Call the function of a case and check what it returns."""
    with Stage(_staged(case), "2026-01-02", apart=True) as stage:
        stage.prepare()
        filled = stage.case
        args, checks = filled.get("args") or {}, filled.get("expect")
        if not isinstance(args, dict) or not isinstance(checks, list):
            raise BadCase(f"{case['id']}: args is an object, expect a list of checks")
        if "gen" in args:
            args["text"] = generated(args["gen"])
        given = {name: value for name, value in args.items() if name != "gen"}
        around: Surroundings = {"home": stage.places["home"], "tree": StagedTree(stage, {})}
        result = FUNCTIONS[str(case["fn"])](given, around)
        differences = [
            {"key": str(check["check"]), "expected": check.get("value"), "actual": plain(result)}
            for check in checks
            if not holds(check, result, args)
        ]
    return outcome_of(case, differences)


def _staged(case: Case) -> Case:
    """The case with its files under the names of the stage."""
    files: dict[str, object] = {f"{{root}}/{path}": text for path, text in dict_at(case, "files").items()}
    files |= {f"{{home}}/{path}": text for path, text in dict_at(case, "home_files").items()}
    files |= {f"{{root}}/{path}": {"symlink": target} for path, target in dict_at(case, "symlinks").items()}
    return {**case, "files": files}


def holds(check: Mapping[str, object], result: object, args: Args) -> bool:
    """Whether a check of a case holds for a result."""
    kind, value = check["check"], check.get("value")
    if kind == "not_same_object":
        return result is not args[str(value)]
    if kind == "any_of":
        checks = list_at(check, "value")
        if not checks or not all(isinstance(each, dict) for each in checks):
            raise BadCase("any_of has a list of checks, one of which holds")
        return any(holds(each, result, args) for each in checks)
    found = pick(plain(result), list_at(check, "at"))
    if kind == "first_lines":
        lines, numbers = str(found).split("\n"), check.get("index")
        if not isinstance(numbers, list):
            raise BadCase("first_lines has the numbers of its lines in index, a list")
        return [line for number in numbers for line in lines[number : number + 1]] == value
    if kind not in CHECKS:
        raise BadCase(f"there is no check {kind!r}")
    return CHECKS[str(kind)](found, value, str(args.get("text", "")))


def generated(recipe: object) -> str:
    """A text of many lines.

    >>> generated({"lines": 2, "format": "line {i}"})
    'line 0\\nline 1'
    """
    if not isinstance(recipe, dict) or not isinstance(recipe.get("lines"), int):
        raise BadCase("gen has a number of lines, and the format of one")
    return "\n".join(str(recipe.get("format", "")).replace("{i}", str(number)) for number in range(recipe["lines"]))


def _kept(found: str) -> str:
    """What is left of an index, without the warning after it."""
    return found.rpartition("\n\n> WARNING")[0] or found


def _ends_at_newline(found: str, text: str) -> bool:
    """Whether what is kept is whole lines of the text."""
    kept = _kept(found)
    return text.startswith(kept) and (kept == text or kept.endswith("\n") or text[len(kept)] == "\n")


def pick(value: object, at: list[object]) -> object:
    """What is at a path in a value; `*` is every item of a list.

    >>> pick([{"a": 1}, {"a": 2}], ["*", "a"])
    [1, 2]
    """
    if not at:
        return value
    first, rest = at[0], at[1:]
    if first == "*":
        assert isinstance(value, list)
        return [pick(item, rest) for item in value]
    return pick(value[first], rest)  # type: ignore[index]


def _in_order(text: str, parts: list[str]) -> bool:
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


#: of the result and the value of the check; those of a cut compare with the text that was given, too
CHECKS: dict[str, Callable[[Any, Any, str], bool]] = {
    "eq": lambda found, value, _: found == value,
    "contains": lambda found, value, _: value in found,
    "not_contains": lambda found, value, _: value not in found,
    "order": lambda found, value, _: _in_order(found, value),
    "len": lambda found, value, _: len(found) == value,
    "max_newlines": lambda found, value, _: str(found).count("\n") <= value,
    "kept_lines_at_most": lambda found, value, _: _kept(found).count("\n") + 1 <= value,
    "kept_bytes_at_most": lambda found, value, _: len(_kept(found).encode()) <= value,
    "kept_ends_at_newline": lambda found, value, text: _ends_at_newline(found, text) is value,
    "warning_appended": lambda found, value, _: (_kept(found) != found) is value,
    "unchanged": lambda found, value, text: (found == text) is (value is not False),
}


def plain(value: object) -> object:
    """A result as the values of JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value
