"""Built-in habits, which are set in the inspector and need no code."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from addons.ai_core.bridge.gd import (
    NodePath,
    RefusedValue,
    StringName,
    export,
    first_below,
    gdclass,
    node_path,
)
from addons.ai_core.nodes.characters.guard_expression import GuardExpression, MissingValue
from addons.ai_core.nodes.habits.habit import Habit, tree_above
from addons.ai_core.nodes.habits.habit_condition import wait
from addons.ai_core.nodes.habits.habit_sharing import Callback
from addons.ai_core.nodes.scheduling.named_nodes import named_node, why_not_named
from ai_core.decisions.habits.habit_runner_loops import COMPARISONS, HabitContext, ValueCheck, ValueIs, ValueWrite
from ai_core.decisions.habits.habit_status import Status


def enter(run: HabitContext) -> object:
    try:
        return None if run.owner.core is None else run.part.enter(run)
    except Exception:
        if is_gone(run):
            return None
        raise


def tick(run: HabitContext) -> object:
    try:
        return None if run.owner.core is None else run.part.tick(run)
    except Exception:
        if is_gone(run):
            return None
        raise


def leave(run: HabitContext) -> object:
    try:
        return run.part.exit(run)
    except Exception:
        if is_gone(run):
            return None
        raise


def is_gone(run: HabitContext) -> bool:
    """Return whether a listener or a method of the actor has freed or removed the habit or its tree in this tick."""
    part, tree = run.part, run.owner
    return part is None or tree is None or not (part.is_valid() and tree.is_valid()) or tree.core is None


PHASE_METHODS: dict[str, tuple[str, Callback]] = {
    "enter": ("enter", enter), "tick": ("tick", tick), "exit": ("exit", leave)}
"""For each callback of a habit: the method of the node that implements it, and a call of that method."""

METHODS = ("can_activate_method", "enter_method", "tick_method", "exit_method", "python_class", "launch")


class BuiltInHabit:
    """Base of built-in habits: implements the callbacks in Python and hides the properties for scripted habits.

    A subclass defines some of the methods enter, tick and exit. Each takes the context; tick returns a Status.
    """

    NOT_SHOWN = METHODS

    def callbacks(self) -> dict[str, Callback | None]:
        """Return the callbacks that the class defines, None for the others."""
        return {moment: call if hasattr(self, name) else None for moment, (name, call) in PHASE_METHODS.items()}

    def setting_errors(self) -> Iterator[str]:
        """Yield a message for each error in the settings."""
        yield from ()

    def _get_configuration_warnings(self) -> list[str]:
        return [*super()._get_configuration_warnings(), *self.setting_errors()]  # type: ignore[misc]

    def node_of(self, name: str) -> Any:
        """Return the node that a property names, None if it is empty.

        Raises:
            RefusedValue: if it names no node of its classes.
        """
        node = named_node(self, name)
        if node is None and (why := why_not_named(self, name)):
            raise RefusedValue(why)
        return node

    def actor_in_editor(self) -> Any:
        """Return the actor, also where the tree does not run; None if there is none."""
        tree = tree_above(self)
        return None if tree is None else tree.found_actor()

    def missing(self, name: str) -> Iterator[str]:
        """Yield why a property names no node of its classes, unless it is empty."""
        if why := why_not_named(self, name):
            yield why


@gdclass(icon="res://addons/ai_core/icons/habit_wait.svg")
class HabitWait(BuiltInHabit, Habit):
    """Waits for a time, for a message or for a change of a blackboard value, then succeeds."""

    duration = export(float, 1.0, range=(0, 60, 0.01), or_greater=True, unit="s", group="Wait",
        doc="Game time to wait.")
    max_duration = export(
        float, 0.0, range=(0, 60, 0.01), or_greater=True, unit="s",
        doc="Longest time to wait: the time is drawn between duration and this. 0 always waits for duration.")
    until_notified = export(
        str, "", doc="Message or blackboard key that ends the wait when it is sent or changes. The habit fails if the"
        " time passes first; with duration 0 there is no time limit.")

    def messages(self) -> list[str]:
        return [*super().messages(), *([self.until_notified] if self.until_notified else [])]

    def enter(self, run: HabitContext) -> None:
        seconds = self.duration
        if self.max_duration > seconds:
            seconds += (self.max_duration - seconds) * run.random.random()
        if self.until_notified:
            wait(run, seconds or None, (self.until_notified,))
        else:
            wait(run, seconds)

    def tick(self, run: HabitContext) -> Status:
        return Status.FAILED if self.until_notified and not run.woken_by else Status.SUCCEEDED


@gdclass(icon="res://addons/ai_core/icons/habit_set_value.svg")
class HabitSetValue(BuiltInHabit, Habit):
    """Writes a value to the blackboard and succeeds."""

    key = export(str, "", group="Value", doc="Key of the value on the blackboard.")
    value = export(str, "true", doc="Expression for the value: 3, true, \"text\", Vector3(1, 0, 0), health - 1.")
    scope = export(
        str, "", options=("", "squad", "world"), doc="Blackboard to write to; if empty, that of the character.")

    def setting_errors(self) -> Iterator[str]:
        yield from _of_expression(self.key, self.value)

    def callbacks(self) -> dict[str, Callback | None]:
        expression, scope = GuardExpression(self.value, f"value of '{self.get_name()}'"), self.scope or None
        if not expression.names:
            return {"tick": ValueWrite(self.key, expression.constant(), scope)}
        write = ValueWrite(self.key, lambda run: expression.value(run.owner), scope)

        def tick(run: HabitContext) -> Status:
            try:
                return write(run)
            except MissingValue as missing:
                expression.warn_once(missing, f"'{run.path}' fails until then", run.owner)
                return Status.FAILED

        return {"tick": tick}


@gdclass(icon="res://addons/ai_core/icons/habit_check_value.svg")
class HabitCheckValue(BuiltInHabit, Habit):
    """Compares a value of the blackboard with a constant: succeeds if the comparison is true, otherwise fails."""

    key = export(str, "", group="Value", doc="Key of the value on the blackboard.")
    comparison = export(str, "==", options=tuple(COMPARISONS), doc="Comparison operator.")
    value = export(str, "true", doc="Constant to compare with: 3, true, \"text\".")

    def setting_errors(self) -> Iterator[str]:
        yield from _of_expression(self.key, self.value, is_constant=True)

    def callbacks(self) -> dict[str, Callback | None]:
        value = GuardExpression(self.value, f"value of '{self.get_name()}'").constant()
        return {"tick": ValueCheck(ValueIs(self.key, self.comparison, value))}


@gdclass(icon="res://addons/ai_core/icons/habit_emit_signal.svg")
class HabitEmitSignal(BuiltInHabit, Habit):
    """Emits a signal of a node and succeeds."""

    source = export(NodePath, NodePath(""), group="Signal", doc="Node that emits the signal; if empty, the actor.")
    signal_name = export(StringName, StringName(""), doc="Name of the signal.")
    arguments = export(list, [], doc="Arguments of the signal.")

    def setting_errors(self) -> Iterator[str]:
        yield from self.missing("source")
        if not self.signal_name:
            yield "signal_name is empty; name the signal"

    def tick(self, run: HabitContext) -> Status:
        node = self.node_of("source") or self._tree.actor_node()
        if not node.has_signal(self.signal_name):
            raise RefusedValue(
                f"'{node.get_name()}' has no signal '{self.signal_name}'; set signal_name to one of it, or source to"
                f" another node")
        node.emit_signal(self.signal_name, *self.arguments)
        return Status.SUCCEEDED


@gdclass(icon="res://addons/ai_core/icons/habit_call_method.svg")
class HabitCallMethod(BuiltInHabit, Habit):
    """Calls a method of a node once. Fails if the method returns false, otherwise succeeds."""

    target = export(NodePath, NodePath(""), group="Call", doc="Node with the method; if empty, the actor.")
    method_name = export(StringName, StringName(""), doc="Name of the method.")
    arguments = export(list, [], doc="Arguments of the call.")

    def setting_errors(self) -> Iterator[str]:
        yield from self.missing("target")
        if not self.method_name:
            yield "method_name is empty; name the method"
            return
        node = self.get_node_or_null(self.target) if self.target else self.actor_in_editor()  # type: ignore[attr-defined]
        if node is not None and not node.has_method(self.method_name):
            yield self._without(node)

    def _without(self, node: Any) -> str:
        return f"'{node.get_name()}' has no method '{self.method_name}'; set method_name to one that it has"

    def tick(self, run: HabitContext) -> Status:
        node = self.node_of("target") or self._tree.actor_node()
        if not node.has_method(self.method_name):
            raise RefusedValue(self._without(node))
        return Status.FAILED if node.call(self.method_name, *self.arguments) is False else Status.SUCCEEDED


@gdclass(icon="res://addons/ai_core/icons/habit_play_animation.svg")
class HabitPlayAnimation(BuiltInHabit, Habit):
    """Plays an animation of an AnimationPlayer and succeeds when it has finished."""

    player = export(
        NodePath, NodePath(""), hint=node_path("AnimationPlayer"), group="Animation",
        doc="The AnimationPlayer; if empty, the first AnimationPlayer below the actor.")
    animation = export(
        StringName, StringName(""), doc="Name of the animation. A looping animation plays until it is interrupted.")
    wait_until_finished = export(
        bool, True, doc="If true, the habit waits for the end of the animation; if false, it succeeds at once.")
    stop_on_interrupt = export(bool, True, shown_when=("wait_until_finished", True),
        doc="If true, the animation stops when the habit is interrupted.")

    def setting_errors(self) -> Iterator[str]:
        yield from self.missing("player")
        if not self.animation:
            yield "animation is empty; name the animation"
            return
        actor = self.actor_in_editor()
        try:
            player = self._player_of(actor) if self.player or actor is not None else None
        except RefusedValue as refused:
            if not self.player:
                yield str(refused)
            return
        if player is not None and not player.has_animation(self.animation):
            yield self._without(player)

    def _without(self, player: Any) -> str:
        known = ", ".join(f"'{name}'" for name in player.get_animation_list()) or "no animations"
        return f"'{player.get_name()}' has no animation '{self.animation}'; it has {known}"

    def enter(self, run: HabitContext) -> None:
        player = self._player()
        if not player.has_animation(self.animation):
            raise RefusedValue(self._without(player))
        player.play(self.animation)

    def tick(self, run: HabitContext) -> Status:
        player = self._player()
        if not self.wait_until_finished or not player.is_playing():
            return Status.SUCCEEDED
        return Status.RUNNING if player.get_current_animation() == str(self.animation) else Status.FAILED

    def exit(self, run: HabitContext) -> None:
        if self.wait_until_finished and self.stop_on_interrupt and run.status is not Status.SUCCEEDED:
            player = self._player()
            if player.is_playing() and player.get_current_animation() == str(self.animation):
                player.stop()

    def _player(self) -> Any:
        return self._player_of(None if self.player else self._tree.actor_node())

    def _player_of(self, actor: Any) -> Any:
        found = self.node_of("player")
        if found is None:
            found = first_below(actor, "AnimationPlayer")
            if found is None:
                raise RefusedValue(f"'{self.get_name()}' found no AnimationPlayer below the actor; set player")
        return found


def _of_expression(key: str, text: str, *, is_constant: bool = False) -> Iterator[str]:
    if not key:
        yield "key is empty; name the value of the blackboard"
    try:
        expression = GuardExpression(text, "value")
        if is_constant:
            expression.constant()
    except RefusedValue as refused:
        yield str(refused)
