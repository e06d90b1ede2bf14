"""Nothing crashes: exceptions, wrong values and freed objects become one clear error each."""
from __future__ import annotations

import numpy as np
import pytest
from _bridge import repeated_errors

from addons.ai_core.bridge.gd import (
    GodotCallError,
    GodotFreedError,
    RefusedValue,
    construct,
    report_error,
)
from tests.in_godot.bridge import bridge_nodes


def assigning(value):
    return f"""
        extends RefCounted
        static func run(probe) -> void:
            var untyped = probe
            {value}
    """


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ('untyped.speed = "far"', "speed needs float, got String 'far'; it stays 2.5"),
        ("untyped.speed = null", "speed needs float, got null; it stays 2.5"),
        ("untyped.speed = NAN", "speed must be a finite number, got nan; it stays 2.5"),
        ("untyped.speed = INF", "speed must be a finite number, got inf; it stays 2.5"),
        ("untyped.speed = 11.0", "speed must be between 0 and 10, got 11.0; it stays 2.5"),
        ("untyped.steps = 0", "steps must be at least 1, got 0; it stays 3"),
        ("untyped.reach = 0.0", "reach must be between 0.001 and 1e+06, got 0.0; it stays 5.0"),
        ("untyped.crowd = 0", "crowd must be between 1 and 1e+06, got 0; it stays 5"),
        ("untyped.crowd = 1000001", "crowd must be between 1 and 1e+06, got 1000001; it stays 5"),
        ("untyped.steps = 2.5", "steps needs int, got float 2.5; it stays 3"),
        ("untyped.mode = null", "mode needs int, got null; it stays 1 (CHEAP)"),
        ("untyped.steps = 2_000_000_000", "steps must be between 1 and 1e+09, got 2000000000; it stays 3"),
        ("untyped.offset = Vector3(1e30, 0, 0)",
         "offset must be between -1e+09 and 1e+09 in each coordinate, got Vector3("),
        ("untyped.mode = 4", "mode must be one of 0 (OFF), 1 (CHEAP), 5 (FULL), got 4; it stays 1 (CHEAP)"),
        ("untyped.turn = 7.0", "turn must be between 0 rad (0°) and 6.283 rad (360°), got 7.0; it stays 1.0"),
        ("untyped.offset = Vector3(NAN, 0, 0)", "offset must be finite"),
        ("var gone = Node3D.new(); gone.free(); untyped.friend = gone",
         "friend needs Node3D, got a freed object; it stays null"),
        ("untyped.friend = RefCounted.new()", "friend needs Node3D, got <RefCounted#"),
    ],
)
def test_a_bad_value_is_one_clear_error_and_the_old_value_stays(node, gdscript, expect_errors, assignment, message):
    probe = node("BridgeProbe", name="Bob")
    expect_errors(message, times=1)
    gdscript(assigning(assignment)).run(probe)
    assert (probe.speed, probe.steps, probe.mode, probe.friend) == (2.5, 3, 1, None)


def test_an_error_names_class_and_path_of_the_node(node, gdscript, expect_errors):
    expect_errors("BridgeProbe '/root/Bob': speed must be between", times=1)
    gdscript(assigning("untyped.speed = 99.0")).run(node("BridgeProbe", name="Bob"))


def test_python_gets_the_same_refusal_as_an_exception(node):
    with pytest.raises(RefusedValue, match=r"speed must be between 0 and 10, got 11; it stays 2\.5"):
        node("BridgeProbe").speed = 11


def test_an_exception_in_a_method_is_reported_with_a_traceback(node, gdscript, expect_errors):
    expect_errors("BridgeProbe.fail raised KeyError: 'missing'", times=1)
    script = gdscript("""
        extends RefCounted
        static func run(probe: BridgeProbe) -> Array: return [probe.half(44.0), probe.fail()]
    """)
    assert script.run(node("BridgeProbe")) == [22.0, 0]


