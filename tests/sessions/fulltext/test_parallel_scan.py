"""A second process scans files from the other end: the answer is the same, and no process is left."""

import os
import subprocess

import pytest

from foretold.sessions.fulltext import scan
from foretold.sessions.fulltext.search import search
from foretold.sessions.model import Homes

from ..corpus import MOMENT, record, write


@pytest.fixture
def homes(tmp_path):
    for number in range(40):
        said = "a needle" if number in (3, 30) else "hay"
        path = write(
            str(tmp_path), number + 1, [record(1, "user", f"{said} {number} " + "x y " * 500, MOMENT + number)]
        )
        os.utime(path, (MOMENT + number, MOMENT + number))
    return Homes(str(tmp_path), {})


def children():
    told = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True, check=False
    )
    return [line for line in told.stdout.split("\n") if "scan_backwards" in line]


@pytest.mark.parametrize("limit", [1, 20])
def test_the_answer_is_the_same(homes, monkeypatch, limit):
    alone = search("needle", homes=homes, use_index=False, limit=limit)
    monkeypatch.setattr(scan, "AFTER", 1)
    assert search("needle", homes=homes, use_index=False, limit=limit) == alone
    assert [hit.snippet.text[:11] for hit in alone.hits] == ["a needle 30", "a needle 3 "][:limit]
    assert children() == []


def test_it_reports_files_without_a_match(homes, monkeypatch):
    from foretold.sessions.catalog import newest_first

    monkeypatch.setattr(scan, "AFTER", 1)
    sessions = newest_first(homes)
    made = scan.ParallelScan([b"needle"], sessions)
    assert not made.is_clean(sessions[0])
    made._worker.wait()  # it has scanned all of them
    clean = [stored for stored in sessions if made.is_clean(stored)]
    assert len(clean) == 38
    grown = clean[0]._replace(size=clean[0].size + 1)
    assert not made.is_clean(grown)
    made.close()
    assert children() == []
