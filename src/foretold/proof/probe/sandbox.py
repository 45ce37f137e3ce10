"""The part of a probe that runs next to the agent, in an isolated network where the system allows that.

It brings up the loopback interface, covers the files of the project that could lead the agent away, starts the model
server, runs the agent and records what it sent. A description of the run comes as a JSON file; the answer goes into
another next to it. No process that the agent started outlives it: on Linux not even one that left its session.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from foretold.harness.tools.process import adopter, end_descendants
from foretold.proof.probe.server import ModelServer, ToolCall

Spec = dict[str, Any]
FLAGS, UP = 0x8914, 0x1  # SIOCSIFFLAGS, IFF_UP
MOST_OUTPUT = 20_000


def main() -> None:
    """Do what the description in the last argument says."""
    with open(sys.argv[-1], encoding="utf-8") as file:
        spec = json.load(file)
    if spec["isolated"]:
        bring_up_loopback()
        cover_files(spec["covers"])
    if adopt := adopter():
        adopt()
    turns = [
        [ToolCall(tuple(call["names"]), call["input"], bool(call.get("anyway"))) for call in turn]
        for turn in spec["turns"]
    ]
    with ModelServer(turns, pages=spec["pages"]) as server:
        answer = _run(spec, server.url)
    answer["problems"] = server.problems
    answer["requests"] = [exchange._asdict() for exchange in server.requests]
    with open(spec["answer"], "w", encoding="utf-8") as file:
        json.dump(answer, file)


def bring_up_loopback() -> None:
    """A new network has a loopback interface that is down."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, FLAGS, struct.pack("16sh14x", b"lo", UP))


def cover_files(covers: Iterable[tuple[str, str]]) -> None:
    """Lay files and folders over others, for this process and what it starts; if one cannot be, end."""
    for source, target in covers:
        done = subprocess.run(["mount", "--bind", source, target], stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise SystemExit(f"{target} could not be covered: {said}")


def fill_places(text: str, places: Mapping[str, str]) -> str:
    """A text with its places filled in; other braces stay.

    >>> fill_places("{url}/v1 {x}", {"url": "http://h"})
    'http://h/v1 {x}'
    """
    for name, value in places.items():
        text = text.replace("{" + name + "}", value)
    return text


def write_files(folder: str, files: Mapping[str, str]) -> None:
    """Write files into a folder, by their paths in it."""
    for name, text in files.items():
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)


def _run(spec: Spec, url: str) -> dict[str, object]:
    places = {"url": url, **{name: spec[name] for name in ("home", "key", "prompt")}}
    write_files(spec["home"], {name: fill_places(text, places) for name, text in spec["files"].items()})
    with open(f"{spec['answer']}.out", "wb") as out, open(f"{spec['answer']}.err", "wb") as err:
        process = subprocess.Popen(
            [fill_places(word, places) for word in spec["argv"]],
            cwd=spec["cwd"],
            env={name: fill_places(value, places) for name, value in spec["env"].items()},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        timed_out, began = False, time.monotonic()
        try:
            process.wait(spec["timeout"])
        except subprocess.TimeoutExpired:
            timed_out = True
        seconds = time.monotonic() - began
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and what it left running
        code = process.wait()
        end_descendants(os.getpid())  # and what left its session
    printed = {"stdout": _tail(f"{spec['answer']}.out"), "stderr": _tail(f"{spec['answer']}.err")}
    return {"exit": code, "timed_out": timed_out, "seconds": seconds, **printed}


def _tail(path: str) -> str:
    with open(path, "rb") as file:
        return file.read()[-MOST_OUTPUT:].decode("utf-8", "replace")
