"""Saving and loading a whole scene's AI: it goes on as if nothing had happened."""
from __future__ import annotations

import copy
import functools
import itertools
import math
import re
from pathlib import Path

import pytest

from addons.ai_core.bridge.gd import Vector3, construct, singleton

WAIT = """
    extends Habit
    var visits := 0
    func _can_activate() -> bool:
        return get_habit_tree().get_value("calm", true)
    func _enter() -> void: visits += 1
    func _tick(_elapsed_s: float) -> int:
        var board := get_habit_tree()
        board.set_value("place", Vector3(visits, 0.1, -1))
        board.set_value("who", get_actor())
        if get_time_in_habit() > 0.05 * visits: return STATUS_SUCCEEDED
        return STATUS_RUNNING
    func _save_state() -> Variant: return {"visits": visits}
    func _load_state(state: Variant) -> void: visits = state["visits"]
"""

LISTENER = """
    extends Node
    var heard := []
    func begin(manager: AIEventManager) -> void: manager.listen("alarm", on_alarm)
    func on_alarm(_code: String, arguments: Array) -> void: heard.append(arguments)
"""

BYTES = "extends RefCounted\nstatic func through(state: Dictionary): return bytes_to_var(var_to_bytes(state))"
TEXT = """
    extends RefCounted
    static func through(state: Dictionary): return JSON.parse_string(JSON.stringify(state, "", true, true))
"""


class Diary:
    """What the trace hooks of a scheduler told."""

    def __init__(self):
        self.lines = []

    def before_task(self, name, now):
        self.lines.append((now, name))

    def state_entered(self, owner, path, reason, now):
        self.lines.append((now, owner, path, reason))

    def sensed(self, *what):
        self.lines.append(what)

    def event_sent(self, event, now):
        self.lines.append((now, event.code, event.arguments[:1], event.due_at_s))


class Yard:
    """Two guards, a thief that circles them, events, topics: built like a scene, again and again."""

    def __init__(self, root, gdscript, **settings):
        self.wait, self.listener_script = gdscript(WAIT), gdscript(LISTENER)
        self.node = construct("Node3D")
        self.node.set("name", "Yard")
        self.scheduler = self.add("AIScheduler", self.node, "AI", budget=0.0, **settings)
        self.senses = self.add("SenseManager", self.scheduler, "Senses")
        self.events = self.add("AIEventManager", self.scheduler, "Events")
        self.station = self.add("PollingStation", self.scheduler, "Station")
        self.thief = self.add("SenseSource3D", self.node, "Thief")
        self.guards = [self.guard(name) for name in ("Ann", "Bob")]
        self.listener = self.listener_script.new()
        self.listener.set("name", "Ear")
        self.node.add_child(self.listener)
        root.add_child(self.node)
        self.diary = Diary()
        self.scheduler.trace.listen(self.diary)
        self.listener.call("begin", self.events)
        self.station.add_topic("now", lambda: self.scheduler.clock.now.frame, 7)
        self.scheduler.add_behavior(self.live, 3, 0, 1.0, "life")

    def add(self, class_name, parent, name, **settings):
        made = construct(class_name)
        made.set("name", name)
        for key, value in settings.items():
            made.set(key, value)
        parent.add_child(made)
        return made

    def guard(self, name):
        guard = self.add("Node3D", self.node, name)
        self.add("Sensor3D", guard, "Eye", sight_range=8.0)
        tree = construct("HabitTree")
        tree.set("name", "Brain")
        for habit in ("wait", "watch", "walk"):
            made = self.wait.new() if habit == "wait" else construct("Habit")
            made.set("name", habit)
            tree.add_child(made)
        tree.get_node("watch").set("launch", 2)
        for habit in ("left", "right"):
            made = self.wait.new()
            made.set("name", habit)
            tree.get_node("watch").add_child(made)
        guard.add_child(tree)
        return tree

    def live(self, elapsed_s):
        """What the game does, from the time alone."""
        now = self.scheduler.clock.now
        self.place(now.seconds)
        self.diary.lines.append((now, "told", round(elapsed_s, 9), self.station.poll("now")))
        self.guards[0].set_value("calm", now.frame % 20 < 12)
        self.events.send("alarm", [now.frame, self.thief, Vector3(1, 2, 3)], 0.08)
        self.thief.emit("hearing", 3.0)

    def place(self, seconds):
        self.thief.position = Vector3(5 * math.cos(3 * seconds), 0, 5 * math.sin(3 * seconds))

    def seen(self):
        """All that can be seen from outside."""
        eyes = [guard.get_parent().get_node("Eye").get_known_targets() for guard in self.guards]
        return repr((
            self.diary.lines, [list(tree.get_active_paths()) for tree in self.guards], self.listener.get("heard"),
            [[(str(one["target"].get_name()), one["awareness"], one["age_s"]) for one in eye] for eye in eyes],
            [tree.get_node("wait").get("visits") for tree in self.guards],
        )).replace("#", " ")


