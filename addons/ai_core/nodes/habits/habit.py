"""Habit node: a task of a character, below its HabitTree."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    GDObject,
    Node,
    PackedStringArray,
    RefusedValue,
    StringName,
    Variant,
    branch_member,
    export,
    gdclass,
    has_entered,
    hook,
    is_overridden,
    method,
    parent_of,
    read_branch,
    signal,
)
from addons.ai_core.nodes.characters.event_names import misspelt
from addons.ai_core.nodes.characters.guard_expression import GuardExpression, MissingValue
from addons.ai_core.nodes.debugging.chart_words import ChartNode
from addons.ai_core.nodes.debugging.edited_modules import current_module, may_have_class, spec_of, stamp_of
from addons.ai_core.nodes.habits.habit_condition import (
    ENDING,
    ConditionScope,
    HabitCondition,
    both,
    deciding_values,
    keys_of,
    wait,
)
from addons.ai_core.nodes.habits.habit_events import EVENT, EventMind, event_of
from addons.ai_core.nodes.habits.habit_sharing import Callback, callback_for, shared_definition
from addons.ai_core.nodes.saving.node_settings import core_settings, exported_values
from addons.ai_core.nodes.scheduling.scheduler_lookup import check_callable, report_next_frame
from ai_core.decisions.habits import habits as core
from ai_core.decisions.habits.habit_runner_loops import AskPart, HabitContext
from ai_core.decisions.habits.habit_status import FOR_EVER, Launch, Outcome, Status

LAUNCHES, OUTCOMES, RUNNING = tuple(Launch), tuple(Outcome), Status.RUNNING
CALLED = ("_can_activate", "_enter", "_tick", "_exit")
SCORE = "_score"
MOMENTS = (*CALLED, SCORE)


@gdclass(icon="res://addons/ai_core/icons/habit.svg", keywords="behavior, behaviour, task, action, leaf, bt")
class Habit(ChartNode, Node):
    """A task of a character in a HabitTree; its child habits are the smaller tasks it consists of.

    A habit tree is a behaviour tree. To define a habit, extend this class in GDScript or Python and override
    _can_activate(), _enter(), _tick() and _exit(); or name methods of the actor in the inspector; or
    set Callables with set_callable(); or name a Python class "module:Class" that extends
    ai_core.decisions.Habit.
    """

    ON_ANY_SET = "retry_after_edit"

    entered = signal(("reason", str), doc="Emitted when the habit begins; reason says why.")
    exited = signal(("status", int), doc="Emitted when the habit ends: 1 succeeded, 2 failed, 0 interrupted.")

    ConditionScope = ConditionScope

    class Launch(IntEnum):
        PRIORITIZED = 0
        SEQUENTIAL = 1
        RANDOM = 2
        FALLBACK = 3
        UTILITY = 4
    class Status(IntEnum):
        RUNNING = 0
        SUCCEEDED = 1
        FAILED = 2
    class Outcome(IntEnum):
        UNCHANGED = 0
        INVERTED = 1
        ALWAYS_SUCCEEDED = 2
        ALWAYS_FAILED = 3
    launch = export(
        Launch, Launch.PRIORITIZED,
        doc="Launch mode of the child habits. Prioritized: the first that can run. Sequential: one after the other."
            " Random: one drawn by weight. Fallback: one after the other until one succeeds. Utility: the one with the"
            " highest score above 0.")
    inertia = export(
        float, 0.0, range=(0, 10, 0.001), or_greater=True, core="inertia", shown_when=("launch", Launch.UTILITY),
        doc="Smallest lead in score with which another child interrupts the active child.")
    non_blocking = export(
        bool, False, core="non_blocking",
        doc="If true, the habit runs in parallel with its siblings. Its result does not affect the parent; it begins"
            " again when it ends.")
    uninterruptible = export(
        bool, False, core="uninterruptible",
        doc="If true, no sibling interrupts the habit. To protect only part of a run, use hold() and release().")
    weight = export(
        float, 1.0, range=(0.001, 1000, 0.001), core="weight",
        doc="Weight in the draw of a parent with random launch mode.")
    urgency = export(
        float, 0.0, core="urgency",
        doc="The habit breaks the hold() of a sibling if the priority of the hold is below this value.")
    condition = export(
        str, "", group="Condition",
        doc="Expression that must be true for the habit to begin: \"health < 0.3 and has_ammo()\". Names refer to"
            " values of the blackboard, then to properties of the actor; methods are those of the actor. While a name"
            " has no value, the condition is false.")
    condition_scope = export(
        ConditionScope, ConditionScope.INTERRUPTS,
        words=("Gates the beginning", "Ends when false", "Interrupts when true", "Both"),
        doc="Effect of the condition. Gates the beginning: it lets the habit begin once no sibling of lower priority"
            " runs. Ends when false: the habit also fails when the condition becomes false. Interrupts when true: the"
            " habit also interrupts siblings of lower priority. Both: it interrupts and ends.")
    for_at_least = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s",
        doc="Time for which the condition must have been true before the habit begins.")
    for_at_most = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s",
        shown_when=("condition_scope", *ENDING),
        doc="Time for which the condition may be false before the habit ends.")
    wakes_on = export(
        PackedStringArray, PackedStringArray(), core="wakes_on",
        doc="Blackboard keys and messages on which the condition depends: it is checked only after one of them"
            " changes or arrives. Empty: a condition of values of the tree, booleans, numbers and strings, is checked"
            " when one of them changes, and any other condition in every tick.")
    check_interval = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", core="asks_every_s",
        doc="Time between two checks of the condition while a less urgent habit runs; 0 checks in every tick.")
    score = export(
        str, "",
        doc="Expression for the score below a parent with the launch mode Utility, such as \"hunger\" or"
            " \"smoothstep(0, 30, distance) * pow(tiredness, 2)\"; names as in condition. While a name has no value,"
            " the score is 0.")
    begins_on = export(
        PackedStringArray, PackedStringArray(), core="begins_on",
        doc="The habit begins only after one of these messages: of HabitTree.notify(), an event code of the"
            " AIEventManager of the tree, or an event of its sensor such as \"heard\". The condition and target_key of"
            " this habit and of habits below it may read the payload: event.position.")
    remember_for = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s", core="remembers_s",
        doc="Time during which the habit may still begin after such a message, once its condition is true or a hold"
            " ends; 0 allows the next tick only.")
    timeout = export(
        float, 0.0, range=(0, 600, 0.01), or_greater=True, unit="s", group="Times and Results",
        doc="Longest duration of a run; a longer run fails. 0 means no limit.")
    cooldown = export(
        float, 0.0, range=(0, 600, 0.01), or_greater=True, unit="s", core="cooldown_s",
        doc="Time after the end of a run during which the habit cannot begin.")
    repeats = export(
        int, 1, range=(0, 1000, 1), or_greater=True,
        doc="Number of successful runs in a row after which the habit succeeds; 0 repeats without end.")
    retries = export(
        int, 0, range=(-1, 1000, 1), or_greater=True,
        doc="Number of new attempts after a failed run; -1 means no limit.")
    outcome = export(Outcome, Outcome.UNCHANGED, doc="Result that the parent sees when the habit ends.")
    can_activate_method = export(
        StringName, StringName(""), group="Methods of the actor",
        shown_when=("python_class", ""),
        doc="Called without arguments while the habit is pending; it may begin if true is returned.")
    enter_method = export(
        StringName, StringName(""),
        shown_when=("python_class", ""), doc="Called when the habit begins.")
    tick_method = export(
        StringName, StringName(""),
        shown_when=("python_class", ""),
        doc="Called with the elapsed seconds while the habit is active; returns 0 running, 1 succeeded, 2 failed.")
    exit_method = export(
        StringName, StringName(""),
        shown_when=("python_class", ""), doc="Called when the habit ends.")
    python_class = export(
        str, "", group="Python", doc="Python class that runs instead of a script or methods: \"module:Class\".")

    walks = False
    """Whether the habit moves the actor, with its ``speed``, in units of the scene per second."""

    # Not set in a constructor: a call for each of the many habits of a scene.
    _tree: Any = None
    _cached_run: HabitContext | None = None
    _exited_run: HabitContext | None = None
    callables: Mapping[str, Any] = MappingProxyType({})      # Callables of set_callable(), by hook name

    @branch_member
    def on_entered(self) -> None:
        tree = tree_above(self)
        if tree is not None:
            tree.habits_changed()
        else:
            report_next_frame(self, self._misplaced)

    def retry_after_edit(self) -> None:
        """Let a tree that an error in its definition has stopped try again."""
        tree = tree_above(self) if self.is_inside_tree() else None
        if tree is not None and tree.has_failed:
            tree.habits_changed()

    def on_renamed(self) -> None:
        if self._tree is not None and self._tree.is_valid():
            self._tree.on_renamed()

    def on_predelete(self) -> None:
        if self.callables:
            self.callables = {}      # Callables may hold scripts: release them now
        if not has_entered(self):    # otherwise it ends in on_exit_tree, which comes next
            self._tree = self._cached_run = self._exited_run = None    # only a garbage collection would free the tree

    def on_exit_tree(self) -> None:
        tree = self._tree or tree_above(self)    # a tree stopped by an error has not read this node
        if tree is not None and tree.is_valid():
            tree.habit_removed(self)

    @hook
    def _can_activate(self) -> bool:
        """Return whether the habit may begin; called while it is pending."""
        return True

    @hook
    def _enter(self) -> None:
        """Called when the habit begins."""

    @hook
    def _tick(self, elapsed_s: float) -> int:
        """Called while the habit is active; return STATUS_RUNNING, STATUS_SUCCEEDED or STATUS_FAILED."""
        return 0

    @hook
    def _exit(self) -> None:
        """Called when the habit ends, whether it succeeded, failed or was interrupted."""

    @hook
    def _score(self) -> float:
        """Return the score below a parent with the launch mode Utility, if ``score`` is empty."""
        return 0.0

    @hook
    def _save_state(self) -> Variant:
        """Return the values of the script's own variables, to be saved with the tree."""

    @hook
    def _load_state(self, state: Variant) -> None:
        """Restore the value that _save_state() returned; called after the whole tree is loaded."""

    @method
    def set_callable(self, moment: str, callback: GDCallable) -> None:
        """Replace the script method "can_activate", "enter", "tick", "exit" or "score" of the habit by a Callable.

        The Callable takes the arguments of the script method and returns the same values. If the tree
        runs, the change takes effect as with HabitTree.rebuild().
        """
        if f"_{moment}" not in MOMENTS:
            raise RefusedValue(f"moment must be one of {[one[1:] for one in MOMENTS]}, got {moment!r}")
        check_callable(callback, "set_callable()")
        self.callables = {**self.callables, f"_{moment}": callback}
        if self._tree is not None and self._tree.is_valid():
            self._tree.rebuild()

    @method
    def get_actor(self) -> GDObject:
        """Return the actor of the HabitTree: the character."""
        return self._tree.actor_node() if self._tree is not None else None

    @method
    def get_habit_tree(self) -> GDObject:
        """Return the HabitTree that the habit belongs to."""
        return self._tree

    @method
    def is_active(self) -> bool:
        """Return whether the habit is active."""
        return self._run is not None

    @method
    def get_time_in_habit(self) -> float:
        """Return the game time since the habit began (s), 0 if it is not active."""
        run = self._cached_run
        if run is None or run.status is not RUNNING or run.begins_next:
            run = self._run
        return 0.0 if run is None else run.time_in_habit_s

    @method
    def get_reason(self) -> str:
        """Return why the habit began, "" if it is not active."""
        return self._run.reason if self._run is not None else ""

    @method
    def hold(self, priority: float = math.inf) -> None:
        """Protect the habit from its siblings until release(), except from those with an urgency above ``priority``."""
        if self._run is None:
            raise RefusedValue("is not active and cannot hold; call hold() in _enter() or _tick()")
        self._run.hold(None if math.isinf(priority) else priority)

    @method
    def release(self) -> None:
        """End the hold(); does nothing without one."""
        if self._run is not None:
            self._run.release()

    @method
    def wait_s(self, seconds: float) -> None:
        """Do not call _tick() again before ``seconds`` of game time have passed; call this in _enter() or _tick()."""
        wait(self._active("wait"), seconds)

    @method
    def wait_for(self, names: PackedStringArray, at_most_s: float = 0.0) -> None:
        """Do not call _tick() again until one of ``names`` is sent as a message or changes on the blackboard.

        The wait also ends after ``at_most_s`` of game time (s); 0 means no limit. Call this in _enter() or _tick().
        """
        run = self._active("wait")
        try:
            wait(run, at_most_s or None, tuple(names))
        except ValueError as problem:
            raise RefusedValue(str(problem)) from None

    @method
    def get_woken_by(self) -> str:
        """Return the name that ended the last wait_for(), "" if the time limit ended it."""
        return self._run.woken_by if self._run is not None else ""

    @method
    def get_payload(self, message: str) -> Variant:
        """Return the payload of a message, in the tick in which the habit receives it; otherwise null."""
        return self._run.payload_of(message) if self._run is not None else None

    @method
    def get_event(self) -> Variant:
        """Return the payload of the message in begins_on on which the habit, or one above it, began; else null."""
        return event_of(self._run) if self._run is not None else None

    def gate_keys(self) -> tuple[str, ...] | None:
        """Return the values that alone decide ``may_begin``; empty if others decide, None if it is not called."""
        return None

    REFUSAL = "may_begin() returned false"
    """Why a built-in habit does not begin, if ``may_begin`` returned false."""

    gate: Callable[[dict[str, Any]], bool | None] | None = None
    """Called with the blackboard before ``may_begin``, see ``AskPart``; None for nothing."""

    def may_begin(self, run: HabitContext) -> bool:
        """Return whether a built-in habit may begin, apart from its condition; called only with ``gate_keys``."""
        return True

    def messages(self) -> list[str]:
        """Return the names on which the habit begins, wakes or waits by its properties."""
        return [*self.begins_on, *self.wakes_on]

    def definition(self, said: tuple[Any, ...], below: list[core.Habit]) -> core.Habit:
        """Return the library habit that this node describes; nodes with equal settings share it.

        Args:
            said: of ``HabitBranch``.
            below: the library habits of its children.
        """
        try:
            return shared_definition(said, below, self._new_definition)
        except (TypeError, ValueError) as mistake:
            raise ValueError(f"{self._tree.get_name()}/{self._tree.get_path_to(self)}: {mistake}") from None

    def note_tree(self) -> None:
        """Take note that a tree reads this node again, or another tree."""

    def _new_definition(self, children: list[core.Habit]) -> core.Habit:
        made = self._described(children)
        made.__dict__["messages"] = tuple(self.messages())
        return made

    def _described(self, children: list[core.Habit]) -> core.Habit:
        settings: dict[str, Any] = {
            **core_settings(self),
            "children": children,
            "launch": LAUNCHES[self.launch],
            "timeout_s": self.timeout or math.inf,
            "repeats": self.repeats or FOR_EVER,
            "retries": FOR_EVER if self.retries < 0 else self.retries,
            "outcome": OUTCOMES[self.outcome],
        }
        name = str(self.get_name())
        score = self._score_callback(name)
        if score is not None:
            settings["score"] = score
        if self.python_class:
            return self._python_definition(name, settings)
        wish = callback_for(self, "_can_activate", self.can_activate_method, is_asked=True)
        refuser = "" if wish is None else self._asked_script()
        keys = self.gate_keys()
        if keys is not None:
            settings["wakes_on"] = settings["wakes_on"] or (
                keys if wish is None and score is None and not self.condition else ())
            wish = ASK_PART if wish is None else both(ASK_PART, self.REFUSAL, wish, refuser)
            refuser = "" if refuser else self.REFUSAL
        callbacks = self.callbacks()
        if not self.condition:
            made = core.Habit(name, **settings, can_activate=wish, **callbacks)
            made.__dict__["refuser"] = refuser
            return made
        return self._conditional_definition(name, settings, wish, refuser, callbacks)

    def _asked_script(self) -> str:
        """Return who is asked whether the habit may begin, and refused, in words."""
        if "_can_activate" in self.callables:
            return "its Callable can_activate returned false"
        if self.can_activate_method:
            return f"{self.can_activate_method}() of the actor returned false"
        return "_can_activate() returned false"

    def _conditional_definition(
        self, name: str, settings: dict[str, Any], wish: Callback | None, refuser: str,
        callbacks: dict[str, Callback | None],
    ) -> core.Habit:
        """Return the library habit with the condition of the inspector."""
        expression = GuardExpression(self.condition, f"condition of '{name}'")
        condition = HabitCondition(
            expression, self.condition_scope, self._keys(), self.for_at_least, self.for_at_most)
        if wish is None and not (settings["wakes_on"] or settings["asks_every_s"] or "score" in settings):
            settings["wakes_on"] = condition.keys
        if settings["wakes_on"] and not settings["asks_every_s"]:
            settings["asks_every_s"] = self.for_at_least       # asked again once it has been true for long enough
        callbacks["tick"] = condition.ends(callbacks.get("tick"))
        made = core.Habit(
            name, **settings, can_activate=condition.gate(wish, refuser), **callbacks)
        made.__dict__.update(condition=condition, refuser=refuser)
        return made

    def _score_callback(self, name: str) -> Callback | None:
        """Return the callback for the score: of the expression, else of the script; None without one."""
        if not self.score:
            return callback_for(self, SCORE, "", is_asked=True)
        expression = GuardExpression(self.score, f"score of '{name}'")

        def score(run: HabitContext) -> object:
            mind = EventMind(run) if EVENT in expression.names else run.owner
            try:
                value = expression.value(mind)
            except MissingValue as missing:
                expression.warn_once(missing, "the score is 0 until then", run.owner)
                return 0.0
            if type(value) not in (int, float):
                raise RefusedValue(f"score of '{run.path}' must be a number, got {value!r}")
            return value

        return score

    def _keys(self) -> tuple[str, ...]:
        """Return the values of the tree that alone decide the condition; empty if others decide as well."""
        return keys_of(self.condition, self._tree) if self.condition and not self.python_class else ()

    def callbacks(self) -> dict[str, Callback | None]:
        """Return the callbacks for the beginning, the ticks and the end of the habit."""
        return {
            "enter": callback_for(self, "_enter", self.enter_method),
            "tick": callback_for(self, "_tick", self.tick_method, takes_time=True),
            "exit": callback_for(self, "_exit", self.exit_method),
        }

    @property
    def _run(self) -> HabitContext | None:
        """The present run, None while the habit is not active."""
        run = self._cached_run
        if run is not None and run.status is RUNNING and not run.begins_next:
            return run
        tree = self._tree.core if self._tree is not None and self._tree.is_valid() else None
        for run in tree.active_runs() if tree is not None else ():
            if run.part is self and not run.begins_next and run is not self._exited_run:
                self._cached_run = run
                return run
        return None

    def note_exited(self, run: HabitContext) -> None:
        """Note the run that ends, before the signal ``exited`` is emitted."""
        self._exited_run = run

    def _active(self, purpose: str) -> HabitContext:
        if self._run is None:
            raise RefusedValue(f"is not active and cannot {purpose}; call it in _enter() or _tick()")
        return self._run

    def script_state(self) -> Any:
        """Return the state that the script saves, None if it has no _save_state()."""
        return self._save_state() if is_overridden(self, "_save_state") else None

    def load_script_state(self, of_script: Any) -> None:
        """Restore the saved state of the script."""
        self._cached_run = None
        if of_script is not None and is_overridden(self, "_load_state"):
            self._load_state(of_script)

    def _python_definition(self, name: str, settings: dict[str, Any]) -> core.Habit:
        mistake = self._python_class_mistake()
        if not mistake:
            module, _, class_name = self.python_class.partition(":")
            found = getattr(current_module(module), class_name, None)
            if isinstance(found, type) and issubclass(found, core.Habit):
                return found(name, **settings)
        raise ValueError(f"python_class {self.python_class!r} of '{name}'{mistake or NO_HABIT_CLASS}")

    def _python_class_mistake(self) -> str:
        """Return what is wrong with python_class, as far as is known without importing its module; "" if nothing."""
        module, _, class_name = self.python_class.partition(":")
        spec = spec_of(module)
        if module and spec is None:
            return (f": there is no module {module!r}; it must be \"module:Class\", with module.py beside"
                    " project.godot")
        is_known = spec is not None and class_name and may_have_class(spec, class_name)
        return "" if is_known else NO_HABIT_CLASS

    def expression_errors(self) -> Iterator[str]:
        """Yield why the expressions of the habit cannot be parsed."""
        for name in ("condition", "score"):
            try:
                if text := getattr(self, name):
                    GuardExpression(text, f"{name} of '{self.get_name()}'")
            except RefusedValue as refused:
                yield str(refused)

    def _misplaced(self) -> list[str]:
        above = self.get_parent()
        if above is None or above.is_class("HabitTree") or above.is_class("Habit"):
            return []
        return ["is not a child of a HabitTree or Habit and never runs; make it a child of one"]

    def _get_configuration_warnings(self) -> list[str]:
        if misplaced := self._misplaced():
            return misplaced
        warnings = [*launch_warnings(self), *self.expression_errors(), *misspelt(self.messages())]
        if self.python_class and (mistake := self._python_class_mistake()):
            warnings.append(f"python_class {self.python_class!r}{mistake}")
        tree = tree_above(self)
        named = [getattr(self, f"{one[1:]}_method") for one in CALLED if one not in self.callables]
        return warnings if tree is None else [*warnings, *tree.missing_methods(map(str, named))]


