"""Vectors, optional: memories that mean what a query says in other words. Nothing here is imported without them.

1. A memory is cut into parts of whole lines; the part nearest to the query decides. Name and description are a part.
2. Vectors are stored in the index in half precision, by the name of the model; missing ones are made on demand.
3. A callable of your own will do (`recall(embed=…)`): it gets a list of texts, and returns a vector for each, of finite
   numbers, all of one size; they are scaled here. They are stored under its `name`, if it has one, else under the name
   of the function or class: another model needs another name.
4. `WordLlama` is a static table that its package carries. It runs no model and fetches nothing: its own loader would
   look for one file in the wrong folder of its package, and then on the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from foretold.errors import ForetoldError
from foretold.extras import how_to_install
from foretold.memory.recall.index import RecallIndex
from foretold.memory.recall.table import BIAS, SCALE, split_parts, write_table
from foretold.storage.digest import digest_of
from foretold.types import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Protocol, TypeAlias

    Table: TypeAlias = Any
else:
    Protocol = object

BATCH = 256


class NoVectors(ForetoldError):
    """The package that makes vectors is not installed."""

    exit_code = 2


class Vectors(Protocol):
    """What turns texts into vectors, one row each. Another name is another model."""

    name: str

    def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]: ...


#: turns texts into vectors, one each; any callable will do
Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]


class NamedEmbed:
    """A callable as `Vectors`: with the name under which its vectors are stored."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        kind = embed if hasattr(embed, "__qualname__") else type(embed)
        self.name = f"embed {getattr(embed, 'name', '') or f'{kind.__module__}.{kind.__qualname__}'}"

    def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        return self._embed(texts)


def name_embedder(embed: Embed | None) -> Vectors:
    assert embed is not None
    return NamedEmbed(embed)


class WordLlama:
    """The static table of the package `wordllama`: 256 numbers for each part."""

    name = "wordllama l2_supercat 256"

    def __init__(self) -> None:
        try:
            import wordllama
        except ImportError as error:
            raise NoVectors(f"vectors need the package wordllama: {how_to_install('vectors')}") from error
        import os

        home = os.path.dirname(wordllama.__file__)
        self._table = wordllama.WordLlama.load(cache_dir=home, disable_download=True)
        self.version = str(getattr(wordllama, "__version__", ""))

    @property
    def rows(self) -> Table:
        """The vector of each token."""
        import numpy

        return self._table.embedding.astype(numpy.float32)

    @property
    def tokens(self) -> list[tuple[str, int]]:
        """The tokens and their numbers."""
        return sorted(self._table.tokenizer.get_vocab().items())

    def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        found: Sequence[Sequence[float]] = self._table.embed(list(texts), norm=True)
        return found


def build_table(home: str, progress: Callable[[int, int], None] | None = None) -> None:
    """Write the table of word vectors into a cache folder, from the package `wordllama`; see `table.py`."""
    model = WordLlama()  # first: it says what to install
    import numpy

    rows = numpy.clip(numpy.rint(model.rows * SCALE), -BIAS, BIAS - 1).astype(numpy.int16) + BIAS
    packed = rows.astype(numpy.uint8)
    digest = digest_of(packed.tobytes())[:16]

    def count() -> Iterator[bytes]:
        for at in range(len(packed)):
            if progress and (at % 1000 == 0 or at == len(packed) - 1):
                progress(at + 1, len(packed))
            yield packed[at].tobytes()

    source = f"wordllama {model.version}"
    about: dict[str, object] = {"digest": digest, "source": source, "tokens": len(packed)}
    write_table(home, model.tokens, count(), about)


def find_nearness(index: RecallIndex, vectors: Vectors, query: str) -> dict[int, float]:
    """For every row the cosine of a query and its nearest part."""
    import numpy

    _complete(index, vectors)
    asked = _unit(numpy.asarray(vectors.embed([query]), dtype=numpy.float32))[0]
    size, rows, owners = len(asked) * 2, [], []
    for row, data in index.vectors(vectors.name):
        count = len(data) // size
        rows.append(data[: count * size])
        owners += [row] * count
    if not owners:
        return {}
    table = numpy.frombuffer(b"".join(rows), dtype=numpy.float16).reshape(len(owners), -1).astype(numpy.float32)
    found: dict[int, float] = {}
    for row, near in zip(owners, (table @ asked).tolist(), strict=True):
        if near > found.get(row, -2.0):
            found[row] = near
    return found


def _complete(index: RecallIndex, vectors: Vectors) -> None:
    """Make the vectors that are missing."""
    import numpy

    missing = list(index.texts(vectors.name))
    for start in range(0, len(missing), BATCH):
        cut = [(row, split_parts(*text)) for row, *text in missing[start : start + BATCH]]
        table = _unit(numpy.asarray(vectors.embed([part for _, each in cut for part in each]), dtype=numpy.float32))
        made, at = [], 0
        for row, each in cut:
            made.append((row, table[at : at + len(each)].astype(numpy.float16).tobytes()))
            at += len(each)
        index.put_vectors(vectors.name, made)


def _unit(table: Table) -> Table:
    """Every row at length one; a row of zeros stays."""
    import numpy

    lengths = numpy.linalg.norm(table, axis=1, keepdims=True)
    return table / numpy.where(lengths == 0, 1, lengths)
