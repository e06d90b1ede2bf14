"""AIDebugOverlay: what the AI of a running game does, over that game, and nothing while it is hidden."""
from __future__ import annotations

import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton
from addons.ai_core.nodes.debugging.debug_watch import tasks_of

DOCUMENT = Path(__file__).parents[3] / "docs" / "godot" / "debugging.md"


@pytest.fixture
def level(node):
    root = node("Node3D", name="Level")
    scheduler = node("AIScheduler", root, name="AI", budget=0.0)
    senses = node("SenseManager", scheduler, name="Senses")
    events = node("AIEventManager", scheduler, name="Events", codes=["alarm"])
    guard = node("Node3D", root, name="Bob")
    node("Sensor3D", guard, name="Eyes")
    habits, doze = construct("HabitTree"), construct("HabitWait")
    habits.name, doze.name, doze.duration = "Habits", "Doze", 100.0
    habits.add_child(doze)
    guard.add_child(habits)
    thief = node("Node3D", root, name="Thief", position=Vector3(0, 0, -3))
    node("SenseSource3D", thief, name="Source")
    node("PathService", scheduler, name="Paths")
    return {"root": root, "scheduler": scheduler, "senses": senses, "events": events, "guard": guard}


@pytest.fixture
def overlay(node, level):
    return node("AIDebugOverlay", level["root"], name="Overlay")


def text_of(overlay):
    return overlay.get_report()["text"]


def test_hidden_it_keeps_nothing_and_listens_to_nothing(level, overlay, frames):
    frames(3)
    trace = level["scheduler"].trace
    assert overlay.get_report() == {}
    assert overlay.get_child_count(True) == 0
    assert (trace.before_task, trace.after_task) == ((), ())
    assert not overlay.is_processing_internal()
    assert not overlay.is_physics_processing_internal()


def test_shown_it_tells_of_frames_and_of_work(level, overlay, physics_frames):
    overlay.shown = True
    physics_frames(5)
    report = overlay.get_report()
    assert report["scheduler"] == str(level["scheduler"].get_path())
    assert len(report["frames"]) >= 4
    assert "Senses senses" in {run[0] for frame in report["frames"] for run in frame["runs"]}
    assert "used_us_mean" in report["text"]
    assert "Senses senses" in report["text"]
    overlay.shown = False
    assert level["scheduler"].trace.after_task == ()
    physics_frames(2)
    assert overlay.get_child_count(True) == 0


def test_tables_stay_tables_and_sections_list_characters(level, overlay, physics_frames):
    overlay.shown = True
    (panel,) = overlay.get_child(0, True).find_children("AI", "", True, False)
    text, tasks = panel.get("_text"), panel.get("_tasks")
    (characters,) = panel.find_children("*", "ItemList", True, False)
    seen = {}
    for section in ("scheduler", "habits", "senses", "events"):
        panel.call("choose_section", section)
        physics_frames(3)
        seen[section] = (characters.is_visible_in_tree(), text.get("wrap_mode") == 0, tasks.is_visible_in_tree())
    assert seen == {
        "scheduler": (False, True, True), "habits": (True, False, False), "senses": (True, False, False),
        "events": (False, True, False)}


def test_tasks_are_sorted_rows_and_overruns_name_the_piece():
    view = singleton("ResourceLoader").load("res://addons/ai_core/debugging/tasks_view.gd")
    shown = view.new()
    runs = [["rays", 1, 0.0, 700.0], ["cones", 1, 700.0, 200.0], ["senses", 0, 0.0, 900.0], ["rays", 1, 900.0, 950.0],
            ["paths", 0, 900.0, 1000.0]]
    over = {"frame": 7, "overran": "senses", "used_us": 1900.0, "budget_us": 800.0, "runs": runs, "left_out": 0}
    calm = {**over, "frame": 8, "overran": ""}
    shown.show_tasks([["guard #", 12, 40.0, 4.0, 5.0, 9.0, 1, 3, 0, 0], ["paths", 1, 0.01, 0.1, 1.0, 1.0, 10, 0, 2, 1]],
                     [over, calm])
    assert shown.shown_rows() == [
        "1 of 2 frames over: frame 7: senses 900 µs, longest piece rays 700; all 1900 of 800 µs" + " | " * 8,
        "guard #  (12) | 40.0 | 4.0 | 5.0 | 9.0 | 1 | 3 |  | ", "paths | 0.0 | 0.1 | 1.0 | 1.0 | 10 |  | 2 | 1"]
    shown.show_tasks([], [calm])
    assert shown.shown_rows() == []
    shown.free()