@pytest.fixture
def yard(root, gdscript, physics_frames):
    """``yard()``: build it and free the one before."""
    built = []

    def build(**settings):
        for one in built:
            one.node.free()
        built[:] = [Yard(root, gdscript, **settings)]
        return built[0]

    yield build
    for one in built:
        one.node.free()


def without_ids(text):
    """Object ids differ from one run of a scene to the next."""
    return re.sub(r"(<\w+) \d+>", r"\1>", text)


def live_on(yard, physics_frames, frames):
    yard.diary.lines.clear()
    yard.listener.get("heard").clear()
    yard.listener.set("heard", [])
    physics_frames(frames)
    return without_ids(yard.seen())


@pytest.mark.parametrize("way", ["", BYTES], ids=["as it is", "through bytes"])
@pytest.mark.parametrize("frame", [1, 8, 31, 50])
def test_a_scene_saved_freed_and_loaded_continues_the_same(
    yard, gdscript, physics_frames, frame, way
):
    first = yard()
    physics_frames(frame)
    state = first.scheduler.call("save_state")
    expected = live_on(first, physics_frames, 30)
    if way:
        state = gdscript(way).through(state)
    second = yard()
    physics_frames(3)
    assert second.scheduler.call("load_state", state) is True
    second.place(last_move(frame))
    assert live_on(second, physics_frames, 30) == expected


def test_godots_json_which_rounds_is_loaded_all_the_same(yard, gdscript, physics_frames):
    first = yard()
    physics_frames(31)
    state = first.scheduler.call("save_state")
    now, active = first.scheduler.clock.now, [list(tree.get_active_paths()) for tree in first.guards]
    second = yard()
    assert second.scheduler.call("load_state", gdscript(TEXT).through(state)) is True
    assert second.scheduler.clock.now == pytest.approx(now)
    assert [list(tree.get_active_paths()) for tree in second.guards] == active
    physics_frames(20)


def last_move(frame):
    """When the thief moved last (s): it does so in the frames of the AI that are multiples of three."""
    return (frame - (frame - 1) % 3) / 60


def test_saving_twice_gives_the_same_and_loading_gives_it_back(yard, physics_frames):
    first = yard()
    physics_frames(20)
    state = first.scheduler.call("save_state")
    assert first.scheduler.call("save_state") == state
    second = yard()
    physics_frames(2)
    second.scheduler.call("load_state", state)
    assert second.scheduler.call("save_state") == state


def test_ids_of_sources_follow_the_save(yard, physics_frames):
    first = yard()
    first.node.remove_child(first.thief)
    first.scheduler.call("save_state")      # who comes back before a save or a frame of AI is the same one
    first.node.add_child(first.thief)
    physics_frames(5)
    assert first.thief.source_id != 0
    state = first.scheduler.call("save_state")
    second = yard()
    physics_frames(1)
    assert second.thief.source_id == 0
    second.scheduler.call("load_state", state)
    assert second.thief.source_id == first_id_of(state)
    second.place(0.1)
    physics_frames(30)
    [known] = second.guards[0].get_parent().get_node("Eye").get_known_targets()
    assert known["target"] == second.thief


