"""Files that are one person's own and shared nevertheless, and shared files that need what is not shared.

1. A local file (`CLAUDE.local.md`, `.claude/settings.local.json`) that git tracks is everyone's. One that git neither
   tracks nor ignores is, after the next `git add .`.
2. An import of a file that git ignores works for one person; colleagues and CI get nothing. Local files may import what
   is local.
3. Without git, nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foretold.check.finding import CheckFinding
from foretold.check.project import Project
from foretold.dialects.extensions.redirects import LOCAL_NAMES
from foretold.git.runner import ask
from foretold.storage.tree import is_inside


def is_shared(project: Project, path: str) -> bool:
    """Whether a file of the tree reaches others: git tracks it, or would with the next `git add .`."""
    inside = project.relative(path)
    if LOCAL_NAMES.search(inside):
        return project.git is None or inside in find_tracked(project, [inside])
    return project.tracked is None or inside in project.tracked


def find_tracked(project: Project, paths: Iterable[str]) -> set[str]:
    """Those of some paths below the top that git has in its index."""
    given = list(paths)
    if project.git is None or not given:
        return set()
    said = ask(project.git.root, "--literal-pathspecs", "ls-files", "-z", "--cached", "--", *given)
    return {*(said or b"").decode("utf-8", "surrogateescape").split("\0")} & {*given}


def find_local_files(project: Project) -> Iterator[CheckFinding]:
    """Local files that git tracks, or does not ignore."""
    local = [path for path in project.files if ".local." in path and LOCAL_NAMES.search(path)]
    local = [path for path in local if project.is_checked(project.absolute(path))]
    if not local or project.git is None:
        return
    tracked = find_tracked(project, local)
    ignored = project.git.ignored(path for path in local if path not in tracked)
    for path in local:
        folder, _, name = path.rpartition("/")
        if not path.endswith(".md"):  # a line with a slash counts from the folder of .gitignore
            name = path if path.count("/") == 1 else f"**/{folder.rpartition('/')[2]}/{name}"
        if path in tracked:
            said = "git tracks it, though it is meant for one person"
            hint = f"git rm --cached {path}, and add {name} to .gitignore"
            yield CheckFinding(project.absolute(path), None, "local-tracked", said, hint)
        elif path not in ignored:
            said = "git does not ignore it, so the next `git add .` shares it with everyone"
            yield CheckFinding(project.absolute(path), None, "local-not-ignored", said, f"add {name} to .gitignore")


def find_ignored_imports(project: Project) -> Iterator[CheckFinding]:
    """Imports of files that git ignores, in files that it does not."""
    if project.git is None:
        return
    imports: dict[str, tuple[str, list[str]]] = {}  #: file -> who imports it, and for which agents
    for each in project.views():
        for entry in each.view.entries:
            pairs = [(entry.path, entry.parent)] if entry.parent else [(path, entry.path) for path in entry.includes]
            for path, parent in pairs:
                if parent and is_inside(path, project.top) and is_inside(parent, project.top) and path != parent:
                    imports.setdefault(path, (parent, []))[1].append(each.agent)
    imports = {path: by for path, by in imports.items() if project.is_checked(by[0])}
    if not imports:
        return
    inside = [project.relative(path) for path in imports]
    ignored = project.git.ignored(inside) - find_tracked(project, inside)
    for path, (parent, agents) in imports.items():
        name = project.relative(path)
        if name in ignored and not LOCAL_NAMES.search(project.relative(parent)) and is_shared(project, parent):
            said = f"{name}: git ignores this file, so only you have it"
            hint = "let git track it, or import it from a local file"
            line = find_mention(project, parent, path)
            yield CheckFinding(parent, line, "import-ignored", said, hint, tuple(dict.fromkeys(agents)))


def find_mention(project: Project, parent: str, path: str) -> int | None:
    """The line of a file that names another one."""
    text, name = project.read(parent) or "", path.rpartition("/")[2]
    at = text.find(f"@{project.relative(path)}")
    at = at if at >= 0 else text.find(name)
    return text.count("\n", 0, at) + 1 if at >= 0 else None
