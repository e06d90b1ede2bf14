"""Base classes of nodes that decide for a character: access to the actor, and scheduled updates."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from addons.ai_core.bridge.gd import (
    GDCallable,
    GodotCallError,
    NodePath,
    RefusedValue,
    StringName,
    export,
    method,
    node_path,
)
from addons.ai_core.nodes.characters import sensor_feed
from addons.ai_core.nodes.characters.agent_places import place_of
from addons.ai_core.nodes.characters.update_group import update_group_of
from addons.ai_core.nodes.scheduling.named_nodes import named_node, why_not_named
from addons.ai_core.nodes.scheduling.scheduler_lookup import check_callable, report_next_frame
from ai_core.decisions.blackboard import Blackboard

PARENT = ".."
ACTOR_DOC = (
    "Node of the character. The default \"..\" is the parent, or the character above an LODBehavior that is the parent;"
    " another path is exactly the node that it names, such as an LODBehavior whose script has the methods.")


class LevelOfCharacter:
    """Base of nodes between a character and its behaviors, which do not stand for it."""


class CharacterComponent:
    """Base of nodes that decide for an ``actor``, with the targets of a ``sensor``.

    A subclass sets ``_actor`` and ``_scheduler`` to None in its constructor, calls ``begin_feed`` once it has its
    scheduler and ``end_feed`` when it leaves the tree, and defines ``known``, ``feed_values`` and ``feed_event`` as
    ``SensorFeed`` describes. ``fed_blackboard`` is the Blackboard to which ``feed_values`` writes; None if it does
    more than that.
    """

    TargetChoice = sensor_feed.TargetChoice

    sensor = export(
        NodePath, NodePath(""), hint=node_path("Sensor3D", "Sensor2D"), group="Senses", on_set="_sensor_set",
        doc="Sensor3D or Sensor2D of the character. It writes target, target_position, is_in_view, awareness,"
            " awareness_level, last_known_position, last_seen_position and last_heard_position of the most important"
            " target, and sends the events target_gained, target_reported, target_lost, target_forgotten,"
            " awareness_changed and heard.")
    target_choice = export(
        TargetChoice, TargetChoice.MOST_AWARE, on_set="_set_feed_choice",
        doc="Which of several targets of the sensor is the most important. Targets that are not lost precede lost"
            " ones. Most aware: highest awareness. Nearest: smallest distance to the sensor. Newest: latest first"
            " sensation. Custom: the choice of target_choice_method, or of choose_target_with().")
    target_choice_method = export(
        StringName, StringName(""), shown_when=("target_choice", TargetChoice.CUSTOM),
        doc="Method of the actor that is called with an Array of Dictionaries, as from get_known_targets() of the"
            " sensor, and returns one of them, or null for none.")

    fed_blackboard: Blackboard | None = None
    _feed: sensor_feed.SensorFeed | None = None
    _chooser: Any = None

    @method
    def choose_target_with(self, chooser: GDCallable) -> None:
        """Set target_choice to Custom: ``chooser`` is called in place of target_choice_method."""
        check_callable(chooser, "choose_target_with()")
        self._chooser, self.target_choice = chooser, self.TargetChoice.CUSTOM

    def choose_target(self, described: list[Any]) -> Any:
        """Return one of the targets, or None, as the Callable or the method of the actor chooses."""
        if self._chooser is not None:
            return self._chooser(described)
        if not self.target_choice_method:
            raise RefusedValue(
                "target_choice is Custom, but has no method; set target_choice_method, or call choose_target_with()")
        return self.actor_method(str(self.target_choice_method))(described)

    def begin_feed(self) -> None:
        """Connect to the sensor, if one is set."""
        if self._feed is not None or not self.sensor:
            return
        sensor = self._sensor_node()
        if (sensor is None or self.target_choice == self.TargetChoice.CUSTOM) and self.sensor_warnings():
            report_next_frame(self, lambda: [] if self._feed is not None else self.sensor_warnings())
        if sensor is not None:
            self._feed = sensor_feed.begin_feed(self, sensor, self._scheduler)

    def end_feed(self) -> None:
        """Disconnect from the sensor."""
        feed, self._feed = self._feed, None
        if feed is not None:
            sensor_feed.end_feed(feed, self._scheduler)

    def feed_was_loaded(self) -> None:
        """Look up the loaded target of the sensor in the next frame."""
        if self._feed is not None:
            self._feed.was_loaded()

    def _set_feed_period(self) -> None:
        if self._feed is not None:
            self._feed.take_period(self.period)

    def _set_feed_choice(self) -> None:
        if self._feed is not None:
            self._feed.take_choice()

    def sensor_warnings(self) -> list[str]:
        """Return the warnings about ``sensor`` and ``target_choice``."""
        if not self.sensor:
            return []
        if self._sensor_node() is None:
            return [why_not_named(self, "sensor")]
        if self.target_choice == self.TargetChoice.CUSTOM and not (self.target_choice_method or self._chooser):
            return ["target_choice is Custom, but target_choice_method is empty; name a method of the actor, or choose"
                    " another target_choice"]
        return []

    def _sensor_node(self) -> Any:
        """Return the node that ``sensor`` names, None if it is no sensor."""
        return named_node(self, "sensor")

    def _sensor_set(self) -> None:
        self.end_feed()
        if self._scheduler is not None and self.is_inside_tree():
            self.begin_feed()

    def actor_node(self) -> Any:
        """Return the node of the character; raise RefusedValue if it is not in the scene."""
        if self._actor is None or not self._actor.is_valid():
            self._actor = self.found_actor()
            if self._actor is None:
                raise RefusedValue(self._no_actor())
        return self._actor

    def found_actor(self) -> Any:
        """Return the node of ``actor``, for a parent that is a level of detail its character; None if missing."""
        found = self.get_node_or_null(self.actor)
        if isinstance(found, LevelOfCharacter) and str(self.actor) == PARENT:
            return place_of(found)
        return found

    def _look_for_actor(self) -> None:
        """Look up the actor again at the next access; not called in on_exit_tree(), which needs the present actor."""
        self._actor = None

    def actor_method(self, name: str) -> Callable[..., object]:
        """Return a function that calls a method of the actor, or raises RefusedValue if the actor lacks it."""
        return functools.partial(_call, self.actor_node(), name)

    def missing_methods(self, names: Iterable[str]) -> list[str]:
        """Return a warning for each named method that the actor lacks."""
        actor = self.found_actor()
        missing = [] if actor is None else [name for name in names if name and not actor.has_method(name)]
        return [_without(actor, name) for name in dict.fromkeys(missing)]

    def actor_warnings(self) -> list[str]:
        """Return the warnings about ``actor``."""
        return [self._no_actor()] if self.found_actor() is None else []

    def why_idle(self, needs: str) -> str:
        """Return why the node does not do what is asked of it, for an error: ``needs`` is "receive 'noise'"."""
        if not self.is_inside_tree():
            return f"is outside the scene tree and cannot {needs}; check is_inside_tree() before"
        return f"does not run and cannot {needs}; see the errors at the start of the scene"

    def restore_sleep(self, *, is_asleep: bool) -> None:
        """Note whether the node slept when it was saved; called after all nodes are loaded."""

    def _no_actor(self) -> str:
        return f"actor '{self.actor}' is not in the scene; choose the character's node"


def _call(actor: Any, name: str, *arguments: object) -> object:
    try:
        return actor.call(name, *arguments)
    except GodotCallError as refused:
        if not actor.is_valid():
            raise
        if not actor.has_method(name):
            raise RefusedValue(_without(actor, name)) from None
        count = "1 argument" if len(arguments) == 1 else f"{len(arguments) or 'no'} arguments"
        raise RefusedValue(
            f"{name}() of '{actor.get_name()}' is called with {count}: {str(refused).rpartition(f'{name}: ')[2]}"
        ) from None


def _without(actor: Any, name: str) -> str:
    return f"'{actor.get_name()}' has no method {name}(); add it, or name another method"


class ScheduledCharacter(CharacterComponent):
    """Base of nodes that decide in ``live``, every ``period_frames``.

    A subclass sets ``_scheduler`` and ``_update_group`` to None in its constructor, and defines ``KIND``.
    """

    @property
    def group_member(self) -> Any:
        """The object that the update group updates for this node."""
        return self

    def live(self, elapsed_s: float) -> float:
        """Decide, in a frame of AI; return the time for which no update is needed (s), see ``MindPopulation``."""
        raise AssertionError(f"{type(self).__name__} does not implement live()")

    def _update_schedule(self, *, is_on: bool) -> None:
        """Join the update group with the period of the node; rest while it is off, paused or disabled."""
        if self._update_group is None:
            self._update_group = update_group_of(self._scheduler, self.KIND)
        self._update_group.join(self, is_resting=not (is_on and self.can_process()))
        self._set_feed_period()
        self._update_group.wake(self)

    def _leave_update_group(self) -> None:
        if self._update_group is not None:
            self._update_group.leave(self)
            self._update_group = None
