"""What an agent takes from its surroundings, as plain values: the engine sees nothing else of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from foretold.dialects.schema import Dialect, FileSource
from foretold.storage.tree import Fault, Tree, is_inside
from foretold.types import Finding, NamedTuple


class LoadRequest(NamedTuple):
    """What a caller of `foretold.load` asked for; defaults are filled in at the edge."""

    dialect: Dialect
    cwd: str  #: the physical folder
    home: str
    managed: str
    env: Mapping[str, str]
    args: tuple[str, ...]
    settings: Mapping[str, object]
    model: str | None
    date: str  #: YYYY-MM-DD
    add_dirs: tuple[str, ...]
    trust: bool | None = None  #: for agents that ask whether a folder is trusted
    external: bool = False  #: whether imports from outside are approved, whatever is on record


class Repository(NamedTuple):
    """The repository around a folder."""

    top: str  #: its work tree
    main: str  #: the work tree that shares its history (itself, unless it is a linked worktree)
    common: str  #: the folder that holds the history
    bare: bool


class Surroundings(NamedTuple):
    """The surroundings of one session."""

    cwd: str
    walk: tuple[str, ...]  #: the folders from the top of the walk down to cwd
    home: str
    user: str  #: the agent's own folder
    managed: str
    sources: frozenset[str]  #: switches that are on
    model: str
    date: str
    added: tuple[str, ...] = ()
    off: str = ""  #: why nothing at all is loaded; empty when loading is on
    switched_by: str = ""  #: what turns the other sources off
    excludes: tuple[str, ...] = ()
    spelled: Mapping[str, str] = {}  #: folders that are shown as relative paths, and those paths
    approved: Callable[[str], bool] = lambda _: False  #: whether an import of this path, from outside, was approved
    mode: str = "never"  #: of the fallback files: never, instead, beside, managed-only; with why in `mode_reason`
    mode_reason: str = ""
    texts: Mapping[str, tuple[str, str]] = {}  #: instruction text inside settings: key -> (where it is, text)
    memory: str = ""  #: the folder of the memory index; empty when there is none, with why in `memory_reason`
    memory_reason: str = ""
    prompt_follows: bool = False  #: whether the user's prompt is the block after the instructions
    git: Repository | None = None
    findings: tuple[Finding, ...] = ()
    start: tuple[FileSource, ...] = ()  #: the plan, where settings change that of the dialect
    touch: tuple[FileSource, ...] = ()
    budget: int | None = None  #: bytes, of the layer that the dialect limits
    markers: tuple[str, ...] = (".git",)  #: what the top folder of a project holds
    refusal: int = 0  #: the exit status with which the agent refuses to start here
    flat: bool = False  #: whether imports follow the text instead of standing in it
    working: tuple[str, ...] = ()  #: the only folders whose files bring something when they are touched; empty = any
    store: str = ""  #: the folder in which the agent keeps one memory per file, whether or not it reads them now

    @property
    def top(self) -> str:
        """The top of the repository; without one, the working directory."""
        return self.git.top if self.git else self.cwd


def walk_of(cwd: str) -> list[str]:
    """The folders from the top of the file system down to a folder, without the top."""
    folders, folder = [], ""
    for name in cwd.split("/")[1:] if cwd != "/" else ():
        folder += "/" + name
        folders.append(folder)
    return folders


def upward(folder: str) -> Iterator[str]:
    """A folder and those above it, the nearest first."""
    while folder not in ("/", ""):
        yield folder
        folder = folder.rpartition("/")[0]
    yield "/"


def marked_top(tree: Tree, folder: str, markers: tuple[str, ...]) -> str:
    """The nearest folder, from this one upwards, that holds a marker; empty if there is none."""
    for each in upward(folder) if markers else ():
        if any(tree.kind(f"{each.rstrip('/')}/{marker}") != "missing" for marker in markers):
            return each
    return ""


def walk_between(top: str, cwd: str) -> tuple[str, ...]:
    """The folders from one down to another, both included."""
    if not top:
        return (cwd,)
    folders = walk_of(cwd)
    return tuple(folder for folder in (("/", *folders) if top == "/" else folders) if is_inside(folder, top)) or (cwd,)


def plain_surroundings(request: LoadRequest, **changes: object) -> Surroundings:
    """Surroundings in which nothing is switched off; what an agent has beyond that is given."""
    dialect = request.dialect
    surroundings = Surroundings(
        cwd=request.cwd,
        walk=(request.cwd,),
        home=request.home,
        user=join(request.home, dialect.user),
        managed=request.managed,
        sources=frozenset(source.switch for source in dialect.start),
        model=request.model or dialect.model,
        date=request.date,
    )
    return surroundings._replace(**changes)  # type: ignore[arg-type]


def read_surroundings(tree: Tree, request: LoadRequest) -> Surroundings:
    """The surroundings of an agent without settings: it walks from the top of the repository, or from the home."""
    git, walk = find_git(tree, request.cwd), request.dialect.walk
    top = git.top if git and walk != "cwd" else ""
    if walk == "home" and is_inside(request.cwd, request.home):
        top = request.home
    return plain_surroundings(request, walk=walk_between(top, request.cwd), git=git)


def user_home(name: str) -> str:
    """The home of a user of this machine; empty if there is no such user."""
    try:
        import pwd

        return pwd.getpwnam(name).pw_dir
    except (ImportError, KeyError, ValueError):
        return ""


def find_git(tree: Tree, cwd: str) -> Repository | None:
    """The repository that holds a folder, by looking for `.git` upwards.

    A `.git` file that names a folder with a `commondir` is a linked worktree; without one, a submodule.
    """
    known: dict[str, Repository | None] = getattr(tree, "repositories", {})  # of a tree that remembers
    if cwd not in known:
        known[cwd] = None
        for folder in upward(cwd):
            kind = tree.kind(folder.rstrip("/") + "/.git")
            if kind in ("file", "folder"):
                plain = Repository(folder, folder, folder.rstrip("/") + "/.git", bare=False)
                known[cwd] = plain if kind == "folder" else _follow_git_file(tree, plain)
                break
    return known[cwd]


def _follow_git_file(tree: Tree, plain: Repository) -> Repository:
    folder = plain.top
    named = _line_of(tree, plain.common).removeprefix("gitdir:").strip()
    if not named:
        return plain
    private = join(folder, named)
    shared = _line_of(tree, private + "/commondir").strip()
    if not shared:
        return plain
    common = join(private, shared)
    head, _, last = common.rpartition("/")
    if last != ".git":
        return Repository(folder, common, common, bare=True)
    return Repository(folder, head or "/", common, bare=False)


def find_linked_git(tree: Tree, cwd: str) -> Repository | None:
    """The repository that holds a folder, for what is not the agent's to decide: with its link checked."""
    git = find_git(tree, cwd)
    return None if git is None else check_link(tree, git)


