from __future__ import annotations

import json
import random

import pytest

from foretold.sessions.formats.jsonl import LONGEST, records_of

RECORDS = [
    {"type": "user", "uuid": "1", "message": {"role": "user", "content": "first\nline ✓ é 日本 \U0001f600"}},
    {"type": "assistant", "uuid": "2", "message": {"content": [{"type": "text", "text": '{"type":"x"} "quoted" \\'}]}},
    {"parentUuid": None, "type": "attachment", "attachment": {"type": "file", "content": "a" * 200}},
    {"type": "last-prompt", "leafUuid": "2"},
]
LINES = [json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in RECORDS]
WHOLE = b"".join(LINES)


def read(path, data):
    path.write_bytes(data)
    findings = []
    return [record.value for record in records_of(str(path), findings=findings)], [one.code for one in findings]


def test_cut_at_every_byte_all_whole_records_are_read_and_the_rest_is_named(tmp_path):
    ends, at = [], 0
    for line in LINES:
        at += len(line)
        ends.append(at)
    for size in range(len(WHOLE) + 1):
        # a record is whole without its line end, too
        whole = sum(end - 1 <= size for end in ends)
        torn = size not in (0, *ends, *(end - 1 for end in ends))
        assert read(tmp_path / "s.jsonl", WHOLE[:size]) == (RECORDS[:whole], ["record-torn"] * torn), size


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_byte_costs_no_other_line(seed, tmp_path):
    choose = random.Random(seed)
    for _ in range(150):
        at = choose.randrange(len(WHOLE))
        data = bytearray(WHOLE)
        data[at] = choose.choice([0, 10, 13, 34, 92, 123, 125, 255, data[at] ^ (1 << choose.randrange(8))])
        found, codes = read(tmp_path / "s.jsonl", bytes(data))
        hit = sum(len(line) for line in LINES[: bytes(WHOLE[:at]).count(b"\n")])
        number = bytes(WHOLE[:at]).count(b"\n")
        joined = WHOLE[at] == 10 and data[at] != 10 and number < 3
        safe = [r for n, r in enumerate(RECORDS) if n != number and not (joined and n == number + 1)]
        assert [record for record in found if record in safe] == safe, (at, hit)
        lost = [record for record in RECORDS if record not in found]
        assert not lost or codes or data[at] not in (10, 13), (at, data[at])


def test_two_records_on_a_line_are_both_read(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(LINES[0].rstrip() + LINES[1] + LINES[2][:40] + LINES[3])
    findings = []
    found = [(record.line, record.place, record.value) for record in records_of(str(path), findings=findings)]
    assert found == [(1, 0, RECORDS[0]), (1, 1, RECORDS[1]), (2, 1, RECORDS[3])]
    assert [(finding.line, finding.code) for finding in findings] == [(1, "record-damaged"), (2, "record-damaged")]


def test_line_ends_blank_lines_and_a_mark_are_no_damage(tmp_path):
    data = b"\xef\xbb\xbf" + b"\r\n\r\n".join(line.rstrip() for line in LINES) + b"\r\n   \n"
    assert read(tmp_path / "s.jsonl", data) == (RECORDS, [])


def test_what_is_no_object_is_named(tmp_path):
    found, codes = read(tmp_path / "s.jsonl", b"null\n5\n[]\n" + b"[" * 100_000 + b"\n" + LINES[0])
    assert (found, codes) == (RECORDS[:1], ["record-strange"] * 3 + ["record-damaged"])


def test_a_line_over_the_limit_is_named_and_passed_over(tmp_path):
    path = tmp_path / "s.jsonl"
    with open(path, "wb") as file:
        file.write(LINES[0])
        file.write(b'{"type": "user", "message": "')
        file.seek(LONGEST + 5, 1)  # a hole: it costs no disk
        file.write(b'"}\n' + LINES[1])
    findings = []
    assert [record.value for record in records_of(str(path), findings=findings)] == RECORDS[:2]
    assert [(one.line, one.code) for one in findings] == [(2, "record-long")]
    assert [record.value for record in records_of(str(path), start=path.stat().st_size - len(LINES[1]))] == RECORDS[1:2]
