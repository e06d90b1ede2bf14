"""HabitTree node: runs the habits of one character. A habit tree is a behaviour tree."""
from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter_ns
from types import NoneType
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    GDObject,
    Node,
    NodePath,
    NodeRow,
    PackedStringArray,
    RefusedValue,
    StringName,
    Variant,
    Vector2,
    Vector3,
    export,
    gdclass,
    get_object,
    has_child,
    listeners_counter,
    method,
    node_path,
    read_branch,
    reads_branch,
    report_error,
    report_exception,
    signal,
)
from addons.ai_core.nodes.characters.agent_places import is_in_2d
from addons.ai_core.nodes.characters.blackboard_scopes import scopes_of
from addons.ai_core.nodes.characters.character_work import ACTOR_DOC, CharacterComponent
from addons.ai_core.nodes.characters.event_names import report_misspelt
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from addons.ai_core.nodes.characters.sensor_feed import VALUES
from addons.ai_core.nodes.characters.update_group import HABIT_TREES, UpdateGroup, update_group_of
from addons.ai_core.nodes.debugging.chart_words import ChartNode
from addons.ai_core.nodes.events.ai_event_manager import GROUP as MANAGERS
from addons.ai_core.nodes.habits.habit import LAUNCHES, Habit, HabitBranch, launch_warnings
from addons.ai_core.nodes.habits.habit_events import EventSubscription, payload_of
from addons.ai_core.nodes.habits.habit_sharing import (
    LateRandom,
    emit_entered,
    emit_exited,
    messages_of,
    shared_definition,
    shared_tree,
)
from addons.ai_core.nodes.saving.node_state import SavedState, prepared_scripts, saved_scripts
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.named_nodes import named_node, why_not_named
from addons.ai_core.nodes.scheduling.scheduler_lookup import (
    check_callable,
    nearest,
    report_next_frame,
    scheduler_of,
    scheduler_warnings,
    stop_waiting,
    wait_for,
)
from addons.ai_core.nodes.walking.held_walks import HeldWalks
from addons.ai_core.nodes.walking.walking_crowd import WalkingActor
from ai_core.decisions.blackboard import Blackboard, Watch
from ai_core.decisions.habits import habit_tree as core
from ai_core.decisions.habits.habit_plan import plan_of
from ai_core.decisions.habits.habits import Habit as HabitDefinition
from ai_core.events.event import Event
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part
from ai_core.saving.fields import State, checked_dict
from ai_core.scheduling.task import MAX_PERIOD_FRAMES

STRING_TYPES = (str, StringName)


def _kinds_of(value: Any) -> Any:
    """Return the types that a value with this initial value may take; None for any. A place may be null: none."""
    if value is None or isinstance(value, GDObject):
        return None
    if isinstance(value, (Vector2, Vector3)):
        return type(value), NoneType
    return STRING_TYPES if isinstance(value, STRING_TYPES) else type(value)


def watch_with_callable(tree: Any, own: Blackboard, key: str, callback: Any) -> Watch:
    """Watch a value; errors of the callback are reported, and the watch ends when its object is freed."""

    def call(key: str, value: Any) -> None:
        if isinstance(callback, GDCallable) and not callback.is_live():
            tree.unwatch_value(key, callback)
            return
        try:
            callback(key, value)
        except Exception as error:  # the other watchers are still called
            report_exception(error, f"the callback that watches {key!r}", tree)

    return own.watch(key, call)


@contextmanager
def refusing_values() -> Iterator[None]:
    """Raise errors about unknown scopes and wrong types of values as RefusedValue."""
    try:
        yield
    except LookupError as problem:
        raise RefusedValue(f"{problem}; the scopes are \"world\", and \"squad\" if squad is set") from None
    except TypeError as problem:
        raise RefusedValue(str(problem)) from None


SIGNALS, HABIT_SIGNALS = ("habit_entered", "habit_exited"), ("entered", "exited")


