"""WalkingCrowd: the characters that habits and squads move, and how they walk around each other."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.bridge.gd import NodePlaces, Vector2, Vector3, read_velocities
from addons.ai_core.nodes.walking.body_moving import is_body
from ai_core.paths import AvoidanceGroup, LocalAvoidance

Floats = NDArray[np.float64]

DEFAULT_RADIUS, DEFAULT_RADIUS_2D = 0.4, 12.0
"""Half the width of a body whose shapes have no known width (m, px)."""

MARGIN = 1.05
"""Factor of the radii (no unit): bodies that pass each other do not touch."""

CROWDING = 8.0
"""Distance from a goal within which those who stand there may keep others from it, as a factor of a radius (no unit):
three rows of characters."""

ENLISTED = "_enlisted"
"""Name with which a SquadMember notifies the habits of its character that a squad may move it from now on, or keeps it
at its place no longer."""

SHAPES = ("CollisionShape3D", "CollisionShape2D")


class CrowdMember:
    """A character of a crowd, and the nodes that move it.

    Attributes:
        node: the character.
        movers: speed and radius by the id of each node that moves it, in units of the scene; the radius is None where
            the shapes of the body give it.
        member: the SquadMember whose squad moves it; None for a body that habits move.
    """

    __slots__ = ("_shape_radius", "member", "movers", "node")

    def __init__(self, node: Any) -> None:
        self.node = node
        self.movers: dict[int, tuple[float, float | None]] = {}
        self.member: Any = None
        self._shape_radius: float | None = None

    @property
    def speed(self) -> float:
        """Highest speed, in units of the scene per second."""
        return max(speed for speed, _ in self.movers.values())

    @property
    def radius(self) -> float:
        """Half the width, in units of the scene."""
        known = [radius for _, radius in self.movers.values() if radius is not None]
        if known:
            return max(known)
        if self._shape_radius is None:
            self._shape_radius = radius_of_shapes(self.node)
        return self._shape_radius

class WalkingCrowd:
    """The characters of one space under one AIScheduler, which walk around each other.

    Positions and velocities are those of the engine, so that nothing is saved.

    Args:
        clock: the clock of the outermost AIScheduler.
        is_flat: whether the characters are in 2D.

    Attributes:
        members: the characters by instance id.

    Cost: none while there is one character; otherwise in each frame in which a character walks, two engine calls per
    character and one compiled pass, and 2 µs for each walking character within reach of another.
    """

    def __init__(self, clock: Any, *, is_flat: bool) -> None:
        self._clock, self._is_flat = clock, is_flat
        self.members: dict[int, CrowdMember] = {}
        self._avoidance = LocalAvoidance()
        self._has_changed = False
        self._frame: int | None = None
        self._rows: list[CrowdMember] = []
        self._near: dict[int, int] = {}                 # rows within reach of others, by instance id, of this frame
        self._bodies: tuple[list[Any], list[int]] = [], []      # nodes and rows that no squad moves
        self._groups: dict[int, AvoidanceGroup] = {}     # by instance id of the squad
        self._places = NodePlaces([], 1.0 if is_flat else 0.0)
        self._positions, self._velocities = np.zeros((0, 3), np.float32), np.zeros((0, 2))

    def join(self, node: Any, mover: Any, *, speed: float, radius: float | None = None) -> None:
        """Add a character, or change what one of its movers says of it.

        Args:
            node: the character: a CharacterBody, or a Node3D or Node2D that a squad moves.
            mover: the HabitTree or the SquadMember that moves it; ``leave`` ends its membership.
            speed: its highest speed, in units of the scene per second.
            radius: half its width, in units of the scene, for a SquadMember; None reads it from the shapes of the body.
        """
        member = self.members.get(node.instance_id)
        if member is None:
            member = self.members[node.instance_id] = CrowdMember(node)
        if radius is not None:
            member.member = mover
        if member.movers.get(mover.instance_id) != (speed, radius):
            member.movers[mover.instance_id] = speed, radius
            self._has_changed = True

    def leave(self, node_id: int, mover: Any) -> None:
        """Remove a mover of a character, and the character with its last mover."""
        member = self.members.get(node_id)
        if member is not None and member.movers.pop(mover.instance_id, None) is not None:
            self._has_changed = True
            if member.member is mover:
                member.member = None
            if not member.movers:
                del self.members[node_id]

    def near(self) -> dict[int, int]:
        """Return the rows of characters within reach of another in this frame, by instance id."""
        if len(self.members) < 2:
            return {}
        frame = self._clock.now.frame
        if frame != self._frame or self._has_changed:
            self._frame = frame
            self._look()
        return self._near

    def steer(self, row: int, velocity: Any, speed: float, goal: Any = None) -> Any:
        """Return the velocity nearest to a wanted one with which a character walks around others.

        Args:
            row: its row in ``near``.
            velocity: wanted velocity, a Vector3 or Vector2; a vertical part is kept.
            speed: highest speed.
            goal: its goal, at which characters are not avoided; None if it has none.
        """
        x, z = math.nan, math.nan
        if goal is not None:
            x, z = goal.x, goal.y if self._is_flat else goal.z
        x, z = self._avoidance.steer(row, velocity.x, velocity.y if self._is_flat else velocity.z, speed, x, z)
        return Vector2(x, z) if self._is_flat else Vector3(x, velocity.y, z)

    def standing_at(self, node_id: int, goal: Any, within: float) -> int:
        """Return how many characters stand at a goal, if they leave a character no room there; otherwise 0.

        Args:
            node_id: instance id of the character.
            goal: the goal, a Vector3 or Vector2.
            within: distance of the goal within which a character stands at it, in units of the scene.
        """
        row = self.near().get(node_id)
        if row is None:
            return 0
        return int(self._avoidance.standing_at(row, goal.x, goal.y if self._is_flat else goal.z, within))

    def steer_squad(self, squad: Any, nodes: Sequence[Any], velocities: Floats, speeds: Floats, unit: float) -> Floats:
        """Return the velocities with which the members of a squad walk around each other and other characters.

        Args:
            squad: the squad.
            nodes: its characters; the same in each call until one joins or leaves the crowd.
            velocities: wanted velocities, shape (n, d) (m/s).
            speeds: highest speeds, shape (n,) (m/s).
            unit: length of a metre in units of the scene.
        """
        if not self.near():
            return velocities
        group = self._groups.get(squad.instance_id)
        if group is None or not group.is_of(velocities, speeds):
            rows = {one.node.instance_id: row for row, one in enumerate(self._rows)}
            numbers = [-1 if node is None else rows.get(node.instance_id, -1) for node in nodes]
            group = self._groups[squad.instance_id] = AvoidanceGroup(
                self._avoidance, np.array(numbers, np.int64), velocities, speeds, np.zeros_like(velocities))
        found: Floats = group.steer(unit)
        return found

    def forget(self) -> None:
        """Read everything again before the next use, after characters were loaded."""
        self._has_changed = True

    def _look(self) -> None:
        """Read all positions, and find the characters within reach of others."""
        if self._has_changed:
            self._arrange()
        freed = [self._rows[row].node for row in self._places.read(self._positions)]
        if any(not node.is_valid() for node in freed):
            self.members = {number: one for number, one in self.members.items() if one.node.is_valid()}
            self._arrange()
            self._places.read(self._positions)
        read_velocities(*self._bodies, self._velocities)
        near = self._avoidance.find_near().tolist()
        self._near = {self._rows[row].node.instance_id: row for row in near}

    def _arrange(self) -> None:
        """Give each character a row."""
        self._has_changed = False
        self._rows = list(self.members.values())
        self._groups.clear()
        self._places = NodePlaces([one.node for one in self._rows], 1.0 if self._is_flat else 0.0)
        self._positions = np.zeros((len(self._rows), 2 if self._is_flat else 3), np.float32)
        self._velocities = np.zeros((len(self._rows), 2))
        self._avoidance.set_bodies(
            self._positions, self._velocities, np.array([one.speed for one in self._rows]),
            np.array([one.radius * MARGIN for one in self._rows]))
        self._bodies = [], []
        for row, one in enumerate(self._rows):
            if one.member is None:
                self._bodies[0].append(one.node)
                self._bodies[1].append(row)
            elif one.node.is_valid():
                velocity = one.member.get_velocity()
                self._velocities[row] = velocity.x, velocity.y if self._is_flat else velocity.z


def radius_of_shapes(body: Any) -> float:
    """Return half the width of the widest collision shape of a body, in units of the scene."""
    radii = []
    for kind in SHAPES:
        for child in body.find_children("*", kind, True, False):
            shape = child.get_shape()
            if shape is None:
                continue
            if shape.is_class("BoxShape3D"):
                radii.append(max(shape.get_size().x, shape.get_size().z) / 2)
            elif shape.is_class("RectangleShape2D"):
                radii.append(max(shape.get_size().x, shape.get_size().y) / 2)
            elif shape.is_class("CapsuleShape2D"):
                radii.append(max(shape.get_radius(), shape.get_height() / 2))
            elif shape.has_method("get_radius"):
                radii.append(shape.get_radius())
    return max(radii, default=DEFAULT_RADIUS_2D if body.is_class("Node2D") else DEFAULT_RADIUS)


class WalkingActor:
    """The character that the habits of a HabitTree move, in the crowd of its AIScheduler.

    Attributes:
        crowd: the crowd; None while no habit of the tree walks, or the character is no CharacterBody.
    """

    __slots__ = ("_id", "_space", "_speed", "crowd")

    def __init__(self) -> None:
        self.crowd: WalkingCrowd | None = None
        self._space: WalkingCrowd | None = None     # the same, also if the character is another node
        self._speed, self._id = 0.0, 0

    def take(self, tree: Any, actor: Any, speed: float | None = None) -> None:
        """Take note of the present actor, None for none, and of the highest speed of the habits if it has changed."""
        number = 0 if actor is None else actor.instance_id
        if number == self._id and speed in (None, self._speed):
            return
        if self._id and (number != self._id or not speed):
            self.leave(tree)
        self._id, self._speed = number, self._speed if speed is None else speed
        if number and self._speed:
            self._space = crowd_of(tree._scheduler, is_flat=actor.is_class("Node2D"))
            if is_body(actor):
                self.crowd = self._space
                self.crowd.join(actor, tree, speed=self._speed)

    def leave(self, tree: Any) -> None:
        """Leave the crowd."""
        crowd, self.crowd, self._space = self.crowd, None, None
        if crowd is not None:
            crowd.leave(self._id, tree)
        self._id = 0

    @property
    def member(self) -> Any:
        """The SquadMember of the character, None if it has none."""
        known = None if self._space is None else self._space.members.get(self._id)
        return None if known is None else known.member

    @property
    def row(self) -> int | None:
        """Row of the character in ``WalkingCrowd.near``; None if no other is within its reach in this frame."""
        return None if self.crowd is None else self.crowd.near().get(self._id)

    @property
    def crowding(self) -> float:
        """Distance of its goal within which the character asks who stands there; 0 if nobody else walks."""
        if self.crowd is None or len(self.crowd.members) < 2:
            return 0.0
        return CROWDING * self.crowd.members[self._id].radius

    def standing_at(self, goal: Any, within: float) -> int:
        """Return how many characters stand at a goal, as ``WalkingCrowd.standing_at``."""
        return 0 if self.crowd is None else self.crowd.standing_at(self._id, goal, within)

    def steering(self, speed: float) -> Callable[[Any, Any], Any]:
        """Return what corrects a wanted velocity of the character, given the position of its goal.

        Valid while the character stays in its crowd.
        """
        crowd, number = self.crowd, self._id
        assert crowd is not None

        def steer(velocity: Any, goal: Any) -> Any:
            row = crowd.near().get(number)
            return velocity if row is None else crowd.steer(row, velocity, speed, goal)

        return steer


def crowd_of(scheduler: Any, *, is_flat: bool) -> WalkingCrowd:
    """Return the crowd of an AIScheduler in 3D or 2D, created on first use; nested AISchedulers share one."""
    top = scheduler.top
    crowd: WalkingCrowd | None = top.shared.get((WalkingCrowd, is_flat))
    if crowd is None:
        crowd = top.shared[WalkingCrowd, is_flat] = WalkingCrowd(top.clock, is_flat=is_flat)
    return crowd
