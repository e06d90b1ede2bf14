"""Damages snapshots at random: loading must refuse with a clear error and change nothing, or run on.

``python -m tests.fuzz_snapshot --minutes 10 [--seed N]`` looks for longer than the tests do.
"""
from __future__ import annotations

import argparse
import copy
import json
import random
import re
import sys
import time
from collections import Counter

from ai_core.snapshot import SnapshotError, from_json, restore
from tests.saving.museum_night import Night, lived, saved

ODD_VALUES = (
    None, True, False, 0, 1, -1, 7, 2**31, 2**53, 2**63, 2**70, -(2**70), 0.5, -0.0, 1e-300, 1e12, 1e308, -1e308,
    float("nan"), float("inf"), "", "x", "x" * 3000, "guard 1", "\ud800", [], {}, [[]], [None], {"version": 1},
    {"!": "named", "of": "guard 1"}, {"!": "tuple"}, {"!": "array", "of": ["float32", [2**40], []]}, (1, 2), object(),
)

MOST_SECONDS = 5.0
"""Longest that loading one damaged save may take, on a busy machine."""

CLEAR = re.compile(
    "must|missing|twice|unknown|not |no longer|deeper|again|at most|hold|cannot|names|here|different|no JSON|reads up"
    "|after|never"
)
"""What every refusal says in some way: what was wanted, or what is not there."""

WAYS = ("replace", "remove", "double", "swap", "nudge", "rename", "bury")

PIECES = ("", '"', "{", "]", "NaN", "1e999", "-", "\x00", ",", "9" * 5000)


def places_by_kind(plain):
    """Return the places of all values in a state, by kind of place: items of one list are of one kind."""
    found, left = {}, [((), plain)]
    while left:
        place, box = left.pop()
        for key, value in box.items() if isinstance(box, dict) else enumerate(box):
            at = (*place, key)
            found.setdefault(tuple("*" if type(one) is int else one for one in at), []).append(at)
            if isinstance(value, dict | list):
                left.append((at, value))
    return found


def box_at(plain, place):
    """Return the list or dict that holds a place, and the key in it."""
    for key in place[:-1]:
        plain = plain[key]
    return plain, place[-1]


class Damage:
    """One way after the other to damage a snapshot."""

    def __init__(self, chance):
        self.chance = chance

    def of_data(self, snapshot):
        """Change one to three things anywhere in plain data."""
        for _ in range(self.chance.choice((1, 1, 1, 2, 3))):
            box, key = self.chance.choice(list(boxes(snapshot)))
            getattr(self, self.chance.choice(WAYS))(box, key)
        return snapshot

    def of_text(self, text):
        """Cut, repeat or overwrite a piece of the text."""
        start = self.chance.randrange(len(text))
        end = min(len(text), start + self.chance.choice((1, 1, 2, 10, 1000)))
        piece = self.chance.choice((text[start:end] * 2, *PIECES))
        return self.chance.choice((text[:start], text[:start] + piece + text[end:]))

    def replace(self, box, key):
        box[key] = self.chance.choice(ODD_VALUES)

    def remove(self, box, key):
        del box[key]

    def double(self, box, key):
        if isinstance(box, list):
            box.insert(self.chance.randrange(len(box) + 1), copy.copy(box[key]))
        else:
            box[f"{key} "] = box[key]

    def swap(self, box, key):
        other = self.chance.choice(list(box) if isinstance(box, dict) else range(len(box)))
        box[key], box[other] = box[other], box[key]

    def nudge(self, box, key):
        value = box[key]
        if type(value) in (int, float):
            box[key] = value + self.chance.choice((-1, 1, -1000, 1 << 20, 0.25))
        elif isinstance(value, str):
            box[key] = value[::-1]
        elif isinstance(value, list):
            self.chance.shuffle(value)

    def rename(self, box, key):
        if isinstance(box, dict):
            box[self.chance.choice((f"{key}s", "", 3, "version"))] = box.pop(key)

    def bury(self, box, key):
        for _ in range(self.chance.choice((3, 50, 300))):
            box[key] = [box[key]]


def boxes(data):
    """Every list and dict in plain data, with each of its keys."""
    stack = [data]
    while stack:
        box = stack.pop()
        keys = list(box) if isinstance(box, dict) else range(len(box))
        for key in keys:
            yield box, key
            if isinstance(box[key], dict | list):
                stack.append(box[key])


class Attempt:
    """Saves of one world, each damaged in its own way and loaded into a new one."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self.damage, self.scene, self.frame = Damage(chance), chance.randrange(50), chance.randrange(1, 36)
        self.text = saved(lived(self.scene, self.frame))
        self.in_text = chance.random() < 0.2
        self.outcomes = Counter()

    def load_damaged(self):
        """Damage the save and load it; raises if that did anything but refuse or run on."""
        if self.in_text:
            damaged = self.damage.of_text(self.text)
        else:
            damaged = self.damage.of_data(json.loads(self.text))
        night = Night(self.scene, self.frame)
        before = saved(night)
        begun = time.perf_counter()
        refusal = self.load(damaged, night)
        if refusal:
            self.outcomes["refused"] += 1
            assert saved(night) == before, "a refused save changed something"
            assert CLEAR.search(refusal), f"this is no clear refusal: {refusal}"
            assert len(refusal) < 1500, "a refusal is to be read"
        else:
            self.outcomes["loaded"] += 1
            night.look_up_ids()
            for _ in range(3):
                night.frame()
            saved(night)
        took_s = time.perf_counter() - begun
        assert took_s < MOST_SECONDS, f"it took {took_s:.1f} s"

    def load(self, damaged, night):
        """Return why it was refused, None if it was not."""
        try:
            restore(from_json(damaged) if self.in_text else damaged, night.parts())
        except SnapshotError as refusal:
            return str(refusal)
        return None


def fuzz(first_seed, seconds, most=None, per_save=20):
    """Try until time or number are up; returns how often saves were refused and loaded."""
    outcomes = Counter()
    ends, seed = time.perf_counter() + seconds, first_seed
    while time.perf_counter() < ends and (most is None or outcomes.total() < most):
        attempt = Attempt(seed)
        for number in range(per_save):
            try:
                attempt.load_damaged()
            except Exception as error:
                error.add_note(f"damaged save {number} of seed {seed}")
                raise
        outcomes += attempt.outcomes
        seed += 1
    return outcomes


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--minutes", type=float, default=10.0)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    found = fuzz(chosen.seed, 60 * chosen.minutes)
    sys.stdout.write(f"nothing found in {found.total()} damaged saves: {dict(found)}\n")