def first_id_of(state):
    return state["parts"]["SenseManager/Senses"]["state"]["senses"]["sources"]["rows"][0]["id"]


def test_a_missing_node_is_reported_and_nothing_changes(yard, physics_frames, expect_errors):
    first = yard()
    physics_frames(10)
    state = first.scheduler.call("save_state")
    second = yard()
    physics_frames(2)
    second.guards[1].get_parent().free()
    before = second.scheduler.call("save_state")
    expect_errors("is of the node '../Bob', which is not in the scene", times=1)
    assert second.scheduler.call("load_state", state) is False
    assert second.scheduler.call("save_state") == before


def test_ids_of_behaviors_follow_the_save(yard, physics_frames):
    first, heard = yard(), []
    first.scheduler.remove_behavior(first.scheduler.add_behavior(lambda elapsed: None, 1, -1, 1.0, "gone"))
    number = first.scheduler.add_behavior(heard.append, 1, -1, 1.0, "kept")
    state = first.scheduler.call("save_state")
    second = yard()
    assert second.scheduler.add_behavior(heard.append, 1, -1, 1.0, "kept") != number
    second.scheduler.call("load_state", state)
    second.scheduler.pause_behavior(number)
    heard.clear()
    physics_frames(3)
    assert heard == []


def test_a_freed_node_in_an_event_that_waits_is_saved_as_null(yard, gdscript, physics_frames):
    first = yard()
    guest = first.add("Node3D", first.node, "Guest")
    first.events.send("alarm", [guest, 7], 0.1)
    guest.free()
    state = first.scheduler.call("save_state")
    second = yard()
    assert second.scheduler.call("load_state", state) is True
    physics_frames(9)
    assert [None, 7] in second.listener.get("heard")


@pytest.mark.parametrize("is_freed", [True, False])
@pytest.mark.parametrize("gone", [1, 2])
def test_who_is_gone_makes_no_save_unloadable(node, scheduler, physics_frames, expect_errors, gone, is_freed):
    station, slicer = node("PollingStation", scheduler), node("Timeslicer", scheduler)
    tree = node("HabitTree", node("Node3D", scheduler), name="Mind")
    node("Habit", tree)
    nodes = [node("Node3D", scheduler, name=f"Enemy{number}") for number in range(3)]
    station.add_topic("threat", lambda enemy: 5, -1)
    slicer.set_job(lambda enemy: 7)
    for one in nodes:
        station.poll("threat", [one])
        slicer.add_job(one)
    physics_frames(3)
    tree.set_value("threats", {one: number for number, one in enumerate(nodes)})
    tree.set_value("enemies", nodes)
    for one in nodes[:gone]:
        (one.free if is_freed else functools.partial(scheduler.remove_child, one))()
    if not is_freed:
        expect_errors("saves references to nodes outside the tree as null: Enemy0", times=1)
    state = [scheduler.save_state() for _ in range(2)][1]
    assert scheduler.load_state(state)
    left = nodes[gone:]
    assert tree.get_value("threats") == {one: number for number, one in enumerate(nodes) if one in left}
    assert list(tree.get_value("enemies")) == [None] * gone + left
    assert [slicer.get_result(one) for one in left] == [7] * len(left)
    for one in [] if is_freed else nodes[:gone]:
        one.free()


@pytest.mark.parametrize("saved_at", [1, 40])
def test_random_waits_go_on_as_from_the_save(node, scheduler, physics_frames, saved_at):
    def live(frames):
        begun.clear()
        physics_frames(frames)
        return list(begun)

    tree, begun = construct("HabitTree"), []
    wait = construct("HabitWait")
    wait.duration, wait.max_duration = 0.05, 0.4
    tree.add_child(wait)
    tree.connect("habit_entered", lambda *_: begun.append(scheduler.clock.now.frame))
    node("Node3D", scheduler).add_child(tree)
    live(saved_at)
    state = scheduler.save_state()
    first = live(200)
    live(33)
    assert scheduler.load_state(state)
    assert live(200) == first
    assert len({late - early for early, late in itertools.pairwise(first)}) > 3