def check_link(tree: Tree, git: Repository) -> Repository:
    """A repository that `find_git` found; if it only claims to be a worktree of another one, as one of its own.

    Anyone can write a `.git` file that names a worktree of another project. It is one only if its repository says so:
    the folder that it names is in `worktrees` of the repository, and `gitdir` there names this `.git` file.
    """
    own = git.top.rstrip("/") + "/.git"
    if git.common == own or _is_named_back(tree, git):
        return git
    return Repository(git.top, git.top, own, bare=False)


def _is_named_back(tree: Tree, git: Repository) -> bool:
    file = git.top.rstrip("/") + "/.git"
    private = join(git.top, _line_of(tree, file).removeprefix("gitdir:").strip())
    named = _line_of(tree, private + "/gitdir").strip()
    real = tree.real(private)
    if not named or real.rpartition("/")[0] != tree.real(git.common).rstrip("/") + "/worktrees":
        return False
    folder, _, name = join(real, named).rpartition("/")
    return name == ".git" and tree.real(folder or "/") == tree.real(git.top)  # a link to another `.git` file is not it


def _line_of(tree: Tree, path: str) -> str:
    data = tree.read(path, 64 * 1024)
    return "" if isinstance(data, Fault) else data.decode("utf-8", "replace").partition("\n")[0]


def join(folder: str, path: str) -> str:
    """A path seen from a folder, normalised by spelling."""
    if path[:1] != "/":
        path = folder + "/" + path
    if "//" not in path and "/." not in path and (path == "/" or path[-1:] != "/"):
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part and part != ".":  # not os.path.normpath: that of 3.11.2 cuts a path at a NUL
            parts.append(part)
    return "/" + "/".join(parts)
