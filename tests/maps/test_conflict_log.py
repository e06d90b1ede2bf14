"""Conflicts: kind, strength, capability and numbers around a place, fading."""
from __future__ import annotations

import math

import numpy as np
import pytest

from ai_core.errors import UnknownNameError
from ai_core.maps.conflict_log import ConflictLog
from ai_core.saving.fields import StateError

AIR, GROUND = 1, 2


def test_reports_near_a_place_add_up_by_kind_and_fade():
    log = ConflictLog(("attack", "losses"), kept_per_s=0.5)
    log.report("attack", [[0, 0], [3, 0]], [8, 4], 0.0, numbers=[2, 1], capabilities=[AIR, GROUND])
    log.report("losses", [[0, 1]], 2, 1.0)
    log.report("losses", [[50, 0]], 100, 1.0)
    found = log.around((0, 0), 5, 2.0)
    assert found.strength == {"attack": 3.0, "losses": 1.0}
    assert found.numbers == {"attack": 0.75, "losses": 0.5}
    assert found.capabilities == AIR | GROUND
    assert found.last_s == 1.0
    assert log.around((500, 0), 5, 2.0).last_s == -math.inf


@pytest.mark.parametrize("reports", [3, 5, 12])
def test_oldest_reports_go_first_and_a_save_keeps_the_order(reports):
    log = ConflictLog(("attack",), kept_per_s=1, most=5)
    for number in range(reports):
        log.report("attack", [[0, 0]], 2.0**number, 0.0)
    other = ConflictLog(("attack",), kept_per_s=1, most=5)
    other.prepare_state(log.save_state())()
    for one in (log, other):
        one.report("attack", [[0, 0]], 0.5, 0.0)
    kept = list(range(reports))[-4:]
    expected = 0.5 + sum(2.0**number for number in kept)
    assert log.around((0, 0), 1, 0.0).strength["attack"] == expected
    assert other.save_state() == log.save_state()


def test_bad_reports_are_refused_whole():
    log = ConflictLog(("attack",))
    with pytest.raises(UnknownNameError, match="kind of conflict"):
        log.report("atack", [[0, 0]], 1, 0.0)
    with pytest.raises(ValueError, match="strengths must be 0 to"):
        log.report("attack", [[0, 0]], -1, 0.0)
    with pytest.raises(ValueError, match="got nan"):
        log.report("attack", [[0, 0], [1, 1]], [1, np.nan], 0.0)
    with pytest.raises(ValueError, match="numbers must be one, or one per position, 1"):
        log.report("attack", [[0, 0]], 1, 0.0, numbers=[1, 2])
    with pytest.raises(TypeError, match="kinds must be a sequence of names, got 'attack'"):
        ConflictLog("attack")
    assert len(log) == 0
    with pytest.raises(StateError, match="kind"):
        log.prepare_state({**log.save_state(), "kind": [3]})