def test_an_exception_in_a_setter_is_reported(node, gdscript, expect_errors):
    expect_errors("BridgeProbe.speed raised OSError: the motor is gone", times=1)
    gdscript(assigning("untyped.speed = 9.0")).run(node("BridgeProbe"))


def test_exceptions_in_ready_and_process_are_reported_once(node, frames, expect_errors):
    expect_errors("FailingProbe._ready raised RuntimeError: ready failed", times=1)
    expect_errors("FailingProbe._process raised RuntimeError: process failed", times=1)
    before = repeated_errors()
    node("FailingProbe")
    frames(5)
    assert sum(repeated_errors().values()) - sum(before.values()) == 5


def test_an_exception_in_a_signal_handler_does_not_stop_others(node, gdscript, expect_errors):
    probe, heard = node("BridgeProbe"), []
    emitter = gdscript("extends Node\nsignal rang(what)").new()
    node("Node").add_child(emitter)
    emitter.connect("rang", probe.on_signal)
    emitter.connect("rang", heard.append)
    expect_errors("on_signal raised ValueError: the handler failed", times=1)
    emitter.emit_signal("rang", "fail")
    assert heard == ["fail"]
    assert ("fail",) in probe.calls


def test_a_connection_dies_with_the_node_that_hears(node, gdscript):
    emitter = gdscript("extends Node\nsignal rang(what)").new()
    node("Node").add_child(emitter)
    probe = construct("BridgeProbe")
    emitter.connect("rang", probe.on_signal)
    assert len(emitter.get_signal_connection_list("rang")) == 1
    probe.free()
    assert len(emitter.get_signal_connection_list("rang")) == 0


def test_a_freed_object_raises_and_is_not_touched():
    gone = construct("Node")
    gone.free()
    assert not gone.is_valid()
    with pytest.raises(GodotFreedError, match="has been freed"):
        gone.get_name()
    probe = construct("BridgeProbe")
    probe.free()
    with pytest.raises(GodotFreedError):
        probe.call("half", 1.0)


@pytest.mark.parametrize("use", [
    lambda made, parent: made.name,
    lambda made, parent: made.set("name", "x"),
    lambda made, parent: parent.add_child(made),
    lambda made, parent: parent.set_meta("made", made),
], ids=["reading", "setting", "adding", "handing on"])
def test_a_class_that_is_called_says_how_to_make_a_node(node, use):
    says = r"BridgeProbe\(\) makes no engine object; use construct\('BridgeProbe'\)"
    with pytest.raises(TypeError, match=says):
        use(bridge_nodes.BridgeProbe(), node("Node"))


def test_wrong_calls_say_what_is_wrong(node):
    place = node("Node3D")
    with pytest.raises(GodotCallError, match="no such method"):
        place.call("nonsense")
    with pytest.raises(GodotCallError, match="set_position: argument 1 needs Vector3, got str"):
        place.set_position("here")
    with pytest.raises(GodotCallError, match="set_position: too few arguments, it needs 1"):
        place.set_position()


def test_an_argument_of_the_wrong_class_is_refused_by_the_engine(node):
    with pytest.raises(GodotCallError, match="argument 1 needs Object, got Node"):
        node("BridgeProbe").call("needs_node3d", construct_for(node, "Node"))


def construct_for(node, class_name):
    return node(class_name)


def test_a_packed_array_of_the_wrong_shape_is_refused(node):
    with pytest.raises(GodotCallError, match="argument 1 needs PackedVector3Array"):
        node("BridgeProbe").call("doubled", np.ones(4, np.float32))


def test_node_methods_refuse_other_threads(node, gdscript, expect_errors):
    expect_errors("nodes written in Python run on the main thread only", times=1)
    script = gdscript("""
        extends RefCounted
        static func run(probe) -> void:
            var thread := Thread.new()
            thread.start(func(): probe.half(1.0))
            thread.wait_to_finish()
    """)
    script.run(node("BridgeProbe"))


