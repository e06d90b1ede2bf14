"""What the inspector shows of a Habit."""
from __future__ import annotations

from enum import IntEnum

from addons.ai_core.bridge.gd import PackedStringArray, StringName, export


class HabitSettings:
    """The properties of a Habit; a part of that class. A HabitTree launches its children in the same ways."""

    class Launch(IntEnum):
        PRIORITIZED = 0
        SEQUENTIAL = 1
        RANDOM = 2
        FALLBACK = 3

    class Status(IntEnum):
        RUNNING = 0
        SUCCEEDED = 1
        FAILED = 2

    class Outcome(IntEnum):
        AS_IT_ENDED = 0
        INVERTED = 1
        ALWAYS_SUCCEEDED = 2
        ALWAYS_FAILED = 3

    launch = export(
        Launch, Launch.PRIORITIZED,
        doc="How child habits launch: the most urgent that can run, one after the other, one by weight, or one after"
            " the other until one succeeds.")
    non_blocking = export(bool, False, doc="Runs beside its siblings and ends only with its parent.")
    uninterruptible = export(
        bool, False, doc="No sibling interrupts it. For a stretch of its run use hold() and release().")
    weight = export(float, 1.0, range=(0.001, 1000, 0.001), doc="How often it is chosen among random siblings.")
    urgency = export(float, 0.0, doc="Breaks a sibling's hold() of lower priority.")
    condition = export(
        str, "", group="Condition",
        doc="The habit may begin only if this is true: \"health < 0.3 and has_ammo()\". Names are values of the"
            " blackboard, properties and methods of the actor.")
    wakes_on = export(
        PackedStringArray, PackedStringArray(),
        doc="Keys of the blackboard and told names on which beginning depends: asked only after one of them, not"
            " in every tick.")
    asks_every_s = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s",
        doc="While something less urgent runs, ask so rarely whether it may begin; 0 asks in every tick.")
    begins_on = export(
        PackedStringArray, PackedStringArray(), doc="It begins only after tell() told one of these.")
    remembers_s = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s",
        doc="For how long it may still begin on what was told, say after a hold; 0: in the next tick only.")
    timeout_s = export(
        float, 0.0, range=(0, 600, 0.01), or_greater=True, unit="s", group="Times and Results",
        doc="Longest time a run may take before it fails; 0 is no limit.")
    cooldown_s = export(
        float, 0.0, range=(0, 600, 0.01), or_greater=True, unit="s",
        doc="Time after its end in which it cannot begin.")
    repeats = export(
        int, 1, range=(0, 1000, 1), or_greater=True, doc="How often in a row it succeeds before it has; 0 for ever.")
    retries = export(
        int, 0, range=(-1, 1000, 1), or_greater=True, doc="How often it begins again after it failed; -1 for ever.")
    outcome = export(Outcome, Outcome.AS_IT_ENDED, doc="What its parent is told of its end.")
    can_activate_method = export(
        StringName, StringName(""), group="Methods of the actor",
        shown_when=("python_class", ""), doc="Called without arguments; true lets the habit begin.")
    enter_method = export(
        StringName, StringName(""),
        shown_when=("python_class", ""), doc="Called when the habit begins.")
    tick_method = export(
        StringName, StringName(""),
        shown_when=("python_class", ""),
        doc="Called with the elapsed seconds; returns 0 running, 1 succeeded, 2 failed.")
    exit_method = export(
        StringName, StringName(""),
        shown_when=("python_class", ""), doc="Called when the habit ends.")
    python_class = export(str, "", group="Python", doc="Runs a Python class instead: \"module:Class\".")
