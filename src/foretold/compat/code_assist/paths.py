"""Where code-assist keeps memory entries: of the two functions of that name, one is documented and one is used."""

from __future__ import annotations

import os
import re
from pathlib import Path, PureWindowsPath

Folder = str | os.PathLike[str]


def get_memory_dir(project_root: Folder, *, home: Folder | None = None) -> Path:
    """The folder of a project's memory entries, which `scan_memory_files` reads.

    >>> get_memory_dir("/home/user/project", home="/h").as_posix()
    '/h/.claude/projects/home-user-project/memory'
    """
    slug = re.sub(r"[^\w.-]", "-", _whole(project_root).lstrip("/\\")) or "-"
    return projects(home) / slug / "memory"


def list_dirs(project_root: Folder, home: Folder | None) -> tuple[Path, Path]:
    """Both folders, that of the program first."""
    return get_memory_dir(project_root, home=home), get_documented_dir(project_root, home=home)


def get_documented_dir(project_root: Folder, *, home: Folder | None = None) -> Path:
    """The folder that the documents name; it is `get_memory_dir` of the package itself.

    >>> get_documented_dir("/home/user/project", home="/h").as_posix()
    '/h/.claude/projects/-home-user-project'
    """
    return projects(home) / re.sub(r"[/\\]", "-", _whole(project_root))


def _whole(path: Folder) -> str:
    """A path from its top, without idle parts: no name of a project may lead out of the folder of all projects."""
    text = os.fspath(path)
    is_drive = PureWindowsPath(text).is_absolute() and not text.startswith("/")
    return str(PureWindowsPath(text)) if is_drive else os.path.abspath(text)


def projects(home: Folder | None) -> Path:
    """The folder that holds those of all projects."""
    return Path(home if home is not None else os.path.expanduser("~")) / ".claude" / "projects"
