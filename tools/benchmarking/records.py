"""What a process that measures tells the one that started it: one JSON object a line.

Godot and Python write the same lines, among whatever else they print.
"""
from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress

MARK = "BENCH "

Record = dict[str, object]


def samples(name: str, n: int, taken: dict[str, list[float]]) -> Record:
    """Times of one measurement (µs): of "ours" and of each other, in the order taken."""
    return {"kind": "samples", "name": name, "n": n, "samples": taken}


def empty_call(ns: list[float]) -> Record:
    """Times of an empty Python method call (ns)."""
    return {"kind": "empty_call", "ns": ns}


def wrong(name: str, n: int, why: str) -> Record:
    """A measurement gave a wrong result, which makes its times worthless."""
    return {"kind": "wrong", "name": name, "n": n, "why": why}


def missing(peer: str, name: str) -> Record:
    """A peer is not installed, so the measurement goes without it."""
    return {"kind": "missing", "peer": peer, "name": name}


def versions(known: dict[str, str]) -> Record:
    """Versions of what was measured."""
    return {"kind": "versions", "versions": known}


def end() -> Record:
    """The process came to its end and did not just stop."""
    return {"kind": "end"}


def line(record: Record) -> str:
    """Return the line that carries a record."""
    return MARK + json.dumps(record)


def read(output: str) -> list[Record]:
    """Return the records in a process's output, in order; other lines are passed over.

    So is a line that another stream tore apart; what it reported is then found missing.
    """
    found: list[Record] = []
    for text in output.splitlines():
        if text.startswith(MARK):
            with suppress(json.JSONDecodeError):
                found.append(json.loads(text[len(MARK):]))
    return found


def other_lines(output: str) -> str:
    """Return what a process said besides its records."""
    return "\n".join(text for text in output.splitlines() if not text.startswith(MARK))


def of_kind(kind: str, records: Iterable[Record]) -> list[Record]:
    """Return the records of one kind."""
    return [record for record in records if record["kind"] == kind]
