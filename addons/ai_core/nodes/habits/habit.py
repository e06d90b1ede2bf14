"""Habit: one thing a character can do, as a node below its HabitTree."""
from __future__ import annotations

import math
from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    GDObject,
    Node,
    PackedStringArray,
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
from addons.ai_core.nodes.characters.guard_expression import GuardExpression
from addons.ai_core.nodes.debugging.edited_modules import current_module, may_have_class, spec_of, stamp_of
from addons.ai_core.nodes.habits.habit_sharing import Callback, asking, call_of, shared_habit
from addons.ai_core.nodes.saving.node_settings import exported_slots
from addons.ai_core.nodes.scheduling.scheduled import check_callable
from ai_core.decisions.habits import habits as core
from ai_core.decisions.habits.habit_context import HabitContext
from ai_core.decisions.habits.habit_state import active_runs

LAUNCHES, OUTCOMES = tuple(core.Launch), tuple(core.Outcome)
CALLED = ("_can_activate", "_enter", "_tick", "_exit")


@gdclass(icon="res://addons/ai_core/icons/habit.svg")
class Habit(Node):
    """Something a character can do. Its child habits are the smaller things it is made of.

    Extend it in GDScript and override _can_activate(), _enter(), _tick() and _exit(); or
    name methods of the actor below; or give it Callables with set_callable(); or name a
    Python class "module:Class" that extends ai_core.decisions.Habit.
    """

    ON_ANY_SET = "may_be_mended"

    entered = signal(("reason", str), doc="The habit began.")
    exited = signal(("status", int), doc="The habit ended: 1 succeeded, 2 failed, 0 interrupted.")

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
    non_blocking = export(
        bool, False,
        doc="Runs beside its siblings; if it ends before its parent, which takes no notice, it begins again.")
    uninterruptible = export(
        bool, False, doc="No sibling interrupts it. For a stretch of its run use hold() and release().")
    weight = export(float, 1.0, range=(0.001, 1000, 0.001), doc="How often it is chosen among random siblings.")
    urgency = export(float, 0.0, doc="Breaks a sibling's hold() of lower priority.")
    condition = export(
        str, "", group="Condition",
        doc="The habit may begin only if this is true: \"health < 0.3 and has_ammo()\". Names are values of the"
            " blackboard, properties and methods of the actor; while one is not there yet, it is false.")
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

    def __init__(self) -> None:
        self._tree: Any = None
        self._known_run: HabitContext | None = None
        self._left_run: HabitContext | None = None
        self.given: dict[str, Any] = {}         # Callables, by the method of a script that they stand for
        self._is_leaving = False

    def on_entered(self) -> None:
        self._is_leaving = False
        tree = tree_above(self)
        if tree is not None:
            tree.habits_changed()

    def may_be_mended(self) -> None:
        """Let a tree that a mistake has stopped try again."""
        tree = tree_above(self) if self.is_inside_tree() else None
        if tree is not None and tree.is_stopped:
            tree.habits_changed()

    def on_renamed(self) -> None:
        if self._tree is not None and self._tree.is_valid():
            self._tree.on_renamed()

    def on_predelete(self) -> None:
        self.given.clear()       # they may hold scripts: let them go now

    def on_exit_tree(self) -> None:
        self._is_leaving = True
        tree = self._tree or tree_above(self)    # none has read it yet: of a tree that a mistake has stopped
        if tree is not None and tree.is_valid():
            tree.habit_leaves(self, at_once=self._run is not None)

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
    def set_callable(self, moment: str, callback: GDCallable) -> None:
        """Call a Callable as the habit does "can_activate", "enter", "tick" or "exit", instead of its script's method.

        It is given what the script's method would be, and returns what that would. Takes effect
        as rebuild() does if the tree runs.
        """
        if f"_{moment}" not in CALLED:
            raise RefusedValue(f"moment must be one of {[one[1:] for one in CALLED]}, got {moment!r}")
        check_callable(callback, "set_callable()")
        self.given[f"_{moment}"] = callback
        if self._tree is not None and self._tree.is_valid():
            self._tree.rebuild()

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

    @method
    def wait_s(self, seconds: float) -> None:
        """Call _tick() again when so much game time has passed, not before; in _enter() or _tick()."""
        self._active("wait").wait_s(seconds)

    @method
    def wait_for(self, names: PackedStringArray, at_most_s: float = 0.0) -> None:
        """Call _tick() again when one of these is told or changes on the blackboard, or after a time; 0 is never."""
        run = self._active("wait")
        try:
            run.wait_for(*names, at_most_s=at_most_s or None)
        except ValueError as problem:
            raise RefusedValue(str(problem)) from None

    @method
    def get_woken_by(self) -> str:
        """Return the name that ended the last wait_for(); "" if it was the time."""
        return self._run.woken_by if self._run is not None else ""

    @method
    def get_told(self, told_name: str) -> Variant:
        """Return what came with a name that tell() told, in the tick in which it is heard; else null."""
        return self._run.told(told_name) if self._run is not None else None

    def definition(self, tree: Any) -> core.Habit:
        """Return the habit of the library that this node and its children describe, shared by all that say the same."""
        self._tree = tree
        script = self.get_script()
        module = self.python_class.partition(":")[0]
        edited = stamp_of(module) if module else None
        # By its id: a script that is held here would outlive the game.
        said = (
            type(self), str(self.get_name()), 0 if script is None else script.get_instance_id(), edited,
            *[has_script_method(self, one) + 2 * (one in self.given) for one in CALLED],
            *[self.__dict__.get(slot, default) for slot, default in exported_slots(type(self))])
        below = definitions_below(self, tree)
        try:
            return shared_habit(said, below, self._new_definition)
        except (TypeError, ValueError) as mistake:
            raise ValueError(f"{tree.get_name()}/{tree.get_path_to(self)}: {mistake}") from None

    def _new_definition(self, children: list[core.Habit]) -> core.Habit:
        settings: dict[str, Any] = {
            "children": children,
            "launch": LAUNCHES[self.launch],
            "non_blocking": self.non_blocking,
            "uninterruptible": self.uninterruptible,
            "weight": self.weight,
            "urgency": self.urgency,
            "timeout_s": self.timeout_s or math.inf,
            "cooldown_s": self.cooldown_s,
            "repeats": self.repeats or core.FOR_EVER,
            "retries": core.FOR_EVER if self.retries < 0 else self.retries,
            "outcome": OUTCOMES[self.outcome],
            "wakes_on": list(self.wakes_on),
            "asks_every_s": self.asks_every_s,
            "begins_on": list(self.begins_on),
            "remembers_s": self.remembers_s,
        }
        name = str(self.get_name())
        if self.python_class:
            return self._python_definition(name, settings)
        return core.Habit(name, **settings, can_activate=self._condition(), **self.callbacks())

    def callbacks(self) -> dict[str, Callback | None]:
        """Return what is called as it begins, goes on and ends."""
        return {
            "enter": call_of(self, "_enter", self.enter_method),
            "tick": call_of(self, "_tick", self.tick_method, takes_time=True),
            "exit": call_of(self, "_exit", self.exit_method),
        }

    def _condition(self) -> Callback | None:
        """Return what is asked before it may begin: the expression first."""
        asked: list[Callback] = []
        if self.condition:
            expression = GuardExpression(self.condition, f"condition of '{self.get_name()}'")
            asked.append(asking(expression))
        wish = call_of(self, "_can_activate", self.can_activate_method, is_asked=True)
        if wish is not None:
            asked.append(wish)
        return (lambda run: all(one(run) for one in asked)) if len(asked) > 1 else asked[0] if asked else None

    @property
    def _run(self) -> HabitContext | None:
        """Its run, None while it is not active."""
        run = self._known_run
        if run is not None and run.status is core.Status.RUNNING and not run.begins_next:
            return run
        tree = self._tree.core if self._tree is not None and self._tree.is_valid() else None
        for run in active_runs(tree.root_run) if tree is not None else ():
            if run.part is self and not run.begins_next and run is not self._left_run:
                self._known_run = run
                return run
        return None

    def has_left(self, run: HabitContext) -> None:
        """Note a run that is over for whoever is told so now."""
        self._left_run = run

    def _active(self, purpose: str) -> HabitContext:
        if self._run is None:
            raise RefusedValue(f"is not active, so there is nothing to {purpose}; call it in _enter() or _tick()")
        return self._run

    def saved_by_script(self) -> Any:
        """Return what the script wants saved, None if it does not say."""
        return self._save_state() if has_script_method(self, "_save_state") else None

    def take_state(self, of_script: Any) -> None:
        """Go on as a loaded game says, with what the script had saved."""
        self._known_run = None
        if of_script is not None and has_script_method(self, "_load_state"):
            self._load_state(of_script)

    def _python_definition(self, name: str, settings: dict[str, Any]) -> core.Habit:
        module, _, class_name = self.python_class.partition(":")
        spec = spec_of(module)
        if module and spec is None:
            raise ValueError(f"python_class {self.python_class!r} of '{name}': there is no module {module!r}")
        found = None
        if spec is not None and class_name and may_have_class(spec, class_name):     # else it is not even imported
            found = getattr(current_module(module), class_name, None)
        if not (isinstance(found, type) and issubclass(found, core.Habit)):
            raise TypeError(
                f"python_class {self.python_class!r} of '{name}' names no Habit; write \"module:Class\""
                " with a class that extends ai_core.decisions.Habit")
        return found(name, **settings)

    def _get_configuration_warnings(self) -> list[str]:
        above = self.get_parent()
        if above is not None and not (above.is_class("HabitTree") or above.is_class("Habit")):
            return ["is not right below a HabitTree or Habit and never runs; put it there"]
        warnings = launch_warnings(self)
        if self.condition:
            try:
                GuardExpression(self.condition, "condition")
            except RefusedValue as refused:
                warnings.append(str(refused))
        tree = tree_above(self)
        named = [getattr(self, f"{one[1:]}_method") for one in CALLED if one not in self.given]
        return warnings if tree is None else [*warnings, *tree.missing_methods(map(str, named))]


def definitions_below(parent: Any, tree: Any) -> list[core.Habit]:
    """Return what the habits right below a node describe, in the order of the scene dock."""
    return [
        child.definition(tree) for child in parent.get_children() if isinstance(child, Habit) and not child._is_leaving
    ]


def launch_warnings(node: Any) -> list[str]:
    """Return what is missing for a node to launch its children as it says."""
    blocking = [one for one in node.get_children() if isinstance(one, Habit) and not one.non_blocking]
    if node.launch != Habit.Launch.PRIORITIZED and not blocking:
        name = Habit.Launch(node.launch).name.lower()
        return [f"launches its children {name} and has none to launch; add a Habit, or make it prioritized"]
    return []


def tree_above(node: Any) -> Any:
    """Return the HabitTree that a habit stands below, None if there is none."""
    above = node.get_parent()
    while isinstance(above, Habit):
        above = above.get_parent()
    return above if above is not None and hasattr(above, "habits_changed") else None
