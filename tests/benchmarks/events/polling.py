"""The polling station beside a dict, and beside what it hands the questions to."""
from __future__ import annotations

import math

import numpy as np

from ai_core.clock import ManualClock
from ai_core.events.polling_station import PollingStation
from tools.benchmarking.declarations import Contest

CHARACTERS = 64
COLUMNS = 40


class Hall:
    """Characters among round columns of 1 m: who sees whom?"""

    def __init__(self) -> None:
        turns = np.arange(CHARACTERS + COLUMNS) * 2.399963  # golden angle: spread evenly
        radii = np.sqrt(np.arange(CHARACTERS + COLUMNS) + 0.5) * 3
        places = np.stack([radii * np.cos(turns), radii * np.sin(turns)], axis=1).astype(np.float32)
        shuffled = np.argsort(np.sin(turns * 7), kind="stable")
        self.characters, self.columns = np.split(places[shuffled], [CHARACTERS])
        self.calls = 0

    def can_see(self, keys: list[tuple[int, int]]) -> list[bool]:
        """Return for each pair whether no column is nearer than 0.5 m to the line between them."""
        self.calls += 1
        pairs = np.array(keys)
        start, end = self.characters[pairs[:, 0]], self.characters[pairs[:, 1]]
        way = (end - start)[:, None]
        to_column = self.columns[None] - start[:, None]
        along = (to_column * way).sum(2) / np.maximum((way * way).sum(2), 1e-6)
        nearest = to_column - np.clip(along, 0, 1)[:, :, None] * way
        return ((nearest * nearest).sum(2) >= 0.25).all(1).tolist()


def pairs(n: int) -> list[tuple[int, int]]:
    """Return n pairs of characters, each once."""
    every = [(a, b) for a in range(CHARACTERS) for b in range(CHARACTERS) if a != b]
    return every[:: len(every) // n][:n]


def cached_polls(n: int) -> Contest:
    """n polls of answers that are kept, one after the other."""
    station, keys = PollingStation(ManualClock()), pairs(64)
    station.add_topic("can_see", None, compute_many=Hall().can_see)
    answers = dict(zip(keys, station.poll_many("can_see", keys), strict=True))
    asked = (keys * math.ceil(n / len(keys)))[:n]

    def ours() -> list[bool]:
        poll = station.poll
        return [poll("can_see", a, b) for a, b in asked]

    def bare() -> list[bool]:
        return [answers[a, b] for a, b in asked]

    def complaint() -> str:
        return "" if station.statistics()[0].computations == len(keys) else "a kept answer was computed again"

    return Contest(ours, {"dict": bare}, complaint=complaint)


def many_missed(n: int) -> Contest:
    """n sight lines in one call in a new frame: none is kept."""
    return _many(n, is_kept=False)


def many_cached(n: int) -> Contest:
    """n sight lines in one call, all of which are kept."""
    return _many(n, is_kept=True)


def _many(n: int, *, is_kept: bool) -> Contest:
    clock, hall, keys = ManualClock(), Hall(), pairs(n)
    mine = Hall()
    station = PollingStation(clock)
    station.add_topic("can_see", None, compute_many=mine.can_see, max_keys=n)
    station.poll_many("can_see", keys)
    frames = 0 if is_kept else 1

    def ours() -> list[bool]:
        clock.advance(frames)
        return station.poll_many("can_see", keys)

    def complaint() -> str:
        wanted = 1 + clock.now.frame
        return "" if mine.calls == wanted else f"the batch function was called {mine.calls} times, not {wanted}"

    return Contest(ours, {"batch function itself": lambda: hall.can_see(keys)}, complaint=complaint)
