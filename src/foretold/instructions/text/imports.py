"""Where an `@path` leads, and whether the agent follows it.

1. `#` and what follows is cut. `~/` is the home; a relative path starts at the folder of the file that holds it
   (of the target, if that file is a link).
2. The extension decides: none at all, or one of the dialect's list, in upper or lower case.
3. Files of layers that are not free may import only from inside the working directory, by the path as it is
   spelled and, in later versions, as it really is; unless the user approved imports from outside.
"""

from __future__ import annotations

from foretold.dialects.schema import Imports
from foretold.dialects.surroundings import Surroundings, join
from foretold.storage.tree import Tree, is_inside

MAX_PATH = 4096  #: no system opens a longer one


def target_of(mention: str, folder: str, home: str) -> str:
    """The path an import names; empty if it names none."""
    path = mention.partition("#")[0]
    if not path:
        return ""
    if path.startswith("~/"):
        return join(home, path[2:])
    return join(folder, path)


def extension_of(path: str) -> str:
    """What follows the last dot of the name, in lower case; a dot file has none."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return "" if dot <= 0 else name[dot + 1 :].lower() or "."


def is_text(path: str, imports: Imports) -> bool:
    """Whether a file may be imported, by its name. A dialect without a list takes every file."""
    if not imports.extensions:
        return True
    extension = extension_of(path)
    return not extension or extension in imports.extensions


def is_contained(path: str, layer: str, imports: Imports, surroundings: Surroundings, tree: Tree) -> bool:
    """Whether a file of this layer may import this path."""
    if layer in imports.free:
        return True
    if is_inside(path, surroundings.cwd) and (
        "real" not in imports.contain or is_inside(tree.real(path), surroundings.cwd)
    ):
        return True
    return surroundings.approved(path)
