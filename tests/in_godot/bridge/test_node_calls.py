"""Methods of Node that the bridge calls directly return what a call by name returns."""
from __future__ import annotations

import pytest

from addons.ai_core.bridge.gd import GodotFreedError, NodePath, construct

METHODS = ["is_inside_tree", "can_process", "get_name", "get_parent", "get_viewport", "get_path"]


@pytest.mark.parametrize("method", METHODS)
def test_direct_calls_return_what_calls_by_name_do(node, method):
    sensor = node("Sensor3D", node("Node3D", name="Head"), name="Eyes")
    assert getattr(sensor, method)() == sensor.call(method)
    assert type(getattr(sensor, method)()) is type(sensor.call(method))


@pytest.mark.parametrize("path", ["..", NodePath(".."), "../Ears", "../Nose", "/root/Head", ""])
def test_a_direct_look_up_of_a_path_is_that_by_name(node, path):
    head = node("Node3D", name="Head")
    eyes = node("Sensor3D", head, name="Eyes")
    node("SenseSource3D", head, name="Ears")
    assert eyes.get_node_or_null(path) == eyes.call("get_node_or_null", path)


def test_direct_calls_outside_the_tree_return_nothing():
    eyes = construct("Sensor3D")
    assert not eyes.is_inside_tree()
    assert eyes.get_parent() is eyes.get_viewport() is None
    assert eyes.get_name() == ""
    eyes.free()


def test_direct_calls_of_a_freed_node_say_so(node):
    eyes = construct("Sensor3D")
    eyes.free()
    for method in METHODS:
        with pytest.raises(GodotFreedError, match="has been freed"):
            getattr(eyes, method)()
