"""code-assist's file state cache."""

import os

from foretold.compat.code_assist import FileStateCache


def test_a_change_makes_it_stale(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"one")
    cache = FileStateCache()
    digest = cache.update(str(path))
    assert not cache.is_stale(str(path))
    assert cache.get(str(path)).content_hash == digest
    path.write_bytes(b"other")
    assert cache.is_stale(str(path))
    cache.update(str(path))
    os.utime(path, (1, 1))
    assert cache.is_stale(str(path))
    path.unlink()
    assert cache.is_stale(str(path))


def test_the_ones_used_last_stay(tmp_path):
    cache = FileStateCache(max_size=2)
    paths = [str(tmp_path / name) for name in "abc"]
    for path in paths:
        with open(path, "w", encoding="utf-8") as file:
            file.write(path)
    cache.update(paths[0])
    cache.update(paths[1])
    cache.get(paths[0])
    cache.update(paths[2])
    assert [path in cache for path in paths] == [True, False, True]
    cache.invalidate(paths[0])
    assert len(cache) == 1
    cache.clear()
    assert (len(cache), FileStateCache()._most) == (0, 4096)
