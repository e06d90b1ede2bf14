"""What an AIScheduler shows among the engine's monitors, and takes away again."""
from __future__ import annotations

from addons.ai_core.bridge.gd import singleton


def test_monitors_show_totals_and_leave_with_the_scheduler(node, tree, physics_frames):
    performance = singleton("Performance")
    scheduler = node("AIScheduler", name="Guards", budget=1000.0)
    scheduler.add_behavior(lambda elapsed: None, 1, -1, 1.0, "Guards/Bob.think")
    physics_frames(3)
    totals = {"ai_core/time_us", "ai_core/budget_used_percent", "ai_core/overruns", "ai_core/behaviors"}
    assert set(map(str, performance.get_custom_monitor_names())) == totals
    assert performance.get_custom_monitor("ai_core/behaviors") == 1
    assert performance.get_custom_monitor("ai_core/time_us") > 0
    scheduler.monitor_behaviors = True
    late = scheduler.add_behavior(lambda elapsed: None, 1, -1, 1.0, "late")
    assert performance.has_custom_monitor("ai_core/Guards.Bob.think")
    assert performance.get_custom_monitor("ai_core/late") == 0
    scheduler.remove_behavior(late)
    assert not performance.has_custom_monitor("ai_core/late")
    scheduler.monitor_behaviors = False
    assert set(map(str, performance.get_custom_monitor_names())) == totals
    scheduler.monitor_behaviors = True
    scheduler.get_parent().remove_child(scheduler)
    assert list(performance.get_custom_monitor_names()) == []
    scheduler.free()


def test_several_schedulers_have_monitors_of_their_own(node):
    performance = singleton("Performance")
    for _ in range(3):
        node("AIScheduler", node("Node"), name="Wolves")
    names = set(map(str, performance.get_custom_monitor_names()))
    assert {"ai_core/time_us", "ai_core/time_us (Wolves)", "ai_core/time_us (Wolves 2)"} <= names
    assert len(names) == 12
