"""Names of code against real repositories: in their file, moved, gone though something still says them."""

import pytest

from .test_verify import DATE, LONG, Repository


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "repo")


def state_of(repository, text, name):
    """State and evidence of one claim of a memory."""
    [found] = [(state, said) for claim, state, said in repository.check(text) if claim == name]
    return found


def remove(repository, path, definition, **left):
    """Commit a definition, then a version without it; the commit that removed it."""
    repository.commit(files={path: f"{LONG}{definition}\n"})
    return repository.commit(files={path: LONG, **left.get("files", {})})[:7]


@pytest.mark.parametrize(
    "left",
    [
        {"src/a.py": "# make_part was here\n"},
        {"src/a.py": '"""Doc: make_part(x) is deprecated."""\n'},
        {"src/a.py": 'if name == "shop.make_part":\n    raise AttributeError(name)\n'},
        {"docs/guide.rst": "Call ``make_part()``.\n"},
        {"src/a.py": "self.make_part = 3\n"},
        {"docs/example.py": "make_part(3)\n"},
    ],
)
def test_a_mention_does_not_keep_a_removed_definition(repository, left):
    commit = remove(repository, "src/shop.py", "def make_part(x): ...", files=left)
    said = f"nothing defines it any more; git removed it from src/shop.py in {commit} ({DATE})"
    assert state_of(repository, "Call `make_part()`.", "make_part") == ("missing", said)


@pytest.mark.parametrize(
    "left",
    [
        {"src/b.py": "from parts import make_part\n"},
        {"src/b.ts": "import {\n  make_part,\n} from 'parts'\n"},
        {"src/b.py": "value = make_part(3)\n"},
        {"src/b.py": "class Big(make_part):\n    pass\n"},
        {"src/b.py": "make_part = wrap(old)\n"},
        {"tests/test_b.py": "def make_part(): ...\n"},
    ],
)
def test_what_code_needs_is_there(repository, left):
    remove(repository, "src/shop.py", "def make_part(x): ...", files=left)
    assert state_of(repository, "Call `make_part()`.", "make_part")[0] == "valid"


def test_what_git_never_defined_is_judged_by_what_is_there(repository):
    repository.commit(files={"a.py": 'read("max_size")\n# Only a remark: min_size\n', "b.md": "`mid_size`\n"})
    assert repository.check("`max_size`, `min_size`, `mid_size`") == [
        ("max_size", "valid", "it is in a.py:1"),
        ("min_size", "unknown", "only comments mention it: a.py:2"),
        ("mid_size", "unknown", "only documents mention it: b.md:1"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "`make_part()` in `src/shop.py` makes parts.",
        "`src/shop.py` defines `make_part`.",
        "Import `make_part` from `src/shop.py`.",
        "`make_part` (`src/shop.py`) makes parts.",
        "In `src/shop.py` the parts are made by `make_part()`.",
        "See `src/shop.py::make_part`.",
        "`make_part` lives in src/shop.py.",
    ],
)
def test_a_definition_that_moved_out_of_its_file(repository, text):
    repository.commit(files={"src/shop.py": f"{LONG}def make_part(x): ...\n"})
    files = {"src/shop.py": f"{LONG}from parts import make_part\n", "src/parts.py": "def make_part(x): ...\n"}
    commit = repository.commit(files=files)[:7]
    said = f"it is in src/parts.py:1 now; git removed it from src/shop.py in {commit} ({DATE})"
    assert state_of(repository, text, "make_part") == ("moved", said)


def test_a_file_that_uses_a_name_is_not_its_place(repository):
    repository.commit(files={"src/shop.py": "make_part()\n", "src/parts.py": "def make_part(x): ...\n"})
    for text in ("`make_part()` is called in `src/shop.py`.", "`make_part` in `src/shop.py`"):
        assert state_of(repository, text, "make_part")[0] == "valid"


def test_a_file_that_never_had_it(repository):
    repository.commit(files={"src/shop.py": "x = 1\n", "src/parts.py": "def make_part(x): ...\n"})
    assert state_of(repository, "`make_part()` is in `src/shop.py`.", "make_part") == (
        "moved",
        "it is in src/parts.py:1, not in src/shop.py",
    )
    assert state_of(repository, "`make_part()` speeds things up in `src/shop.py`.", "make_part")[0] == "valid"


