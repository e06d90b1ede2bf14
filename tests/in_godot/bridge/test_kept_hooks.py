"""A hook that is kept: a script's method, called on whatever node is at hand."""
from __future__ import annotations

from types import SimpleNamespace

import pytest

from addons.ai_core.bridge.gd import GodotCallError, GodotFreedError, KeptHook, KeptNotice, NodeRow, has_listeners

SCRIPT = """
    extends Habit
    var answer = null
    func _can_activate() -> bool: return answer
    func _tick(elapsed_s: float): return elapsed_s if answer == null else answer
    func _enter() -> void: pass
"""


@pytest.fixture
def habits(gdscript):
    script = gdscript(SCRIPT)
    made = [script.new() for _ in range(2)]
    yield made
    for one in made:
        if one.is_valid():
            one.free()


def given(node, elapsed_s=1.5):
    return SimpleNamespace(part=node, elapsed_s=elapsed_s)


def test_each_node_answers_for_itself(habits):
    ask, enter = KeptHook("_can_activate", "part"), KeptHook("_enter", "part")
    habits[0].set("answer", True)
    habits[1].set("answer", False)
    assert [ask(given(one)) for one in habits] == [True, False]
    assert enter(given(habits[0])) is None


def test_a_number_is_passed_and_integers_stand_for_answers(habits):
    said = []
    tick = KeptHook("_tick", "part", "elapsed_s", ("none", "one"), lambda run, answer: said.append(answer) or "other")
    assert tick(given(habits[0])) == "other"
    for answer in (0, 1, 2, -1, "x", True):
        habits[0].set("answer", answer)
        said.append(tick(given(habits[0])))
    assert said == [1.5, "none", "one", 2, "other", -1, "other", "x", "other", True, "other"]


def test_a_node_that_is_gone_is_an_error_unless_it_may_be(habits):
    habits[0].free()
    with pytest.raises(GodotFreedError):
        KeptHook("_enter", "part")(given(habits[0]))
    assert KeptHook("_enter", "part", skips_freed=True)(given(habits[0])) is None
    with pytest.raises(TypeError):
        KeptHook("_enter", "part")(given("no node"))


def test_a_method_that_the_script_has_not_is_named(habits):
    with pytest.raises(GodotCallError, match="_missing: there is no such method"):
        KeptHook("_missing", "part")(given(habits[0]))


def test_several_are_asked_in_one_go_until_one_says_yes(gdscript):
    script = gdscript("""
        extends Habit
        var answer = false
        var asked := 0
        func _can_activate():
            asked += 1
            return answer
    """)
    nodes = [script.new() for _ in range(40)]
    row, ask, numbers = NodeRow([None, *nodes]), KeptHook("_can_activate", "part"), tuple(range(1, 41))
    assert ask.first_of(row, numbers) == 40
    nodes[36].set("answer", True)
    assert (ask.first_of(row, numbers), ask.first_of(row, (39, 37, 1)), ask.first_of(row, ())) == (36, 1, 0)
    nodes[36].set("answer", "a text is a yes")
    nodes[2].set("answer", 0)
    assert ask.first_of(row, numbers) == 36
    assert ask.first_of(row, (1, 0, 2)) == -2
    row.drop(nodes[4])
    assert ask.first_of(row, numbers) == -5
    assert nodes[4].get("asked") == 3
    with pytest.raises(IndexError, match="a row of 41 nodes has no number 41"):
        ask.first_of(row, (41,))
    for node in nodes:
        node.free()


def test_a_row_knows_whether_somebody_listens_to_one_of_it(habits):
    row = NodeRow([None, *habits], [(), ("entered", "exited"), ("exited",)])
    assert not row.has_listeners()
    habits[1].connect("entered", print)
    assert not row.has_listeners()
    habits[1].connect("exited", print)
    assert row.has_listeners()
    assert (len(row), row[0], row[2]) == (3, None, habits[1])


@pytest.mark.parametrize("number", [2, 3, 10**6, -1, -2, -3, -(10**6), 2**62])
def test_a_number_that_a_row_does_not_have_is_an_error(habits, number):
    row = NodeRow(habits)
    with pytest.raises(IndexError, match=f"a row of 2 nodes has no number {number}"):
        row[number]


def test_a_row_can_be_gone_through(habits):
    row = NodeRow([None, *habits])
    assert list(zip(row, range(3), strict=True)) == [(None, 0), (habits[0], 1), (habits[1], 2)]
    assert [list(reversed(row)), habits[1] in row, list(NodeRow([]))] == [[habits[1], habits[0], None], True, []]


def test_a_row_that_cannot_be_made_has_nothing(habits):
    row = NodeRow(habits)
    with pytest.raises(ValueError, match="a row of 2 nodes needs 2 tuples of signals, got 1"):
        row.__init__(habits, [("entered",)])
    assert len(row) == 0
    assert not row.has_listeners()


def test_a_notice_is_given_only_where_somebody_listens(habits):
    told, row = [], NodeRow(habits)
    notice = KeptNotice(1, "exited", "entered", lambda given: told.append(given) or "told")
    given = SimpleNamespace(parts=row)
    assert (notice(given), told) == (None, [])
    habits[1].connect("entered", print)
    habits[0].connect("exited", print)
    assert notice(given) is None
    habits[1].connect("exited", print)
    assert (notice(given), told) == ("told", [given])
    row.drop(habits[1])
    assert notice(given) == "told"           # who is about to go may be listened to
    with pytest.raises(IndexError, match="a row of 2 nodes has no number 2"):
        KeptNotice(2, "exited", "", print)(given)


def test_who_listens_is_known(habits):
    def heard(status):
        pass

    assert not has_listeners(habits[0], "exited")
    habits[0].connect("exited", heard)
    assert (has_listeners(habits[0], "exited"), has_listeners(habits[0], "entered")) == (True, False)
    habits[0].call("disconnect", "exited", heard)
    assert not has_listeners(habits[0], "exited")
