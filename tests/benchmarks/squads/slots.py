"""Members to slots, ours and SciPy's."""
from __future__ import annotations

import importlib

import numpy as np

from ai_core.squads.formation import Formation
from ai_core.squads.slot_assignment import assign, reassign_slots
from tools.benchmarking.declarations import Contest


def assigning(kind):
    """A contest over a table of costs: of members scattered about a phalanx, or of any numbers."""

    def contest(n):
        costs = _distances(n) if kind == "distances" else np.random.default_rng(n).random((n, n))
        return Contest(
            lambda: assign(costs).total, peers={"scipy": lambda: _of_scipy(costs)},
            is_same=lambda one, other: abs(one - other) < 1e-6)

    return contest


def fifty_without_one(n):
    """One of n is lost, and as few as can be change their slots."""
    costs = _distances(n)
    left = np.delete(np.arange(n), n // 2)
    slots = assign(costs).slots[left]
    before = np.where(slots < n - 1, slots, -1)
    return Contest(
        lambda: int((reassign_slots(costs[left, :n - 1], before).slots != slots).sum()),
        complaint=lambda: "" if (reassign_slots(costs[left, :n - 1], before).slots != slots).sum() <= 1
        else "more than one changed")


def _distances(n):
    places = np.random.default_rng(n).random((n, 2)) * 60
    slots = Formation.phalanx(2.0).slots(n)
    return np.sqrt(((places[:, None] - slots[None]) ** 2).sum(axis=2))


def _of_scipy(costs):
    optimize = importlib.import_module("scipy.optimize")

    def solve():
        rows, columns = optimize.linear_sum_assignment(costs)
        return float(costs[rows, columns].sum())

    return solve