NO_HABIT_CLASS = " is not a Habit class; write \"module:Class\" with a class that extends ai_core.decisions.Habit"

ASK_PART = AskPart()
"""The condition of a built-in habit with ``gate_keys``."""


class HabitBranch:
    """The habit nodes below a HabitTree, which have taken note of it.

    Attributes:
        nodes: the nodes by path below the tree, in scene order.
        said: all that decides about their definitions besides the children, by path: class, name, instance id and
            ``MOMENTS`` of the script, deciding values of the tree, stamp of the Python class, Callables, exports. A
            reference to the script would keep it alive beyond the game.
    """

    def __init__(self, tree: Any) -> None:
        deciding = deciding_values(tree)
        self.nodes: dict[str, Habit] = {}
        self.said: dict[str, tuple[Any, ...]] = {}
        paths: list[str] = []
        for habit, above, name, script, methods in read_branch(tree, Habit, MOMENTS):
            path = name if above < 0 else f"{paths[above]}/{name}"
            paths.append(path)
            if not has_entered(habit):
                continue
            if habit._tree is not None:
                habit.note_tree()
            habit._tree = tree
            python_class = habit.python_class
            edited = stamp_of(python_class.partition(":")[0]) if python_class else None
            self.nodes[path] = habit
            self.said[path] = (
                type(habit), name, script, methods, deciding, edited, tuple(habit.callables), exported_values(habit))

    def definitions(self) -> list[core.Habit]:
        """Return the library habits of the topmost nodes."""
        below: dict[str, list[core.Habit]] = {}
        for path, habit in reversed(self.nodes.items()):        # those below come first
            made = habit.definition(self.said[path], below.get(path, [])[::-1])
            below.setdefault(path.rpartition("/")[0], []).append(made)
        return below.get("", [])[::-1]


def launch_warnings(node: Any) -> list[str]:
    """Return a warning if a node has no children for its launch mode."""
    if node.launch == Habit.Launch.PRIORITIZED:
        return []
    if all(one.non_blocking for one in node.get_children() if isinstance(one, Habit)):
        name = Habit.Launch(node.launch).name.lower()
        return [f"has the launch mode {name} but no child habit to launch; add a Habit, or use prioritized"]
    return []


def tree_above(node: Any) -> Any:
    """Return the HabitTree above a habit, None if there is none."""
    above = parent_of(node)
    while isinstance(above, Habit):
        above = parent_of(above)
    return above if hasattr(type(above), "habits_changed") else None      # asking an object of the engine is dear