def test_what_is_new_since_the_save_goes_on_as_it_is(yard, node, physics_frames):
    first = yard()
    physics_frames(30)
    state = first.scheduler.call("save_state")
    second = yard()
    physics_frames(2)
    ticks = []
    second.scheduler.add_behavior(ticks.append, 1, -1, 1.0, "new")
    senses = second.add("SenseManager", second.scheduler, "NewSenses")
    for class_name in ("Sensor3D", "SenseSource3D"):
        second.add(class_name, senses, f"New{class_name}").position = Vector3(0, 50, 0)
    tree = second.guard("Cleo")
    physics_frames(50)
    assert second.scheduler.call("load_state", state) is True
    assert list(tree.get_active_paths()) != []
    ticks.clear()
    physics_frames(4)
    assert ticks[1:] == pytest.approx([1 / 60] * 3)
    assert ticks[0] >= 0
    assert second.scheduler.clock.now.frame == 34


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [(["format"], "other", "'format' must be 'ai_core snapshot'"),
     (["parts", "clock", "version"], 99, "clock: 'version' is 99, and this ai_core reads up to 1"),
     (["parts", "clock", "now"], [3], "clock: 'now' must be a list of 2"),
     (["parts", "HabitTree/../Ann/Brain", "state", "tree", "active"], 3, "'active' must be a list, got 3"),
     (["parts", "HabitTree/../Ann/Brain", "state", "tree", "blackboard", "who", "of"], "../Nobody",
      "is of the node '../Nobody', which is not in the scene"),
     (["parts", "scheduler", "next_id"], 0, "scheduler: 'next_id' must be above the id of every task, got 0"),
     (["parts", "SenseManager/Senses", "state", "senses", "looking", "passes"], math.nan,
      "must be a finite number, got nan")],
)
def test_a_damaged_save_is_one_clear_error_and_changes_nothing(
    yard, physics_frames, expect_errors, path, value, message
):
    one = yard()
    physics_frames(10)
    state = copy.deepcopy(one.scheduler.call("save_state"))
    box = state
    for key in path[:-1]:
        box = box[key]
    assert path[-1] in box
    box[path[-1]] = value
    physics_frames(2)
    before = one.scheduler.call("save_state")
    expect_errors(message, times=1)
    assert one.scheduler.call("load_state", state) is False
    assert one.scheduler.call("save_state") == before


def test_saving_in_the_middle_of_a_frame_says_when_to_save(node, scheduler, physics_frames, expect_errors):
    expect_errors("cannot be saved: the scheduler is in the middle of a frame; save and load between two frames")
    scheduler.add_behavior(lambda elapsed: scheduler.call("save_state"))
    physics_frames(1)


def test_what_cannot_be_saved_is_named_with_its_place(yard, physics_frames, expect_errors):
    one = yard()
    physics_frames(1)
    one.guards[0].set_value("looks", construct("BoxMesh"))
    expect_errors("HabitTree/../Ann/Brain: 'blackboard.looks' must be plain data or a node", times=1)
    expect_errors("; store a name, or the resource_path of a saved Resource, and get the object by it", times=1)
    assert one.scheduler.call("save_state") == {}


def test_the_sample_of_the_page_keeps_the_last_save_if_it_fails(yard, node, gdscript, physics_frames, expect_errors):
    page = (Path(__file__).parents[3] / "docs/godot/saving.md").read_text(encoding="utf-8")
    sample = re.search(r"```gdscript\n(.*?)```", page, re.DOTALL).group(1)
    one = yard()
    physics_frames(5)
    game = gdscript("extends Node\n" + sample.replace("$AIScheduler", "$AI")).new()
    one.node.add_child(game)
    one.scheduler.reparent(game)
    game.call("save_game")
    one.guards[0].set_value("looks", construct("BoxMesh"))
    expect_errors("'blackboard.looks' must be plain data")
    expect_errors("the last save is unchanged")
    game.call("save_game")
    one.guards[0].set_value("looks", 7)
    game.call("load_game")
    assert one.guards[0].get_value("looks") is None