@gdclass(icon="res://addons/ai_core/icons/habit_tree.svg", keywords="behavior tree, behaviour tree, bt, utility ai")
class HabitTree(ChartNode, CharacterComponent, SavedState, Node):
    """Runs the habits below it for one character, through the AIScheduler. A habit tree is a behaviour tree.

    The first child is the most urgent. When it can begin, the active habit is interrupted and
    becomes pending again.
    """

    Launch = Habit.Launch
    ON_ANY_SET = "retry_after_edit"

    launch = export(
        Habit.Launch, Habit.Launch.PRIORITIZED,
        doc="Launch mode of the child habits; see Habit.launch.")
    inertia = export(
        float, 0.0, range=(0, 10, 0.001), or_greater=True, shown_when=("launch", Habit.Launch.UTILITY),
        doc="Smallest lead in score with which another child interrupts the active child.")
    actor = export(
        NodePath, NodePath(".."), on_set="_actor_set",
        doc=ACTOR_DOC + " All habits end when it changes; within a callback of the tree, after the tick.")
    enabled = export(bool, True, on_set="_enable", live=True, doc="If false, all habits end and none begins.")
    period = export(
        int, 1, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule", live=True,
        doc="Frames from one tick of the tree to the next, and between updates of the values of its sensor.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", live=True,
        doc="Weight of the tree when the budget is shared out.")
    events = export(
        NodePath, NodePath(""), hint=node_path("AIEventManager"), group="Events", on_set="_listen",
        doc="AIEventManager whose events notify habits that name their code in begins_on, wakes_on or until_notified."
            " Empty: the nearest one, above the tree or anywhere under the same AIScheduler.")
    squad = export(
        str, "", group="Blackboard", on_set="_join_scopes",
        doc="Name of the squad. Trees of a squad share the values of the scope \"squad\"; all trees share those of"
            " \"world\". Empty is no squad.")
    values = export(
        dict, {}, on_set="_values_set",
        doc="Initial values of the blackboard: {\"health\": 1.0}. A value keeps the type it has here; null, and values"
            " that a sensor writes, allow any type. If set while the tree runs, new keys are added and existing values"
            " stay.")
    random_seed = export(
        int, 0, group="Debug",
        doc="Seed of random launches; 0 derives it from the path of the node, so that runs are repeatable.")

    habit_entered = signal(("path", str), ("reason", str), doc="Emitted when a habit begins; reason says why.")
    habit_exited = signal(
        ("path", str), ("status", int), doc="Emitted when a habit ends: 1 succeeded, 2 failed, 0 interrupted.")

    STATE = DeclaredState(settings=Hook(), tree=Part(at="core"), scripts=Hook())
    cannot_load = "the tree does not run; it needs an actor, habits and an AIScheduler"
    parts_noun, kept_of_others = "habits", "its settings and blackboard"

    def __init__(self) -> None:
        self.core: core.HabitTree | None = None
        self._probe: Any = None
        # By index of the place, what the last asking gave: of conditions that call methods, and who refused otherwise.
        self.condition_answers: dict[int, bool] = {}
        self.refusals: dict[int, str] = {}
        self._scheduler: Any = None
        self._update_group: UpdateGroup | None = None
        self._actor: Any = None
        self._blackboard = Blackboard(name="character")
        self._watching: dict[tuple[str, Any], Watch] = {}
        self._is_changed = self._is_empty = self.has_failed = self._has_new_actor = False
        self._subscription: EventSubscription | None = None
        self._messages: frozenset[str] = frozenset()      # that habits name
        self.walker = WalkingActor()

    def _actor_set(self) -> None:
        before = self._actor
        if before is not None and before.is_valid() and self.found_actor() != before:
            self.stop_habits()      # with the actor for which they began
            if self.core is not None and self.core.is_busy and self._update_group is not None:
                self._has_new_actor = True          # they end after the tick
                self._update_group.edit_soon(self)
                return
        self.retry_after_edit()

    def retry_after_edit(self) -> None:
        """Start a tree again that an error stopped, after a property was set; the actor may have changed."""
        self._look_for_actor()
        if self.has_failed:
            self.habits_changed()

    @reads_branch
    def on_entered(self) -> None:
        if self.core is not None:       # an AIEventManager has entered the tree
            self._listen()
            return
        self._actor = None
        self._is_empty = not has_child(self, Habit)
        if self._is_empty:
            self.call_deferred("rebuild")     # a script that builds the tree adds habits next
        else:
            self._begin()

    def on_renamed(self) -> None:
        if self.core is not None and not self.core.is_active:    # otherwise active habits would end
            self.habits_changed()

    def on_predelete(self) -> None:
        self.release_values()

    def on_exit_tree(self) -> None:
        self._unlisten()
        self._leave_update_group()
        if self.core is not None:
            self.core.stop()
            self.core.parts.drop(self)
            self.core.let_go()
        self.end_feed()
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self._blackboard.parent = None
        self.walker.leave(self)
        self.core = self._scheduler = None

    @method
    def get_active_paths(self) -> PackedStringArray:
        """Return the paths of the active habits that have no active habit below them."""
        return PackedStringArray(self.core.active_paths() if self.core is not None else [])

    @method
    def to_text(self) -> str:
        """Return which habits are active and which are pending, and why; one line per habit."""
        return self.core.to_text(self.why_refused) if self.core is not None else "not running"

    def why_refused(self, place: Any) -> str:
        """Return why a pending habit that was asked did not begin, with the values that decide; "" if unknown."""
        core, condition = self.core, place.habit.__dict__.get("condition")
        if core is None:
            return ""
        refused = self.refusals.get(place.index) or place.habit.__dict__.get("refuser", "")
        if condition is None:
            return str(refused)
        why = condition.why_false(
            self, core.parts[place.index], core.kept_at(place.index), self.condition_answers.get(place.index))
        return str(why) or (f"condition `{condition.text}` is true, but {refused}" if refused else "")

    def follow(self, probe: Any) -> None:
        """Report habits that begin and end to a probe of the debugger, and measure them; None ends it.

        Args:
            probe: has ``entered(run)`` and ``exited(run)``, which call ``emit_entered`` and ``emit_exited``.
        """
        self._probe = probe
        if self.core is not None:
            self._connect_core(self.core)

    def _connect_core(self, tree: core.HabitTree) -> None:
        probe = self._probe
        tree.on_entered = emit_entered if probe is None else probe.entered
        tree.on_exited = emit_exited if probe is None else probe.exited
        tree.listening = self.has_listeners if probe is None else None
        tree.listening_counter = listeners_counter if probe is None else None
        tree.stopwatch = None if probe is None else perf_counter_ns
        tree.spent_ns = {}

    @method
    def stop_habits(self) -> None:
        """End all active habits, children first; the next tick starts from the root."""
        if self.core is not None:
            self.core.stop()

    @method
    def rebuild(self) -> None:
        """Read the habits below again: habits with unchanged settings continue, the others end first.

        Within a callback or signal of this tree, the change takes effect after the tick. Call this after
        setting properties of habits while the scene runs; adding and freeing habits needs no call.
        """
        if self.core is None:
            if self.is_inside_tree():
                self._is_empty = not has_child(self, Habit)
                self._begin()
        else:
            self._is_changed = True
            self.edit()

    @method
    def release_quarantined(self) -> None:
        """Release the habits that were quarantined after three failures in a row."""
        if self.core is not None:
            self.core.release_quarantined()

    @method
    def notify(self, message: str, payload: Variant = None) -> None:
        """Send a message with a payload to the habits that begin on it, wake on it or wait for it."""
        if self.core is None:
            raise RefusedValue(self.why_idle(f"receive {message!r}"))
        self.core.notify(message, payload)

    @method
    def is_asleep(self) -> bool:
        """Return whether all habits wait for a message or a change; the tree then costs nothing."""
        return self.core is not None and self.core.wakes_at_s == math.inf

    save_state, load_state = saving("active habits, holds, the blackboard and the states that scripts of habits save")

    def is_in_use(self) -> bool:
        self.edit()         # what a script has added, freed or renamed since the last tick
        return self.core is not None

    def _parts(self, state: State) -> tuple[Iterable[str], Iterable[str]]:
        return checked_dict("scripts", state.get("scripts")), self._habits_by_path()

    def _prepared_of_others(self, state: State) -> Change:
        change, board = self.STATE.prepare(self, state, without=("tree", "scripts")), self._blackboard
        saved = self.core.read_blackboard(checked_dict("tree", state["tree"]).get("blackboard"), "tree.blackboard")
        fitting = {key: value for key, value in (saved or {}).items() if board.takes(key, value)}
        return lambda: [change(), board.replace_values({**board, **fitting})()]

    def _save_scripts(self) -> State:
        return saved_scripts(self, self._habits_by_path())

    def _prepare_scripts(self, plain: object, place: str) -> Change:
        return prepared_scripts(self, self._habits_by_path(), plain, place)

    def _finish_load(self) -> None:
        self.walks.was_loaded(self, self._habits_by_path().values())
        self._update_schedule()
        self.feed_was_loaded()

    def _habits_by_path(self) -> dict[str, Habit]:
        """Return every habit node below, by its path in the tree of habits."""
        found: dict[str, Habit] = {}
        paths: list[str] = []
        root = self._root_name()
        for habit, above, name, _, _ in read_branch(self, Habit):
            paths.append(f"{root if above < 0 else paths[above]}/{name}")
            found[paths[-1]] = habit
        return found

    def _root_name(self) -> str:
        """Return the name of the root habit: that of the node, or of the class if the engine generated the name.

        Trees with different names share no definition.
        """
        name = str(self.get_name())
        return "HabitTree" if name.startswith("@") else name

    def _definition_warnings(self) -> list[str]:
        """Return the warnings without which the tree runs."""
        if has_child(self, Habit):
            return [*launch_warnings(self), *self.actor_warnings()]
        return ["has no Habit below it and does nothing; add a Habit", *self.actor_warnings()]

    def _get_configuration_warnings(self) -> list[str]:
        return [*self._definition_warnings(), *scheduler_warnings(self), *self.sensor_warnings(),
                *self._event_warnings()]

    def _begin(self) -> None:
        self.has_failed = False
        self._scheduler = scheduler_of(self)
        self._actor = self.found_actor()
        if self._is_empty or self._actor is None or launch_warnings(self):
            report_next_frame(self, lambda: [] if self.core is not None else self._definition_warnings())
            self.has_failed = True
            return
        if self._scheduler is None:
            return
        self._join_scopes()
        if self.values:
            self.declare_values()
        if self.sensor:
            self.begin_feed()
        try:
            root, parts = self._definition()
        except Exception as mistake:
            self._report_definition_error(mistake, is_new=True)
            return
        path = str(self.get_path())
        self.core = core.HabitTree(
            root, owner=self, name=path, clock=self._scheduler.clock, random=LateRandom(self.random_seed, path),
            trace=self._scheduler.trace, faults=self._scheduler.faults, blackboard=self._blackboard,
            values=self._scheduler.values, parts=parts)
        self._connect_core(self.core)
        self._scheduler.join(self)
        self._reschedule()
        if self._messages or self.events:
            self._listen()

    def _listen(self) -> None:
        """Listen to the event codes that habits name."""
        if self.core is None or not self.is_inside_tree():
            return
        names = self._messages
        if not names and not self.events:
            self._unlisten()
            return
        wait_for(self, MANAGERS)        # for this one where it enters after this tree, or a nearer one
        manager = named_node(self, "events") if self.events else nearest(
            self, "AIEventManager", MANAGERS, self._may_hear)
        is_manager = manager is not None
        report_misspelt(self, names, manager._look_up_codes() if is_manager and manager.is_present else ())
        if not is_manager or not names or not manager.is_present:
            self._end_subscription()
            if self.events and not is_manager:
                report_next_frame(self, self._event_warnings)
            return
        if self._subscription is None or not self._subscription.is_at(manager):
            self._end_subscription()
            self._subscription = EventSubscription(manager, self.on_event)
        self._subscription.listen(names)

    def _may_hear(self, manager: Any) -> bool:
        """Return whether a manager is above this tree, or of its world: under the same outermost AIScheduler."""
        if manager.is_ancestor_of(self):
            return True
        scheduler = get_object(getattr(manager, "runs_under", 0))
        return scheduler is not None and scheduler.top == self._scheduler.top

    def _unlisten(self) -> None:
        stop_waiting(self, MANAGERS)
        self._end_subscription()

    def _end_subscription(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            subscription.end()

    def on_event(self, event: Event) -> None:
        """Notify the habits of an event of the AIEventManager."""
        if self.core is not None:
            self.core.notify(event.code, payload_of(event, is_flat=is_in_2d(self.actor_node())))

    on_event.takes_event = True  # type: ignore[attr-defined]

    def _event_warnings(self) -> list[str]:
        why = why_not_named(self, "events")
        return [why] if why else []

    def _definition(self) -> tuple[HabitDefinition, Any]:
        """Return the definition that the nodes describe, and the row of nodes in its order."""
        name = self._root_name()
        branch = HabitBranch(self)
        habits, launch, inertia = branch.nodes, self.launch, self.inertia
        root = shared_tree((name, int(launch), inertia, *branch.said.items()), lambda: shared_definition(
            (name, launch, inertia), branch.definitions(),
            lambda children: HabitDefinition(name, children, LAUNCHES[launch], inertia=inertia)))
        self._is_changed = False
        plan = plan_of(root)
        places, self._messages = plan.places, messages_of(plan)
        speeds: list[float] = [one.speed for one in habits.values() if one.walks]
        if self._actor is None or not self._actor.is_valid():
            self._actor = self.found_actor()
        self.walker.take(self, self._actor, max(speeds, default=0.0))
        nodes: list[Any] = [self, *habits.values()]
        if len(nodes) != len(places):        # a Python class defines habits below its own
            nodes = [self, *[habits.get(place.path.removeprefix(f"{name}/")) for place in places[1:]]]
        return root, NodeRow(nodes, [SIGNALS, *[HABIT_SIGNALS] * (len(nodes) - 1)])

    def _change(self) -> None:
        core = self.core
        assert core is not None
        core.change(*self._definition())
        self._listen()

    @property
    def walks(self) -> HeldWalks:
        """The walks that go on between turns, under the AIScheduler of the tree."""
        walks: HeldWalks = self._scheduler.walks
        return walks

    @property
    def group_member(self) -> core.HabitTree | None:
        """The library tree, as its update group holds it; None while it does not run."""
        return self.core

    def may_run_group(self) -> bool:
        """Return whether the task that updates the trees is neither paused nor quarantined."""
        return self._update_group is not None and bool(self._update_group.task._may_run)

    def has_listeners(self) -> bool | None:
        """Return whether something is connected to a signal of this tree or its habits; see ``NodeRow``."""
        return self.core is not None and self.core.parts.has_listeners(self.core.seconds)

    def habit_removed(self, habit: Habit) -> None:
        """Remove a habit below; an active habit ends first."""
        core = self.core
        if core is not None:
            if core.runs_part(habit):
                core.end_part(habit)
            core.parts.drop(habit)
        self.habits_changed()

    def habits_changed(self) -> None:
        """Read the habits below again, after a habit was added or removed."""
        if self.core is None:
            if self._is_empty or self.has_failed:
                self._is_empty = self.has_failed = False
                self.call_deferred("rebuild")
            return
        if not self._is_changed:
            self._is_changed = True
            if self._update_group is not None:
                self._update_group.edit_soon(self)

    def edit(self) -> None:
        """Take another actor, and change to the definition that the nodes below describe now."""
        if self._has_new_actor and self.core is not None and not self.core.is_busy:
            self._has_new_actor = False
            self._look_for_actor()
        if self.core is None or not self._is_changed:
            return
        try:
            self._change()
        except Exception as mistake:      # the other trees still run
            self.core.stop()
            self._leave_update_group()
            self._unlisten()
            self.core = None
            self._report_definition_error(mistake)

    def _report_definition_error(self, mistake: Exception, *, is_new: bool = False) -> None:
        """Report why the nodes below describe no valid tree; the tree tries again when one of them changes.

        For a new tree the report comes in the next frame: the script that builds it may not have finished.
        """
        self.has_failed = True
        if isinstance(mistake, (ValueError, TypeError)):
            habits = self.find_children("*", "Habit", True, False)
            others = [error for one in habits for error in one.expression_errors() if error not in str(mistake)]
            said = "; ".join([f"does not run: {mistake}", *others])
            if is_new:
                report_next_frame(self, lambda: [] if self.core is not None else [said])
            else:
                report_error(said, self)
        else:
            report_exception(mistake, "reading its habits (the tree does not run)", self)

    def _join_scopes(self) -> None:
        if self._scheduler is not None:
            self._blackboard.parent = scopes_of(self._scheduler).around(self.squad)

    def on_paused(self) -> None:
        self._enable()

    def on_unpaused(self) -> None:
        self._enable()

    def _reschedule(self) -> None:
        if self.core is None:
            return
        self._update_group = self._update_group or update_group_of(self._scheduler, HABIT_TREES)
        self._update_schedule()

    def _enable(self) -> None:
        if not self.enabled and self.core is not None:
            self.core.stop()
        self._update_schedule()

    def _update_schedule(self) -> None:
        """Join the update group with the period of the tree; rest while it is disabled or paused."""
        if self._update_group is None or self.core is None:
            return
        self._update_group.join(self, is_resting=not (self.enabled and self.can_process()))
        self._set_feed_period()
        if self._is_changed or self._has_new_actor:
            self._update_group.edit_soon(self)

    def _leave_update_group(self) -> None:
        if self._update_group is not None:
            self._update_group.leave(self)
            self._update_group = None

    def release_values(self) -> None:
        """Release watches and values, which may hold scripts, without calling the watchers."""
        for watch in self._watching.values():
            watch.cancel()
        self._watching.clear()
        self._chooser = None
        dict.clear(self._blackboard)

    @method
    def set_value(self, key: str, value: Variant, scope: str = "") -> None:
        """Write a value to the character's blackboard, or to that of a shared scope: "squad" or "world".

        Objects are kept as well, but a save is refused while the blackboard has one that is no node.
        """
        with refusing_values():
            (self._blackboard.scope(scope) if scope else self._blackboard)[key] = value

    @method
    def get_value(self, key: str, default_value: Variant = None) -> Variant:
        """Return a value of the character's blackboard, else of its squad's, else of the world's, else the default.

        Returns null for an object that was freed.
        """
        value = dict.get(self._blackboard, key, ABSENT)      # its own values take no call of a Blackboard
        if value is ABSENT:
            value = self._blackboard.get(key, default_value)
        return None if isinstance(value, GDObject) and not value.is_valid() else value

    @method
    def watch_value(self, key: str, callback: GDCallable) -> None:
        """Call ``callback(key, value)`` whenever a value of the character, its squad or the world changes.

        A repeated call with the same key and callback has no further effect. The watch ends with
        unwatch_value(), or when the object of the callback is freed.
        """
        check_callable(callback, "watch_value()")
        self.unwatch_value(key, callback)
        self._watching[key, callback] = watch_with_callable(self, self._blackboard, key, callback)

    @method
    def unwatch_value(self, key: str, callback: GDCallable) -> None:
        """End a watch_value(); does nothing without one."""
        watch = self._watching.pop((key, callback), None)
        if watch is not None:
            watch.cancel()

    def known(self, name: str) -> Any:
        """Return a value of the blackboard for an expression, ABSENT if there is none."""
        return self.get_value(name, ABSENT)

    @property
    def fed_blackboard(self) -> Blackboard:
        """The character's blackboard, to which its sensor writes."""
        return self._blackboard

    def feed_values(self, values: Mapping[str, Any]) -> None:
        """Write values of the sensor to the character's blackboard."""
        self._blackboard.update(values)

    def feed_event(self, name: str, payload: Any) -> None:
        """Send an event of the sensor or the squad to the habits."""
        if self.core is not None:
            self.core.notify(name, payload)

    def declare_values(self) -> None:
        """Declare the types of ``values`` and set them, except where a script has set a value of the type.

        Values that a sensor writes have no declared type: a sensor cannot keep to it.
        """
        board = self._blackboard
        for key, value in self.values.items():
            kinds = None if key in VALUES else _kinds_of(value)
            try:
                if kinds is not None:
                    board.declare({key: kinds})
            except TypeError as problem:
                report_error(f"{key!r} is reset to {value!r}: {problem}", self)
                del board[key]
                board.declare({key: kinds})
            if not dict.__contains__(board, key):
                board[key] = copy.deepcopy(value) if isinstance(value, (list, dict)) else value

    def _values_set(self) -> None:
        for key in self.values:
            if not isinstance(key, STRING_TYPES):
                raise RefusedValue(f"keys of values must be strings, got {key!r}")
        if self.core is not None:
            self.declare_values()
