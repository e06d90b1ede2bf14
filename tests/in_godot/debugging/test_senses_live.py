"""The live view of senses: every source near a sensor, with factors, a verdict in words, memory and awareness."""
from __future__ import annotations

import math

import pytest

from addons.ai_core.bridge.gd import Vector2, Vector3, construct, singleton
from addons.ai_core.nodes.debugging.character_strip import strip_of
from addons.ai_core.nodes.debugging.debug_watch import of_senses
from addons.ai_core.nodes.debugging.sense_report import senses_of

VIEW = "res://addons/ai_core/debugging/senses_view.gd"


@pytest.fixture
def guard(node):
    root = node("Node3D", name="Level")
    scheduler = node("AIScheduler", root, name="AI", budget=0.0)
    node("SenseManager", scheduler, name="Senses")
    bob = node("Node3D", root, name="Bob")
    node("Sensor3D", bob, name="Eyes", sight_range=15.0)
    return bob


def thief_at(node, guard, place, **settings):
    thief = node("Node3D", guard.get_parent(), name="Thief", position=place)
    node("SenseSource3D", thief, name="Source", **settings)
    return thief


def only_source(guard):
    ((source,),) = [sensor["sources"] for sensor in senses_of(guard)]
    return source


def wall(node, guard, place):
    body, shape = node("StaticBody3D", guard.get_parent(), position=place), construct("CollisionShape3D")
    shape.shape = construct("BoxShape3D")
    shape.shape.size = Vector3(10, 10, 0.5)
    body.add_child(shape)


def test_nobody_in_reach_is_said(node, guard, physics_frames):
    thief_at(node, guard, Vector3(0, 0, -300))
    physics_frames(3)
    (sensor,) = senses_of(guard)
    assert sensor["sources"] == []
    assert "no target in reach; no source within 30 m" in sensor["title"]


def test_only_the_most_important_of_many_are_examined(node, guard, physics_frames, monkeypatch):
    for number in range(30):
        thief_at(node, guard, Vector3(0.1 * number, 0, -3))
    physics_frames(10)
    sensor, asked = guard.get_node("Eyes"), []
    why = type(sensor).why
    monkeypatch.setattr(type(sensor), "why", lambda one, target: asked.append(target) or why(one, target))
    (report,) = senses_of(guard)
    assert len(report["sources"]) == len(asked) == 12
    asked.clear()
    text = of_senses(guard)
    assert "Sensor3D Eyes: knows 30" in text
    assert text.endswith("  and 18 others")
    assert len(asked) == 12


def test_a_seen_source_has_every_factor_as_a_bar(node, guard, physics_frames):
    thief_at(node, guard, Vector3(0, 0, -3), light=0.5)
    physics_frames(10)
    source = only_source(guard)
    assert source["name"] == "Thief, 3.0 m"
    assert source["is_sensed"]
    assert source["verdict"].startswith("sees it:")
    bars = {name: share for name, share, _ in source["bars"]}
    assert list(bars) == ["distance", "cone", "light", "occlusion", "pattern", "motion", "result"]
    assert bars["light"] == pytest.approx(0.5)
    assert bars["occlusion"] == 1.0
    assert source["memory"].startswith("in view, at (")
    assert source["awareness"] > 0


@pytest.mark.parametrize(("place", "verdict", "bar"), [
    (Vector3(0, 0, 8), "outside every cone", ("cone", 0.0)),
    (Vector3(0, 0, -12), "hidden: a body is on every line of sight", ("occlusion", 0.0)),
])
def test_a_source_that_is_not_seen_says_why(node, guard, physics_frames, place, verdict, bar):
    wall(node, guard, Vector3(0, 0, -6))
    thief_at(node, guard, place)
    physics_frames(10)
    source = only_source(guard)
    assert source["verdict"] == verdict
    assert not source["is_sensed"]
    assert bar in [one[:2] for one in source["bars"]]
    occlusion = {name: text for name, _, text in source["bars"]}["occlusion"]
    assert occlusion == ("hidden" if bar[0] == "occlusion" else "no ray is cast")
    assert source["memory"] == "not in memory"