def test_a_namesake_elsewhere_does_not_count(repository):
    commit = remove(repository, "src/local.py", "def get_ident(): ...", files={"examples/x.py": "get_ident()\n"})
    said = f"src/local.py does not define it any more; git removed it from src/local.py in {commit} ({DATE})"
    assert state_of(repository, "`get_ident` in `src/local.py` is the id.", "get_ident") == ("missing", said)


def test_a_word_is_a_claim_only_because_of_its_file(repository):
    commit = remove(repository, "src/hash.py", "def md5sum(file): ...")
    said = f"src/hash.py does not define it any more; git removed it from src/hash.py in {commit} ({DATE})"
    assert state_of(repository, "`md5sum` lives in `src/hash.py`.", "md5sum") == ("missing", said)
    assert repository.check("`md5sum` is fast.") == []
    assert [each[0] for each in repository.check("`nonsense` lives in `src/hash.py`.")] == ["src/hash.py"]


def test_the_file_may_have_moved_itself(repository):
    repository.commit(files={"src/shop.py": f"{LONG}def make_part(x): ...\n"})
    repository.git("mv", "src/shop.py", "src/store.py")
    repository.commit()
    assert state_of(repository, "`make_part()` in `src/shop.py`.", "make_part") == ("valid", "it is in src/store.py:41")


def test_a_module_that_is_gone_or_moved(repository):
    repository.commit(files={"shop/cart/api.py": f"1{LONG}", "shop/old.py": f"2{LONG}", "shop/__init__.py": "\n"})
    repository.git("rm", "-q", "shop/old.py")
    gone = repository.commit()[:7]
    repository.git("mv", "shop/cart/api.py", "shop/web.py")
    moved = repository.commit()[:7]
    assert repository.check("`shop.old.Basket` and `shop.cart.api`, `shop.web`") == [
        ("shop.old.Basket", "missing", f"git deleted shop/old in {gone} ({DATE})"),
        ("shop.cart.api", "moved", f"git moved shop/cart/api to shop/web.py in {moved} ({DATE})"),
        ("shop.web", "valid", "it is shop/web.py"),
    ]


def test_a_member_that_only_another_class_has(repository):
    one, two = "class Cart:\n    pass\n", "class Basket:\n    def add_all(self): ...\n"
    repository.commit(files={"cart.py": f"{LONG}class Cart:\n    def add_all(self): ...\n", "basket.py": two})
    commit = repository.commit(files={"cart.py": LONG + one})[:7]
    said = f"cart.py:41 defines Cart, but its file has no add_all; git removed it from cart.py in {commit} ({DATE})"
    assert state_of(repository, "`Cart.add_all()` is slow.", "Cart.add_all") == ("missing", said)
    assert state_of(repository, "`Basket.add_all()` is slow.", "Basket.add_all")[0] == "valid"


def test_a_flag_of_one_word_that_is_gone(repository):
    repository.commit(files={"cli.js": f"{LONG}.option('--https', 'TLS')\n"})
    commit = repository.commit(files={"cli.js": f"{LONG}const scheme = 'https'\n"})[:7]
    said = f"no code has it any more; git removed it from cli.js in {commit} ({DATE})"
    assert state_of(repository, "Pass `--https` for TLS.", "--https") == ("missing", said)
    repository.commit(files={"main.go": 'flag.Bool("dry", false, "")\n'})
    assert state_of(repository, "Pass `--dry` first.", "--dry")[0] == "valid"


def test_without_history_code_is_believed(tmp_path):
    plain = Repository(tmp_path / "plain", is_git=False)
    plain.write("a.py", "x.make_part\n# other_part\n")
    assert [each[1] for each in plain.check("`make_part` and `other_part`")] == ["valid", "unknown"]


def test_names_beyond_one_expression_are_asked_about(repository):
    names = [f"make_part_{number}" for number in range(150)]
    repository.commit(files={"src/a.py": LONG + "".join(f"def {name}(): ...\n" for name in names)})
    repository.commit(files={"src/a.py": LONG + "".join(f"# {name}\n" for name in names)})
    assert {each[1] for each in repository.check(" ".join(f"`{name}`" for name in names))} == {"missing"}
