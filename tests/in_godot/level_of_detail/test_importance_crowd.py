"""A crowd looks at whom something happened to, and gives the levels that limits give who look at everybody."""
import random
from types import SimpleNamespace

import numpy as np
import pytest

from addons.ai_core.nodes.level_of_detail.importance_manager import LODCrowd
from ai_core.faults import FaultIsolation
from ai_core.level_of_detail.behavioral_lod import BehavioralLOD, LODBehavior
from ai_core.level_of_detail.level_limits import Level, LevelLimits

LEVELS = [Level(0.5, 1.0, max_count=4), Level(0.3, 0.6, max_count=9), Level(0.0, 0.4)]
NAMES = ["near", "middle", "far"]


class Watched(BehavioralLOD):
    """One that counts how often it is looked at."""

    looks = 0

    @property
    def behaviors(self):
        type(self).looks += 1
        return super().behaviors


def character(faults, kind=BehavioralLOD):
    return kind([LODBehavior(name=name, work=print, lowest=level.lowest, highest=level.highest)
                 for name, level in zip(NAMES, LEVELS, strict=True)], faults=faults)


def happen(chance, ours, theirs):
    """Let the same happen to a character here and to its twin."""
    what, name, for_s = chance.randrange(8), chance.choice(NAMES), chance.choice([None, 0.05, 0.5])
    for one in (ours, theirs):
        if what == 0:
            one.force(name, for_s=for_s)
        elif what == 1:
            one.unforce()
        elif what == 2:
            one.level = None
        elif what == 3:
            one.level = 3
        elif what == 4:
            one._expire_force(0.2)
        elif what == 5:
            one.prepare_state(one.save_state() | {"level": 1, "current": None})()
        elif what == 6 and name == "near":
            for _ in range(3):
                one._faults.failed((one, name), name, 0, ValueError())
        elif what == 7:
            one.release(name)


@pytest.mark.parametrize("spread_updates", [1, 5])
def test_a_crowd_gets_the_levels_of_the_plain_algorithm(spread_updates):
    chance, faults = random.Random(spread_updates), FaultIsolation(report=lambda fault: None)
    crowd, limits = LODCrowd(LEVELS, spread_updates), LevelLimits(LEVELS, spread_updates=spread_updates)
    twins, values, next_id = {}, {}, 0
    for _ in range(400):
        for _ in range(chance.randrange(4) if len(values) < 30 else 0):
            ours, twins[next_id] = character(faults), character(faults)
            crowd.add(next_id, SimpleNamespace(core=ours))
            twins[next_id].level = limits.off
            values[next_id] = chance.random()
            next_id += 1
        for one in chance.sample(list(values), min(len(values), chance.randrange(3))):
            if chance.random() < 0.5:                   # it leaves, and sometimes is back at once
                crowd.remove(one)
                del values[one], twins[one]
            else:
                happen(chance, crowd.members[one], twins[one])
        values = {one: min(1.0, max(0.0, value + chance.uniform(-0.1, 0.1))) for one, value in values.items()}
        ids = np.array(list(values), np.int32)
        crowd.update(ids, np.array([*values.values()], np.float64), 0.1)
        limits.update(ids, [*values.values()], 0.1, characters=twins)
        limits.apply(twins)
        assert crowd.limits.save_state() == limits.save_state()
        assert [(one.level, one.current, one.switches) for _, one in sorted(crowd.members.items())] == [
            (one.level, one.current, one.switches) for one in twins.values()]


def test_it_looks_at_nobody_to_whom_nothing_happened():
    crowd = LODCrowd(LEVELS, 1)
    for one in range(100):
        crowd.add(one, SimpleNamespace(core=character(FaultIsolation(), Watched)))
    ids, values = np.arange(100, dtype=np.int32), np.full(100, 0.2)
    for _ in range(2):
        crowd.update(ids, values, 0.1)
    Watched.looks = 0
    crowd.update(ids, values, 0.1)
    assert Watched.looks == 0
    values[7] = 0.9
    crowd.members[8].force("middle")
    crowd.update(ids, values, 0.1)
    assert [crowd.members[one].current for one in (6, 7, 8)] == ["far", "near", "middle"]
    assert 0 < Watched.looks <= 20


def test_who_was_not_evaluated_waits_for_the_next_time():
    crowd = LODCrowd(LEVELS, 1)
    for one in (0, 1):
        crowd.add(one, SimpleNamespace(core=character(FaultIsolation())))
    crowd.update(np.array([0], np.int32), np.array([0.9]), 0.1)
    assert [crowd.members[one].current for one in (0, 1)] == ["near", None]
    crowd.update(np.array([0, 1], np.int32), np.array([0.9, 0.9]), 0.1)
    assert [crowd.members[one].current for one in (0, 1)] == ["near", "near"]
