"""Habit: one thing a character can do, as a node below its HabitTree."""
from __future__ import annotations

import importlib
import math
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    GDObject,
    Node,
    RefusedValue,
    StringName,
    Variant,
    export,
    gdclass,
    has_script_method,
    hook,
    method,
    signal,
)
from ai_core.decisions import habits as core
from ai_core.decisions.habit_context import HabitContext

LAUNCHES = (core.Launch.PRIORITIZED, core.Launch.SEQUENTIAL, core.Launch.RANDOM)
STATUSES = (core.Status.RUNNING, core.Status.SUCCEEDED, core.Status.FAILED)


class HabitSettings:
    """What Habit and HabitTree have in common: how children launch."""

    class Launch(IntEnum):
        PRIORITIZED = 0
        SEQUENTIAL = 1
        RANDOM = 2


@gdclass(icon="res://addons/ai_core/icons/habit.svg")
class Habit(Node):
    """Something a character can do. Its child habits are the smaller things it is made of.

    Extend it in GDScript and override _can_activate(), _enter(), _tick() and _exit(); or
    name methods of the actor below; or name a Python class "module:Class" that extends
    ai_core.decisions.Habit.
    """

    Launch = HabitSettings.Launch

    class Status(IntEnum):
        RUNNING = 0
        SUCCEEDED = 1
        FAILED = 2

    launch = export(
        HabitSettings.Launch, HabitSettings.Launch.PRIORITIZED,
        doc="How child habits launch: the most urgent that can run, one after the other, or one by weight.")
    non_blocking = export(bool, False, doc="Runs beside its siblings and ends only with its parent.")
    uninterruptible = export(
        bool, False, doc="No sibling interrupts it. For a stretch of its run use hold() and release().")
    weight = export(float, 1.0, range=(0.001, 1000, 0.001), doc="How often it is chosen among random siblings.")
    urgency = export(float, 0.0, doc="Breaks a sibling's hold() of lower priority.")
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

    entered = signal(("reason", str), doc="The habit began.")
    exited = signal(("status", int), doc="The habit ended: 1 succeeded, 2 failed, 0 interrupted.")

    def __init__(self) -> None:
        self._tree: Any = None
        self._run: HabitContext | None = None

    @hook
    def _can_activate(self) -> bool:
        """May it begin now? Asked while the habit is pending."""
        return True

    @hook
    def _enter(self) -> None:
        """The habit begins."""

    @hook
    def _tick(self, elapsed_s: float) -> int:
        """The habit goes on; return STATUS_RUNNING, STATUS_SUCCEEDED or STATUS_FAILED."""
        return 0

    @hook
    def _exit(self) -> None:
        """The habit ends, however it ended."""

    @hook
    def _save_state(self) -> Variant:
        """Return what this script keeps in variables of its own, to be saved with the tree."""

    @hook
    def _load_state(self, state: Variant) -> None:
        """Take back what _save_state() returned; called after the whole tree was loaded."""

    @method
    def get_actor(self) -> GDObject:
        """Return the character, as set on the HabitTree."""
        return self._tree.actor_node() if self._tree is not None else None

    @method
    def get_tree_of_habits(self) -> GDObject:
        """Return the HabitTree this habit belongs to."""
        return self._tree

    @method
    def is_active(self) -> bool:
        """Return whether the habit is running."""
        return self._run is not None

    @method
    def get_time_in_habit_s(self) -> float:
        """Return game time since the habit began (s), 0 if it is not active."""
        return self._run.time_in_habit_s if self._run is not None else 0.0

    @method
    def get_reason(self) -> str:
        """Return why the habit began."""
        return self._run.reason if self._run is not None else ""

    @method
    def hold(self, priority: float = math.inf) -> None:
        """Let no sibling interrupt it until release(), except one whose urgency is above ``priority``."""
        if self._run is None:
            raise RefusedValue("is not active, so there is nothing to hold; call hold() in _enter() or _tick()")
        self._run.hold(None if math.isinf(priority) else priority)

    @method
    def release(self) -> None:
        """End a hold()."""
        if self._run is not None:
            self._run.release()

    def definition(self, tree: Any) -> core.Habit:
        """Return the habit of the library that this node and its children describe."""
        self._tree = tree
        settings: dict[str, Any] = {
            "children": [child.definition(tree) for child in self.get_children() if isinstance(child, Habit)],
            "launch": LAUNCHES[self.launch],
            "non_blocking": self.non_blocking,
            "uninterruptible": self.uninterruptible,
            "weight": self.weight,
            "urgency": self.urgency,
        }
        name = str(self.get_name())
        if self.python_class:
            return self._python_definition(name, settings)
        if self._has("_can_activate", self.can_activate_method):
            settings["can_activate"] = lambda run: self._ask("_can_activate", self.can_activate_method)
        if self._has("_tick", self.tick_method):
            settings["tick"] = self._go_on
        return core.Habit(name, **settings, enter=self._begin, exit=self._end)

    def saved_by_script(self) -> Any:
        """Return what the script wants saved, None if it does not say."""
        return self._save_state() if has_script_method(self, "_save_state") else None

    def take_state(self, run: HabitContext | None, of_script: Any) -> None:
        """Go on as a loaded game says: active in a run or not, with what the script had saved."""
        self._run = None if self.python_class else run
        if of_script is not None and has_script_method(self, "_load_state"):
            self._load_state(of_script)

    def _python_definition(self, name: str, settings: dict[str, Any]) -> core.Habit:
        module, _, class_name = self.python_class.partition(":")
        found = getattr(importlib.import_module(module), class_name, None)
        if not (isinstance(found, type) and issubclass(found, core.Habit)):
            raise TypeError(
                f"python_class {self.python_class!r} of '{name}' names no Habit; write \"module:Class\""
                " with a class that extends ai_core.decisions.Habit")
        return found(name, **settings)

    def _get_configuration_warnings(self) -> list[str]:
        above = self.get_parent()
        if above is not None and not (above.is_class("HabitTree") or above.is_class("Habit")):
            return ["is not right below a HabitTree or Habit and never runs; put it there"]
        return []

    def _has(self, hook_name: str, method_name: str) -> bool:
        return bool(method_name) or has_script_method(self, hook_name)

    def _ask(self, hook_name: str, method_name: str, *values: object) -> Any:
        if method_name:
            return self._tree.actor_node().call(method_name, *values)
        return getattr(self, hook_name)(*values)

    def _begin(self, run: HabitContext) -> None:
        self._run = run
        self._tree.tell_entered(run)
        self.entered.emit(run.reason)
        if self._has("_enter", self.enter_method):
            self._ask("_enter", self.enter_method)

    def _go_on(self, run: HabitContext) -> core.Status:
        answer = self._ask("_tick", self.tick_method, run.elapsed_s)
        if answer is None:
            return core.Status.RUNNING
        if isinstance(answer, bool) or answer not in (0, 1, 2):
            raise TypeError(
                f"the tick of '{run.path}' returned {answer!r}; return Habit.STATUS_RUNNING,"
                " STATUS_SUCCEEDED or STATUS_FAILED")
        return STATUSES[answer]

    def _end(self, run: HabitContext) -> None:
        try:
            if self._has("_exit", self.exit_method):
                self._ask("_exit", self.exit_method)
        finally:
            self._run = None
            self._tree.tell_exited(run)
            self.exited.emit(0 if run.status is None else STATUSES.index(run.status))