def test_many_tasks_of_a_kind_share_a_row(level, physics_frames):
    scheduler = level["scheduler"]
    physics_frames(2)
    few = len(tasks_of(scheduler))
    for number in range(80):
        scheduler.add_behavior(lambda elapsed_s: None, 4, 0, 1.0, f"villager {number}")
    physics_frames(8)
    rows = tasks_of(scheduler)
    assert few > 1
    assert [(row[1], row[6]) for row in rows if row[0] == "villager #"] == [(80, 4)]
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)


def test_reading_its_report_takes_nothing_from_what_it_shows(level, overlay, physics_frames):
    overlay.shown = True
    physics_frames(5)
    (panel,) = overlay.get_child(0, True).find_children("AI", "", True, False)
    shown = panel.shown_frames()
    first, second = overlay.get_report(), overlay.get_report()
    assert first["frames"] == second["frames"] != []
    overlay.show_report()
    assert panel.shown_frames() == len(first["frames"]) > shown


def test_a_panel_that_is_closing_wakes_nothing_again(level, overlay, physics_frames):
    overlay.shown = True
    physics_frames(2)
    panel = overlay._panel
    overlay.shown = False
    panel.emit_signal("wished", {"section": "scheduler", "scheduler": "", "character": "", "wanted": ""})
    overlay.show_report()
    assert overlay.get_report() == {}
    assert level["scheduler"].trace.after_task == ()


def test_it_tells_what_a_character_does_and_why(level, overlay, physics_frames):
    overlay.section, overlay.character, overlay.shown = 1, overlay.get_path_to(level["guard"]), True
    physics_frames(3)
    assert overlay.get_report()["characters"] == [str(level["guard"].get_path())]
    assert "* Doze: active for" in text_of(overlay)


def test_it_tells_what_a_character_senses_with_every_factor(level, overlay, physics_frames):
    overlay.section, overlay.character, overlay.shown = 2, overlay.get_path_to(level["guard"]), True
    physics_frames(10)
    told = text_of(overlay)
    assert "Sensor3D Eyes: knows 1" in told
    assert "Thief: in view" in told
    assert "sight: sensed;" in told
    assert "distance 3" in told


def test_it_tells_events_from_the_moment_they_are_looked_at(level, overlay, physics_frames):
    level["events"].listen("alarm", lambda code, arguments: None)
    overlay.section, overlay.shown = 3, True
    overlay.show_report()
    assert "no event has been sent" in text_of(overlay)
    level["events"].send("alarm")
    physics_frames(2)
    assert "alarm" in text_of(overlay)
    overlay.shown = False
    level["events"].send("alarm")
    physics_frames(2)
    assert level["events"].get_log() == []


def test_it_tells_tickets(level, overlay, physics_frames):
    service = level["root"].find_children("*", "PathService", True, False)[0]
    ticket = service.request_path(Vector3(0, 0, 0), Vector3(5, 0, 0))
    overlay.section, overlay.shown = 4, True
    physics_frames(1)
    assert f"{ticket} (0.0, 0.0, 0.0) to (5.0, 0.0, 0.0), waiting" in text_of(overlay)
    service.cancel(ticket)


def test_its_panel_shows_the_report(level, overlay, frames, tree):
    overlay.section, overlay.refresh_interval, overlay.shown = 1, 0.02, True
    overlay.character = overlay.get_path_to(level["guard"])
    frames(10)
    (panel,) = overlay.get_child(0, True).find_children("AI", "", True, False)
    assert "Doze: active" in panel.shown_text()
    assert panel.shown_frames() > 0


