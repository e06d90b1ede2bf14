"""Base class of SenseSource3D and SenseSource2D: strengths, emission, and clues that fade."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from addons.ai_core.bridge.declarations import HINT_FLAGS, SIDES, dictionary_of
from addons.ai_core.bridge.gd import (
    Node2D,
    Node3D,
    NodePath,
    RefusedValue,
    Vector2,
    Vector3,
    export,
    gdclass,
    method,
    node_path,
    parent_of,
    signal,
)
from addons.ai_core.nodes.saving.node_settings import SharedSettings, core_settings
from addons.ai_core.nodes.senses.sense_drawing import DragHandle, DrawnNode, Points, ball
from addons.ai_core.nodes.senses.sense_member import REFUSALS, SenseMember, refused
from addons.ai_core.nodes.senses.sense_place import TRAIL, manager_of
from ai_core.errors import UnknownNameError
from ai_core.saving.kinds import Flag, Seconds
from ai_core.senses.source_table import VisiblePart

HEARD_FROM = {"hearing": 1.0, "smell": 0.1}
"""Default thresholds of a sensor; circles of sources show where it just senses them."""

DRAWN_S = 1.0
"""Time for which the reach of an emitted signal is drawn in a game (s): that of a sound would be over in a frame."""

STRENGTHS = {"hearing": "sound_strength", "smell": "smell_strength"}
"""Property of a source with the strength of a sense."""


def _parts_of(vector: type) -> Any:
    """Return the export of the visible parts, whose offsets are of a class."""
    return export(
        dict, (), hint=dictionary_of(str, vector), group="Sight", on_set="_change",
        doc="Visible points by name, as offsets from the position along the axes of the world: \"head\", \"feet\"."
            " The share of them that is seen is a factor on the strength; each costs a ray. If empty, the"
            " position of the node is the only point.")


class SenseSourceBase(DrawnNode, SenseMember):
    """Base class of SenseSource3D and SenseSource2D, which add positions in space."""

    STATE = SenseMember.STATE.extended(until_s=Seconds(absent=math.inf), has_faded=Flag())

    sight_strength = export(
        float, 1.0, range=(0, 100, 0.01), or_greater=True, group="Sight", live=True,
        doc="Strength of the source in sight; 0 is invisible.")
    light = export(
        float, 1.0, range=(0, 10, 0.01), or_greater=True, core="light", live=True,
        doc="Brightness of the light on the source; a factor on its strength in sight.")
    size = export(
        float, 1.0, range=(0.001, 1000, 0.001), core="size", live=True,
        doc="Size of the source: it is seen as if it were this many times nearer. Sounds do not depend on it.")
    pattern = export(
        str, "", live=True,
        doc="Pattern of the source, one of those in camouflage of the SenseManager. Requires sees_backgrounds of the"
            " SenseManager.")
    part_shares = export(
        dict, (), hint=dictionary_of(str, float), on_set="_change",
        doc="Weight of each of visible_parts in the share that is seen, by name; the weight of other parts is 1."
            " Only the proportions count.")
    gives_light = export(
        bool, False, core="gives_light", live=True,
        doc="If true, the source is seen through up to two portals in graph mode; otherwise through one.")
    sound_strength = export(
        float, 2.0, range=(0, 100, 0.01), or_greater=True, group="Hearing", core="strengths.hearing", live=True,
        doc="Strength of sounds that are emitted without a strength.")
    actions = export(
        dict, (), hint=dictionary_of(str, float), core="actions", live=True,
        doc="Strength of each action for act(), by name: \"sneak\" 0.4, \"run\" 2.5.")
    smell_strength = export(
        float, 1.0, range=(0, 100000, 0.01), or_greater=True, group="Smell", core="strengths.smell", live=True,
        doc="Strength of smells that are emitted without a strength. In graph mode it is an amount: the strength"
            " that it would have in one cubic metre.")
    trail_strength = export(
        float, 0.0, range=(0, 100, 0.01), or_greater=True, live=True,
        doc="Strength of the scent trail that the source leaves as it moves; 0 leaves none. Requires keeps_trails of"
            " the SenseManager.")
    touch_strength = export(
        float, 1.0, range=(0, 100, 0.01), or_greater=True, group="Touch", core="strengths.touch", live=True,
        doc="Strength of the source in touch: within touch_range of the SenseManager, and in collisions.")
    other_strengths = export(
        dict, (), hint=dictionary_of(str, float), group="Other senses", live=True,
        doc="Strength of the source in custom modalities, by name: \"telepathy\" 1.0. In a continuous modality the"
            " source is sensed all the time; in others it is the strength of emit() without a strength.")
    tag = export(
        str, "", group="What it is", core="tag", live=True,
        doc="Kind of the source, for behaviors: \"blood\", \"footsteps\".")
    affiliation = export(
        int, 1, hint=(HINT_FLAGS, SIDES), core="affiliation", live=True,
        doc="Affiliations of the source: the sides that it belongs to; bits above the eighth can be set by code. A"
            " sensor senses it if one of them is in the sensor's detection_mask.")
    character = export(
        NodePath, NodePath(""), hint=node_path("Node"), on_set="_find_character",
        doc="Character that the source belongs to; the signals of sensors pass it with the source. If empty, the"
            " parent of the source. Set \".\" for a source that sensors of its own character sense, too.")

    lifetime = export(
        float, 0.0, range=(0, 3600, 0.1), or_greater=True, unit="s", group="Clue", on_set="_lasts_set",
        live=True,
        doc="Time after which the source fades and is no longer sensed, such as a footprint, counted from when it"
            " enters the scene or lifetime is set; 0 never fades.")

    faded = signal(
        doc="Emitted when lifetime has passed; the source is no longer sensed. Free it, or set lifetime again.")

    without_manager = "cannot be sensed"

    def __init__(self) -> None:
        self.source_id = -1
        self._emitted: dict[str, tuple[float, float]] = {}     # last strength and its time (s), while they are drawn
        self._send: Any = None        # the library's function, cached: a frame may have hundreds of sounds
        self.until_s = math.inf       # game time at which it fades (s)
        self.has_faded = False
        self._character: Any = None
        self._walker: Any = None

    @property
    def character_node(self) -> Any:
        """The character that the source belongs to; None if it was freed."""
        known = self._character
        return known if known is not None and known.is_valid() else None

    @property
    def walker(self) -> Any:
        """The node that stands where others can walk to the source: the character if it is above, else the source."""
        if self._walker is None or not self._walker.is_valid():
            one, space = self.character_node, "Node2D" if self.is_class("Node2D") else "Node3D"
            self._walker = one if one is not None and one.is_class(space) and one.is_ancestor_of(self) else self
        return self._walker

    def _find_character(self) -> None:
        if self.is_inside_tree():
            self._character = self.get_node_or_null(self.character) if self.character else parent_of(self)
            self._walker = None
            if self.source_id >= 0:
                self._manager.own_sources.move_source(self)

    def on_exit_tree(self) -> None:
        self.end_feeling()
        if self._manager is not None and self._manager.is_valid():
            self._manager.remove_source(self.source_id)
        self._manager, self._send, self.source_id = None, None, -1

    def lose_manager(self) -> None:
        self._send, self.source_id = None, -1
        super().lose_manager()

    @method
    def emit(self, modality: str, strength: float = -1.0, channel: str = "") -> None:
        """Emit a signal from the present position, such as emit("hearing", 2.0).

        A negative strength uses the source's own strength in that modality. If several signals of one channel reach
        a sensor in one frame, the sensor senses only the last; "" is no channel.
        """
        send = self._send
        if send is None:
            raise RefusedValue("cannot emit: it is not in a scene with a SenseManager")
        try:        # not "with", which takes longer than the call
            send(self.source_id, modality, None if strength < 0 else strength, self._place_of(self), channel=channel)
        except REFUSALS as error:
            raise RefusedValue(str(error)) from None
        if self._manager.is_shown:
            self._emitted[modality] = strength, self._manager.now_s

    @method
    def act(self, action: str, modality: str = "hearing") -> None:
        """Emit the signal of an action, with its strength in actions; the action is the tag and the channel."""
        if self._manager is None:
            raise RefusedValue("cannot act: it is not in a scene with a SenseManager")
        with refused():
            self._manager.core.act(self.source_id, action, modality, self._manager.place_of(self))
        if self._manager.is_shown:
            self._emitted[modality] = self.actions[action], self._manager.now_s

    def _enlist(self, manager: Any) -> None:
        self.has_faded = False
        self._find_character()
        self.source_id = manager.add_source(self, **self._terms(manager))
        self._last(manager)
        manager.own_sources.add_source(self)
        self._send, self._place_of = manager.core.emit, manager.place_of

    def fade(self) -> None:
        """Stop being sensed, and emit ``faded``."""
        self.has_faded = True
        self._change()
        self.faded.emit()

    def take_id(self, source_id: int) -> None:
        self.source_id = source_id

    def setting_warnings(self, manager: Any) -> list[str]:
        warnings = []
        if self.character and self.get_node_or_null(self.character) is None:
            warnings.append(
                f"character '{self.character}' is not a node; choose a node, or leave it empty for the parent")
        if manager is not None and self.trail_strength > 0 and not manager.keeps_trails:
            warnings.append(
                f"leaves no trail: keeps_trails of its SenseManager '{manager.get_name()}' is off; turn it on, or set"
                " trail_strength to 0")
        if manager is not None and self.pattern and not manager.sees_backgrounds:
            warnings.append(
                f"its pattern has no effect: sees_backgrounds of its SenseManager '{manager.get_name()}' is off; turn"
                " it on, or clear pattern")
        return warnings

    def _terms(self, manager: Any) -> dict[str, Any]:
        return _TERMS.of(self, manager.unit, manager.keeps_trails, manager.sees_backgrounds, self.has_faded)

    def made_terms(self, unit: float, keeps_trails: bool, sees_backgrounds: bool, has_faded: bool) -> dict[str, Any]:
        """Return the arguments of ``add_source`` and ``change_source``, below a SenseManager with these settings."""
        settings = core_settings(self)
        strengths = settings["strengths"]
        if self.sight_strength > 0:
            strengths["sight"] = self.sight_strength
        if keeps_trails:
            strengths[TRAIL] = self.trail_strength
        return {
            **settings, "strengths": {**strengths, **self.other_strengths},
            "pattern": self.pattern if sees_backgrounds else "", "parts": self._parts(unit),
            "affiliation": 0 if has_faded else self.affiliation & 0xFFFFFFFF}

    def _parts(self, unit: float) -> list[VisiblePart]:
        shares = self.part_shares
        unknown = sorted(set(shares) - set(self.visible_parts))
        if unknown:
            raise UnknownNameError("part in part_shares", unknown[0], self.visible_parts)
        vector = Vector2 if self.dimensions == 2 else Vector3
        for name, offset in self.visible_parts.items():
            if not isinstance(offset, vector):
                raise RefusedValue(f"visible_parts[{str(name)!r}] needs a {vector.__name__}, got {offset!r}")
        return [
            VisiblePart(str(name), tuple(one / unit for one in offset), shares.get(name, 1.0))
            for name, offset in self.visible_parts.items()
        ]

    def _last(self, manager: Any) -> None:
        self.until_s = manager.now_s + self.lifetime if self.lifetime > 0 else math.inf
        if self.lifetime > 0:
            manager.fade_later(self.source_id, self.until_s)

    def _lasts_set(self) -> None:
        if self._manager is not None:
            self.has_faded = False
            self._last(self._manager)
            self._change()

    def _change(self) -> None:
        if self._manager is not None:
            with refused():
                self._manager.core.change_source(self.source_id, **self._terms(self._manager))

    def drawing(self) -> dict[str, Points]:
        return {
            name: ball(reach, self.frame, is_flat=self.is_flat)
            for name in HEARD_FROM if (reach := self._reach(name)) > 0
        }

    def drawing_of_emitted(self, sensors: Sequence[Any]) -> dict[str, Points]:
        """Return circles up to which the most sensitive of some sensors senses what was emitted in the last second."""
        drawn, now_s = {}, self._manager.now_s
        for name in HEARD_FROM:
            strength, emitted_s = self._emitted.get(name, (0.0, -math.inf))
            thresholds = [
                getattr(one, f"{name}_threshold") for one in sensors if one.detection_mask & self.affiliation]
            if now_s - DRAWN_S <= emitted_s <= now_s and thresholds:
                reach = self._reach(name, None if strength < 0 else strength, min(thresholds))
                if reach > 0:
                    drawn[name] = ball(reach, self.frame, is_flat=self.is_flat)
        return drawn

    def handles(self) -> list[DragHandle]:
        axes = {"hearing": self.frame.right, "smell": tuple(-part for part in self.frame.right)}
        return [
            self._reaching(
                STRENGTHS[name], axes[name], length=self._reach(name),
                value_at=lambda reach, name=name, kept=kept: HEARD_FROM[name] * kept ** (-max(0.0, reach) / self.unit))
            for name in HEARD_FROM if 0 < (kept := self._kept_per_m(name)) < 1]

    def _kept_per_m(self, name: str) -> float:
        manager = manager_of(self)
        return 0.9 if manager is None else getattr(manager, f"{name}_kept_per_meter")

    def _reach(self, name: str, strength: float | None = None, threshold: float | None = None) -> float:
        """Return how far a signal is sensed; by default one of its own strength, at the default threshold."""
        strength, kept = getattr(self, STRENGTHS[name]) if strength is None else strength, self._kept_per_m(name)
        threshold = HEARD_FROM[name] if threshold is None else threshold
        if strength <= threshold or kept <= 0:
            return 0.0
        manager = manager_of(self)
        unit = self.unit
        most = 60.0 * unit if manager is None else getattr(manager, f"{name}_range")
        return most if kept >= 1 or not threshold else min(most, unit * math.log(threshold / strength) / math.log(kept))


_TERMS = SharedSettings(SenseSourceBase.made_terms)


@gdclass(icon="res://addons/ai_core/icons/sense_source_2d.svg", keywords="stimulus, stimuli, perception, noise")
class SenseSource2D(SenseSourceBase, Node2D):
    """Makes a character or object visible to sensors, and audible and smellable with emit().

    The nearest physics body at or above the source counts as its own body, which does not hide it.
    """

    visible_parts = _parts_of(Vector2)
    dimensions, is_flat = 2, True


@gdclass(icon="res://addons/ai_core/icons/sense_source_3d.svg", keywords="stimulus, stimuli, perception, noise")
class SenseSource3D(SenseSourceBase, Node3D):
    """Makes a character or object visible to sensors, and audible and smellable with emit().

    The nearest physics body at or above the source counts as its own body, which does not hide it.
    """

    visible_parts = _parts_of(Vector3)
    dimensions = 3