@pytest.mark.parametrize("kind", ["[]", "{}"])
def test_a_value_that_contains_itself_is_an_error_not_a_crash(node, gdscript, expect_errors, kind):
    add = "value.append(value)" if kind == "[]" else "value['again'] = value"
    expect_errors("nested deeper than 200 levels, or contains itself", times=1)
    gdscript(f"""
        extends RefCounted
        static func run(probe) -> void:
            var value = {kind}
            {add}
            probe.echo(value)
            value.clear()
    """).run(node("BridgeProbe"))


def test_a_python_value_that_contains_itself_is_refused(node):
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        node("BridgeProbe").call("echo", endless)


def test_an_array_as_a_key_becomes_a_tuple(node, gdscript, expect_errors):
    made = gdscript("""
        extends RefCounted
        static func good() -> Dictionary: return {[1, 2]: "a"}
        static func bad() -> Dictionary: return {{"x": 1}: "a"}
    """)
    assert made.good() == {(1, 2): "a"}
    with pytest.raises(ValueError, match="a Dictionary with a key of type Dictionary has no Python form; use a text"):
        made.bad()


@pytest.mark.parametrize(
    ("source", "message"),
    [("func(): pass", "too many arguments"), ("func(_a, _b, _c): pass", "too few arguments"),
     ("Callable()", "cannot be called")],
)
def test_a_callable_that_cannot_be_called_so_raises(gdscript, source, message):
    made = gdscript(f"extends RefCounted\nstatic func it() -> Callable: return {source}")
    with pytest.raises(GodotCallError, match=message):
        made.it()(1, 2)


def test_a_refusal_in_a_setters_follow_up_keeps_the_old_value(node, gdscript, expect_errors):
    probe = node("BridgeProbe")
    expect_errors("gear must not be 4 while it runs", times=1)
    gdscript(assigning("untyped.gear = 4")).run(probe)
    assert probe.gear == 1


@pytest.mark.parametrize(("value", "message"), [
    ("{{}: 1}", "steps needs int, got Dictionary that has no Python form; it stays 3"),
    ('"ab".repeat(100000)', f"steps needs int, got String 'a{'ba' * 39}...; it stays 3"),
    ("range(500)", f"steps needs int, got Array {str([*range(500)])[:80]}...; it stays 3"),
])
def test_a_refused_value_names_its_property_and_is_shortened(
    node, gdscript, expect_errors, value, message,
):
    probe = node("BridgeProbe")
    expect_errors(message, times=1)
    gdscript(assigning(f"untyped.steps = {value}")).run(probe)
    assert probe.steps == 3


def test_misuse_of_the_library_is_reported_without_its_insides(node, gdscript, expect_errors):
    scheduler = node("AIScheduler", name="Brains")
    # The place follows the message at once: no traceback stands between.
    expect_errors("'/root/Brains': period_frames must be at least 1, got 0; use 1 to run every frame\n   at: ", times=1)
    scheduler.call("add_behavior", lambda elapsed: None, 0)


def test_a_refused_megabyte_is_not_quoted_whole(node, gdscript, expect_errors):
    probe = node("BridgeProbe", name="Bob")
    expect_errors(r"xxx...; it stays 2.5", times=1)
    gdscript(assigning('untyped.speed = "x".repeat(1_000_000)')).run(probe)


def test_a_long_collection_in_a_message_does_not_hide_the_remedy(expect_errors):
    shown = str([*range(500)])[:80]
    expect_errors(f"must be a code, got {shown}...; use its name\n", times=1)
    report_error(f"must be a code, got {[*range(500)]}; use its name")


def test_a_message_of_many_lines_is_shortened_in_the_middle(expect_errors):
    expect_errors("first", times=1)
    expect_errors("… (9802 lines left out)", times=1)
    expect_errors("last", times=1)
    report_error("\n".join(["first", *map(str, range(10_000)), "last"]))