def test_a_crowd_is_drawn_with_few_bars_and_overruns_stay_red():
    strip = singleton("ResourceLoader").load("res://addons/ai_core/debugging/frame_strip.gd")
    runs = [[f"villager {i}", 0, float(i), 1.0] for i in range(100)]
    runs += [["boss", 0, 100.0, 2.0], ["last", 0, 102.0, 1.0], ["inside", 1, 0.0, 1.0]]
    bars = strip.bars_of({"used_us": 103.0, "overran": "boss", "runs": runs})
    assert len(bars) < 35
    assert [bar[1] for bar in bars[1:]] == [bar[1] + bar[2] for bar in bars[:-1]]     # no gaps
    assert sum(bar[2] for bar in bars) == 103.0
    assert [bar[1:] for bar in bars if bar[0] == strip.OVERRAN] == [[100.0, 2.0]]


def test_schedulers_to_choose_from_are_those_that_are_there_now(level, overlay, physics_frames):
    overlay.shown = True
    physics_frames(2)
    (choice,) = overlay._panel.find_children("*", "OptionButton", True, False)
    for paths in (["/root/One", "/root/Two"], ["/root/One", "/root/Other"]):
        overlay._panel.show_report({**overlay.get_report(), "schedulers": paths})
        assert [choice.get_item_text(index) for index in range(choice.item_count)] == paths


def test_what_a_crowd_makes_dear_is_told_once_for_each_choice(level, overlay, physics_frames):
    overlay.shown = True
    physics_frames(3)
    watch, before = overlay._watch, overlay.get_report()["text"]
    physics_frames(3)
    assert watch.report()["text"] == before
    overlay.wished({"section": "scheduler", "scheduler": "", "character": "", "wanted": ""})
    assert watch.report()["text"] != before


def test_the_game_stops_and_goes_on_for_one_frame_of_ai(level, overlay, frames, tree):
    overlay.shown = True
    overlay.pause(True)
    frames(2)
    clock = level["scheduler"].clock
    before = clock.now.frame
    frames(3)
    assert clock.now.frame == before
    for passed in (1, 2):
        overlay.run_one_frame()
        frames(4)
        assert clock.now.frame == before + passed
    overlay.pause(False)
    frames(3)
    assert clock.now.frame > before + 2


def test_its_key_shows_and_hides_it(overlay, frames):
    told = []
    overlay.shown_changed.connect(lambda shown: told.append(shown))
    event = key_event()
    singleton("Input").parse_input_event(event)
    frames(2)
    assert overlay.shown
    assert told == [True]
    singleton("Input").parse_input_event(key_event())
    frames(2)
    assert not overlay.shown
    assert told == [True, False]


def key_event():
    event = construct("InputEventKey")
    event.keycode, event.pressed = 4194341, True
    return event


def test_it_survives_its_scheduler(level, overlay, frames):
    overlay.shown = True
    frames(2)
    level["scheduler"].free()
    frames(20)
    assert overlay.shown
    overlay.shown = False


def test_a_choice_after_character_and_scheduler_are_gone(level, overlay, frames):
    overlay.shown = True
    frames(2)
    path = str(level["guard"].get_path())
    overlay.wished({"section": "habits", "character": path})
    level["guard"].free()
    level["scheduler"].free()
    overlay.wished({"section": "habits", "character": path})
    frames(2)
    assert overlay.get_report() == {}
    overlay.shown = False


def test_the_sample_of_the_document_works(level, overlay, gdscript, physics_frames):
    (sample,) = re.findall(r"```gdscript\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.S)
    made = gdscript(sample).new()
    level["root"].remove_child(overlay)
    overlay.name = "AIDebugOverlay"
    made.add_child(overlay)
    level["root"].add_child(made)
    physics_frames(2)
    made.look_at_guard(level["guard"])
    assert "Sensor3D Eyes: knows" in overlay.get_report()["text"]
