"""The period of a deciding node that changes while the scene runs."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import construct

FRAME_S = 1 / 60
INHERIT, DISABLED = 0, 4
LIVES = {
    "HabitTree": "extends Habit\nvar lived := 0.0\nfunc _tick(elapsed: float) -> int:\n\tlived += elapsed\n\treturn 0",
    "StateMachine": "extends AIState\nvar lived := 0.0\nfunc _update(elapsed: float) -> void: lived += elapsed"}


@pytest.fixture(params=LIVES)
def mind(node, scheduler, gdscript, request):
    """A deciding node, and its part, whose ``lived`` is the time that it received."""
    made, part = construct(request.param), gdscript(LIVES[request.param]).new()
    made.add_child(part)
    node("Node3D", scheduler).add_child(made)
    return made, part


def test_a_changed_period_loses_no_time(mind, scheduler, physics_frames):
    tree, part = mind
    for period in (30, 29, 20, 1):
        physics_frames(7)
        tree.set("period", period)
    physics_frames(3)
    assert part.get("lived") == pytest.approx(scheduler.clock.now.seconds, abs=1.5 * FRAME_S)


def test_a_period_that_changes_in_a_pause_adds_no_time(mind, scheduler, physics_frames):
    tree, part = mind
    physics_frames(10)
    tree.set("period", 30)
    tree.set("process_mode", DISABLED)
    physics_frames(20)
    tree.set("period", 2)
    physics_frames(20)
    tree.set("process_mode", INHERIT)
    physics_frames(5)
    assert part.get("lived") == pytest.approx(scheduler.clock.now.seconds - 40 * FRAME_S, abs=2.5 * FRAME_S)
