"""HabitTree: what a character does, decided by the habits below it."""
from __future__ import annotations

import math
import random
import zlib
from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    GDObject,
    Node,
    NodePath,
    PackedStringArray,
    RefusedValue,
    Variant,
    export,
    gdclass,
    method,
    report_error,
    signal,
)
from addons.ai_core.nodes.guard_expression import ABSENT
from addons.ai_core.nodes.habit import LAUNCHES, Habit, HabitSettings, definitions_below, launch_warnings
from addons.ai_core.nodes.habit_scopes import (
    join_scopes,
    leave_scopes,
    prepared_scopes,
    refusing_lookups,
    scopes_saved_by,
)
from addons.ai_core.nodes.node_settings import prepared_settings, saved_settings
from addons.ai_core.nodes.scene_saving import load_node, save_node
from addons.ai_core.nodes.scene_values import path_of
from addons.ai_core.nodes.scheduled import check_callable, scheduler_of, scheduler_warnings
from ai_core.decisions import habit_tree as core
from ai_core.decisions.blackboard import Blackboard
from ai_core.decisions.habit_context import HabitContext
from ai_core.decisions.habit_state import active_runs
from ai_core.decisions.habits import Habit as HabitDefinition
from ai_core.saving.fields import Fields, State, StateError
from ai_core.scheduling.task import Task, Turn

SAVED = ("enabled", "period_frames", "priority")