def test_a_lost_target_is_described_from_memory(node, guard, physics_frames):
    thief = thief_at(node, guard, Vector3(0, 0, -3))
    physics_frames(10)
    thief.position = Vector3(0, 0, 200)
    physics_frames(30)
    source = only_source(guard)
    assert "s ago by sight, at (0.0, 0.0, -3.0)" in source["memory"]


def test_the_own_source_is_left_out(node, guard, physics_frames):
    own = node("SenseSource3D", guard, name="Own")
    guard.get_node("Eyes").self_source = guard.get_node("Eyes").get_path_to(own)
    physics_frames(3)
    assert senses_of(guard)[0]["sources"] == []


def test_the_view_shows_reports_and_keeps_their_history(node, guard, physics_frames):
    thief_at(node, guard, Vector3(0, 0, -3))
    view = singleton("ResourceLoader").load(VIEW).new()
    guard.get_parent().add_child(view)
    for step in range(3):
        physics_frames(5)
        view.show_senses(senses_of(guard), float(step))
    assert "Thief, 3.0 m: sees it" in view.shown_text()
    (rows,) = view.get("_history").values()
    assert [row[0] for row in rows] == [0.0, 1.0, 2.0]
    assert rows[0][1] < rows[2][1]
    view.clear()
    assert view.shown_text() == ""


def test_a_card_grows_with_the_lines_of_the_other_senses(node, guard, physics_frames):
    thief_at(node, guard, Vector3(0, 0, -3))
    view = singleton("ResourceLoader").load(VIEW).new()
    guard.get_parent().add_child(view)
    view.size = Vector2(760, 200)
    physics_frames(5)
    (report,) = senses_of(guard)
    source = report["sources"][0]
    heights = []
    for others in ([], ["smell: too weak"], ["smell: would smell it if it emitted now: 0.42 of 0.10 needed"] * 3):
        source["others"] = others
        view.show_senses([report], 1.0)
        heights.append(view.get("_page").custom_minimum_size.y)
    assert heights[0] < heights[1] < 170 < heights[2]       # a panel of 200 px has 170 for it


def test_a_strip_has_habit_awareness_and_what_is_sensed(node, guard, physics_frames):
    habits, doze = construct("HabitTree"), construct("HabitWait")
    habits.name, doze.name, doze.duration = "Habits", "Doze", 100.0
    habits.add_child(doze)
    guard.add_child(habits)
    thief_at(node, guard, Vector3(0, 0, -3))
    physics_frames(10)
    strip = strip_of(guard)
    assert (strip["name"], strip["does"], strip["sees"], strip["senses"]) == ("Bob", "Doze", True, False)
    assert 0 < strip["awareness"] <= 1
    assert strip["marks"] == [0.3, 1.0]


def test_a_click_on_a_strip_opens_the_drawer_with_its_character(node, guard, physics_frames):
    overlay = node("AIDebugOverlay", guard.get_parent(), name="Overlay", drawer_open=False)
    node("Camera3D", guard.get_parent(), position=Vector3(0, 8, 8), rotation=Vector3(-math.pi / 4, 0, 0))
    overlay.refresh_interval = 0.02
    overlay.shown = True
    physics_frames(30)
    assert overlay.get_report() == {}
    strips = overlay._strips
    assert strips.on_screen([str(guard.get_path())]) == [str(guard.get_path())]
    strips.emit_signal("chosen", str(guard.get_path()))
    physics_frames(5)
    assert overlay.drawer_open
    report = overlay.get_report()
    assert (report["section"], report["character"]) == ("habits", str(guard.get_path()))


def test_the_legend_stands_beside_the_open_drawer(node, guard, physics_frames):
    guard.get_parent().get_node("AI/Senses").show_in_game = True
    overlay = node("AIDebugOverlay", guard.get_parent(), name="Overlay", refresh_interval=0.02, shown=True)
    physics_frames(30)
    legend = overlay.get_tree().get_first_node_in_group("_ai_core_legend")
    panel = legend.get_child(0)
    assert panel.anchor_right == pytest.approx(1.0 - overlay.width_share)
    overlay.shown = False
    assert panel.anchor_right == 1.0