def test_a_single_tree_is_saved_and_loaded_by_itself(yard, physics_frames):
    one = yard()
    physics_frames(9)
    tree = one.guards[0]
    state, active = tree.call("save_state"), list(tree.get_active_paths())
    visits = tree.get_node("wait").get("visits")
    physics_frames(40)
    assert tree.get_node("wait").get("visits") != visits
    assert tree.call("load_state", state) is True
    assert list(tree.get_active_paths()) == active
    assert tree.get_node("wait").get("visits") == visits
    assert tree.get_node("wait").call("is_active") == ("Brain/wait" in active)


def test_a_tree_that_does_not_run_says_what_it_needs_first(yard, node, physics_frames, expect_errors):
    one = yard()
    physics_frames(3)
    state = one.guards[0].call("save_state")
    expect_errors("has no Habit below it and does nothing; add a Habit", times=1)
    empty = node("HabitTree", one.scheduler)
    physics_frames(1)
    expect_errors("node: the tree does not run; it needs an actor, habits and an AIScheduler", times=1)
    assert empty.call("load_state", state) is False


def test_loading_neither_enters_nor_exits_a_habit(yard, physics_frames, signals):
    one = yard()
    physics_frames(9)
    state = one.scheduler.call("save_state")
    physics_frames(20)
    told = [signals(tree, name) for tree in one.guards for name in ("habit_entered", "habit_exited")]
    one.scheduler.call("load_state", state)
    assert told == [[]] * 4


@pytest.mark.parametrize("class_name", ["HabitTree", "AIEventManager", "SenseManager", "PollingStation"])
def test_a_node_that_is_not_in_use_has_nothing_to_save(scheduler, node, class_name, expect_errors, frames):
    if class_name == "HabitTree":
        expect_errors("has no Habit below it", times=1)
    one = node(class_name, scheduler)
    frames(1)
    state = one.call("save_state")
    assert one.call("load_state", state) is True


@pytest.mark.slow
def test_a_running_museum_is_saved_reloaded_and_goes_on(nodes_of_test, physics_frames):
    def museum():
        made = singleton("ResourceLoader").load("res://demo_project/scenes/museum.tscn").instantiate()
        made.set("is_scripted", True)
        return nodes_of_test.keep(made, None)

    first = museum()
    physics_frames(60 * 9)
    scheduler = first.get_node("Life/AIScheduler")
    state = scheduler.call("save_state")
    habits = {name: list(first.get_node(f"Life/{name}/Habits").get_active_paths()) for name in ("Alice", "Bob")}
    frame = scheduler.get_stats()["frame"]
    first.free()
    second = museum()
    physics_frames(5)
    assert second.get_node("Life/AIScheduler").call("load_state", state) is True
    assert second.get_node("Life/AIScheduler").get_stats()["frame"] == frame
    for name, active in habits.items():
        assert list(second.get_node(f"Life/{name}/Habits").get_active_paths()) == active
    physics_frames(120)


def test_who_has_died_is_added_for_a_load_and_freed_after_it(node, scheduler, physics_frames):
    senses = node("SenseManager", scheduler, name="Senses")

    def guard(name):
        made = node("Node3D", scheduler, name=name)
        return node("Sensor3D", made, name="Eye"), made

    node("SenseSource3D", node("Node3D", scheduler, name="Thief", position=Vector3(0, 0, -4)), name="Body")
    (eye, _), (_, other) = guard("Bob"), guard("Eve")
    physics_frames(5)
    assert len(eye.get_known_targets()) == 1
    state = scheduler.save_state()
    other.free()
    physics_frames(2)
    _, again = guard("Eve")
    assert scheduler.load_state(state, True)
    assert list(scheduler.get_left_out()) == []
    again.free()
    assert len(eye.get_known_targets()) == 1
    physics_frames(3)
    assert senses.get_stats()["sensors"] == 1
    assert len(eye.get_known_targets()) == 1