@gdclass(icon="res://addons/ai_core/icons/habit_tree.svg")
class HabitTree(Node):
    """Runs the habits below it for one character, through the AIScheduler.

    The first child is the most urgent. When it wants to run, what is running is sent
    back to pending first.
    """

    Launch = HabitSettings.Launch

    launch = export(
        HabitSettings.Launch, HabitSettings.Launch.PRIORITIZED,
        doc="How the habits right below launch.")
    actor = export(NodePath, NodePath(".."), doc="The character; by default the parent.")
    enabled = export(bool, True, on_set="_enable", doc="Off: habits stop and nothing is decided.")
    period_frames = export(
        int, 1, range=(1, 600, 1), or_greater=True, unit="frames", group="Optimizations", on_set="_reschedule",
        doc="Frames from one decision to the next.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", doc="Weight of its share of the budget.")
    squad = export(
        str, "", group="Blackboard", on_set="_join_scopes",
        doc="Trees of the same squad share the values of the scope \"squad\"; all share those of \"world\".")
    random_seed = export(
        int, 0, group="Debug", doc="Seed of random launches; 0 takes one from the path, so that a run can be repeated.")

    habit_entered = signal(("path", str), ("reason", str), doc="A habit began, and why.")
    habit_exited = signal(("path", str), ("status", int), doc="A habit ended: 1 succeeded, 2 failed, 0 interrupted.")

    def __init__(self) -> None:
        self._core: core.HabitTree | None = None
        self._scheduler: Any = None
        self._task: Task | None = None
        self._actor: Any = None
        self._blackboard = Blackboard(name="character")
        self._root: HabitDefinition | None = None
        self._said: tuple[Any, ...] = ()
        self._is_changed = False

    def on_entered(self) -> None:
        self._begin()

    def on_predelete(self) -> None:
        self._blackboard.clear()     # it may hold scripts: let them go now

    def on_exit_tree(self) -> None:
        self._unschedule()
        if self._core is not None:
            self._core.stop()
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        leave_scopes(self, self._blackboard)
        self._core = self._scheduler = self._actor = None

    @method
    def get_active_paths(self) -> PackedStringArray:
        """Return the path of each habit that is active and has none active below it."""
        return PackedStringArray(self._core.active_paths() if self._core is not None else [])

    @method
    def to_text(self) -> str:
        """Return what is active, what is pending, and why; one habit a line."""
        return self._core.to_text() if self._core is not None else "not running"

    @method
    def stop_habits(self) -> None:
        """End every active habit, children first; the next frame decides anew."""
        if self._core is not None:
            self._core.stop()

    @method
    def rebuild(self) -> None:
        """Read the habits below again, now: what says the same goes on, the rest ends first.

        Adding and freeing habits needs no call; setting their properties while the scene runs does.
        """
        if self._core is None:
            self._begin()
        else:
            self._edit()

    @method
    def tell(self, told_name: str, cargo: Variant = None) -> None:
        """Tell the habits that something happened: who begins on it, wakes on it or waits for it hears of it."""
        if self._core is None:
            raise RefusedValue(f"does not run, and cannot be told {told_name!r}; see the errors as the scene began")
        self._core.tell(told_name, cargo)

    @method
    def is_asleep(self) -> bool:
        """Return whether all habits wait for something to be told or to change: then the tree costs nothing."""
        return self._core is not None and self._core.wakes_at_s == math.inf

    @method
    def set_value(self, key: str, value: Variant, scope: str = "") -> None:
        """Write to the character's blackboard, or to the scope "squad" or "world" that it shares."""
        with refusing_lookups():
            (self._blackboard.scope(scope) if scope else self._blackboard)[key] = value

    @method
    def get_value(self, key: str, default_value: Variant = None) -> Variant:
        """Read from the character's blackboard; what is not there is looked for in its squad, then in the world."""
        value = self._blackboard.get(key, default_value)
        return None if isinstance(value, GDObject) and not value.is_valid() else value

    @method
    def watch_value(self, key: str, callback: GDCallable) -> None:
        """Call ``callback(key, value)`` whenever a value of this character, its squad or the world changes."""
        check_callable(callback, "watch_value()")
        self._blackboard.watch(key, callback)

    def known(self, name: str) -> Any:
        """Return a value of the blackboard for an expression, ABSENT for what is not known."""
        return self.get_value(name, ABSENT)

    @method
    def save_state(self) -> dict:
        """Return active habits, holds, the blackboard and what habits' scripts save.

        AIScheduler.save_state() includes it.
        """
        return save_node(self)

    @method
    def load_state(self, state: dict) -> bool:
        """Take back what save_state() returned; checks all of it before it changes anything."""
        return load_node(self, state)

    def is_in_use(self) -> bool:
        return self._core is not None

    def saved(self) -> State:
        values = self._scheduler.values
        return {
            "version": 2,
            "settings": saved_settings(self, SAVED),
            "tree": self._core.save_state(),
            "scopes": {
                board.name: values.plain(dict(board), board.name) for board in scopes_saved_by(self, self._blackboard)},
            "scripts": {
                path: values.plain(habit.saved_by_script(), f"_save_state() ({path})")
                for path, habit in self._habits_by_path().items()
            },
        }

    def prepared(self, state: object) -> Callable[[], None]:
        if self._core is None:
            raise StateError("the tree does not run; give it an actor, habits and an AIScheduler first")
        fields = Fields.versioned(state, version=2, migrations={1: lambda old: {**old, "scopes": {}}})
        habits, values = self._habits_by_path(), self._scheduler.values
        change_settings = prepared_settings(self, SAVED, fields.group("settings"))
        change = self._core.prepare_state(fields.anything("tree"))
        saved_scopes = fields.group("scopes")
        of_scopes = {name: saved_scopes.anything(name) for name in saved_scopes.names()}
        change_scopes = prepared_scopes(self._blackboard, of_scopes, values)
        scripts = fields.group("scripts")
        of_scripts = {
            path: values.value(scripts.anything(path), scripts.place_of(path)) for path in habits
        }
        scripts.end()
        fields.end()

        def change_all() -> None:
            change_settings()
            change_scopes()
            change()
            self._wake()
            runs = {run.path: run for run in active_runs(self._core.root_run)}
            for path, habit in habits.items():
                habit.take_state(runs.get(path), of_scripts[path])

        return change_all

    def _habits_by_path(self) -> dict[str, Habit]:
        """Return every habit node below, by the path it has in the tree of habits."""
        found: dict[str, Habit] = {}
        rest = [(str(self.get_name()), self)]
        while rest:
            path, parent = rest.pop()
            for child in parent.get_children():
                if isinstance(child, Habit):
                    below = f"{path}/{child.get_name()}"
                    found[below] = child
                    rest.append((below, child))
        return found

    def actor_node(self) -> Any:
        if self._actor is None or not self._actor.is_valid():
            self._actor = self.get_node_or_null(self.actor)
            if self._actor is None:
                raise RefusedValue(f"actor '{self.actor}' is not in the scene; choose the character's node")
        return self._actor

    def tell_entered(self, run: HabitContext) -> None:
        self.habit_entered.emit(run.path, run.reason)

    def tell_exited(self, run: HabitContext) -> None:
        self.habit_exited.emit(run.path, {"succeeded": 1, "failed": 2}.get(getattr(run.status, "value", ""), 0))

    def _get_configuration_warnings(self) -> list[str]:
        warnings = []
        if not any(isinstance(child, Habit) for child in self.get_children()):
            warnings.append("has no Habit below it and does nothing; add one")
        else:
            warnings += launch_warnings(self)
        if self.get_node_or_null(self.actor) is None:
            warnings.append(f"actor '{self.actor}' is not in the scene; choose the character's node")
        return [*warnings, *scheduler_warnings(self)]

    def _begin(self) -> None:
        warnings = self._get_configuration_warnings()
        for warning in warnings:
            report_error(warning, self)
        self._scheduler = scheduler_of(self)
        if warnings or self._scheduler is None:
            return
        self._join_scopes()
        root = self._definition()
        seed = self.random_seed or zlib.crc32(str(self.get_path()).encode())
        self._core = core.HabitTree(
            root, owner=self, name=str(self.get_path()), clock=self._scheduler.clock, random=random.Random(seed),
            trace=self._scheduler.trace, faults=self._scheduler.faults, blackboard=self._blackboard,
            values=self._scheduler.values)
        self._core.on_wake = lambda core: self._wake()
        self._scheduler.join(self)
        self._reschedule()

    def _definition(self) -> HabitDefinition:
        """Return what the nodes describe; the root of the last time, with other children, if it says the same."""
        children, said = definitions_below(self, self), (str(self.get_name()), self.launch)
        if self._root is None or said != self._said:
            self._root, self._said = HabitDefinition(said[0], children, LAUNCHES[self.launch]), said
        elif list(self._root.children) != children:
            self._root = self._root.with_children(children)
        self._is_changed = False
        return self._root

    def habits_changed(self, *, at_once: bool = False) -> None:
        """A habit below has come or goes; one that is active ends before it is gone."""
        if self._core is None:
            return
        if at_once:
            try:
                self._core.change(self._definition())
            except (ValueError, TypeError):      # perhaps the whole tree goes, habit by habit
                self._core.stop()
        self._is_changed = True
        self._wake()

    def _edit(self) -> None:
        try:
            self._core.change(self._definition())
        except (ValueError, TypeError) as mistake:
            self._core.stop()
            self._unschedule()
            self._core = None
            report_error(f"stops: {mistake}", self)

    def _join_scopes(self) -> None:
        if self._scheduler is not None:
            join_scopes(self, self._blackboard, self._scheduler, self.squad)

    def _reschedule(self) -> None:
        if self._core is None:
            return
        self._unschedule()
        self._task = self._scheduler.schedule(
            self._live, name=path_of(self._scheduler, self),
            period_frames=self.period_frames, priority=self.priority)
        self._enable()

    def _enable(self) -> None:
        # Left out, not removed: what is off when a game is saved is found, and off, when it is loaded.
        if self._task is not None:
            self._scheduler.set_enabled(self._task, self.enabled)
            if not self.enabled:
                self._core.stop()

    def _live(self, turn: Turn) -> None:
        if not self.can_process():           # paused or disabled
            return
        if self._is_changed:
            self._edit()
        if self._core is None:
            return
        self._core.advance(turn)
        if self._is_scheduled() and self._core is not None and self._core.wakes_at_s == math.inf:
            self._scheduler.core.pause(self._task)      # until something is told or changes

    def _wake(self) -> None:
        if self.enabled and self._is_scheduled():
            self._scheduler.core.resume(self._task)

    def _is_scheduled(self) -> bool:
        """Return whether there is work to pause; a scheduler that is freed removes it first."""
        return self._task is not None and not self._task.is_removed

    def _unschedule(self) -> None:
        if self._task is not None and self._scheduler.is_valid():
            self._scheduler.unschedule(self._task)
        self._task = None
