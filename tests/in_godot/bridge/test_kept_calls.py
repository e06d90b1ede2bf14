"""A call that is kept: the method of a script or of the engine, or a Callable, again and again."""
from __future__ import annotations

from types import SimpleNamespace

import pytest

from addons.ai_core.bridge.gd import GodotCallError, GodotFreedError, KeptCall, Results, construct

SCRIPT = """
    extends Node
    var heard: Array[float] = []
    func hear(number: float) -> String:
        heard.append(number)
        return "heard"
    func silent(number: float) -> void: heard.append(number)
    func nothing() -> void: pass
    func plain() -> Callable: return hear
    func bound() -> Callable: return add.bind(100.0)
    func add(number: float, other: float) -> void: heard.append(number + other)
    func small() -> Callable:
        var heard_by := heard
        return func(number: float) -> void: heard_by.append(-number)
"""


@pytest.fixture
def ear(gdscript, tree):
    made = gdscript(SCRIPT).new()
    tree.root.add_child(made)
    yield made
    if made.is_valid():
        made.free()


def kept(target, name="", results=None, **settings):
    return KeptCall(target, name, "amount", results or Results(), "it is gone", **settings)


def given(number):
    return SimpleNamespace(amount=number)


def test_a_method_gets_the_attribute_and_its_result_is_passed_on(ear):
    taken, results = [], Results()
    call = kept(ear, "hear", results)
    assert call(given(1.5)) is None
    results.take = lambda value: taken.append(value) or "answer"
    assert call(given(2)) == "answer"
    assert (ear.get("heard"), taken) == ([1.5, 2.0], ["heard"])


def test_a_method_that_returns_nothing_is_taken_by_nobody(ear):
    taken, results = [], Results()
    results.take = taken.append
    assert kept(ear, "silent", results)(given(1.0)) is None
    assert taken == []


@pytest.mark.parametrize(("maker", "heard"), [("plain", 3.0), ("bound", 103.0), ("small", -3.0)])
def test_callables_of_every_kind_are_called(ear, maker, heard):
    kept(ear.call(maker))(given(3.0))
    assert ear.get("heard") == [heard]


def test_an_object_that_is_gone_is_told_in_the_given_words(ear):
    calls = [kept(ear, "hear"), kept(ear.plain()), kept(ear.bound())]
    ear.free()
    for call in calls:
        with pytest.raises(GodotFreedError, match="it is gone"):
            call(given(1.0))


@pytest.mark.parametrize("name", ["nothing", "get_name", "missing"])
def test_a_call_the_engine_refuses_names_the_method_and_reason(ear, name):
    with pytest.raises(GodotCallError, match=f"{name}: (too many arguments|there is no such method)"):
        kept(ear, name)(given(1.0))


def test_a_kept_call_needs_a_numeric_attribute(ear):
    with pytest.raises(AttributeError, match="amount"):
        kept(ear, "hear")(object())
    with pytest.raises(TypeError):
        kept(ear, "hear")(given("far"))
    assert ear.get("heard") == []


def test_paused_and_leaving_nodes_are_skipped_on_request(ear, tree):
    call, always = kept(ear, "silent", skips_paused=True), kept(ear, "silent")
    ear.process_mode = 4
    call(given(1.0))
    always(given(2.0))
    ear.process_mode = 0
    call(given(3.0))
    tree.root.remove_child(ear)
    call(given(4.0))
    tree.root.add_child(ear)
    assert ear.get("heard") == [2.0, 3.0]


def test_a_kept_callable_lets_go_of_what_it_holds(gdscript):
    script = gdscript("""
        extends RefCounted
        static func make(holder: RefCounted) -> Callable:
            return func(number: float) -> void: holder.set_meta("n", number)
    """)
    holder = construct("RefCounted")
    before = holder.get_reference_count()
    call = kept(script.make(holder))
    call(given(2.0))
    assert holder.get_meta("n") == 2.0
    del call
    assert holder.get_reference_count() == before
