"""Who holds which spot of a CoverMap, what is known of spots, and how all of it is saved and drawn."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import AABB, Node, Rect2, RefusedValue, Variant, method, report_error
from addons.ai_core.nodes.debugging.line_picture import LinePicture
from addons.ai_core.nodes.maps.cover_of_scene import CoverScene
from addons.ai_core.nodes.maps.cover_scene_baking import packed_spots, spots_of_packed
from addons.ai_core.nodes.maps.cover_things import ThingBox
from addons.ai_core.nodes.saving.scene_values import path_of
from ai_core.maps.cover import CoverMap
from ai_core.maps.cover_body import CoverBody
from ai_core.maps.cover_spots import LEFT, OVER, RIGHT, CoverSpots
from ai_core.saving.fields import Fields, State, StateError

PEEKS = {LEFT: "left", RIGHT: "right", OVER: "over"}
HIGH, LOW, HELD = (0.4, 0.9, 0.45), (1.0, 0.85, 0.3), (1.0, 0.35, 0.3)
"""Colors of spots."""

VERSION = 2


def _from_version_1(state: State) -> State:
    """Nobody waited."""
    return {**state, "version": 2, "requests": {"last": 0, "waiting": []}}


MIGRATIONS = {1: _from_version_1}


class CoverHolding:
    """Spots of a CoverMap, and who holds them; a part of that class."""

    dimensions: Any
    Dimensions: Any
    pixels_per_m: Any
    cover_mask: Any
    agent_radius_m: Any
    standing_m: Any
    crouching_m: Any
    objects_group: Any
    show_in_game: Any
    baked: Any
    cover_lost: Any
    known: Any
    waiting: int
    saved_requests: Callable[[], State]
    prepared_requests: Callable[[Fields], Callable[[], None]]
    is_valid: Any
    is_inside_tree: Any
    get_tree: Any
    get_node_or_null: Any
    _scheduler: Any
    _scene: Any

    def begin_holding(self) -> None:
        """Nobody holds anything."""
        self.cover = CoverMap()
        self._agents: dict[int, Any] = {}            # who holds, by the library's number
        self._numbers: dict[int, int] = {}           # of agents and things, by instance id
        self._last_number = 0
        self._things: dict[int, ThingBox] = {}
        self._wrong: set[int] = set()                # things that were reported
        self._picture: LinePicture | None = None
        self._drawn: tuple[Any, ...] = ()

    def end_holding(self) -> None:
        """Let everybody go, and draw no more."""
        for who in list(self.cover.held):
            self.cover.release(who)
        self._agents.clear()
        self._things.clear()
        self._numbers.clear()
        self._wrong.clear()
        self._hide()

    @property
    def scene(self) -> CoverScene:
        """The scene as it is seen; made when it is first needed."""
        if self._scene is None:
            is_flat = self.dimensions == self.Dimensions.TWO
            self._scene = CoverScene(
                self, 2 if is_flat else 3, self.cover_mask, self.pixels_per_m if is_flat else 1.0)
        return self._scene  # type: ignore[no-any-return]

    @property
    def body(self) -> CoverBody:
        """Who hides."""
        if self.dimensions == self.Dimensions.TWO:
            return CoverBody(self.agent_radius_m, 0, 0, "-z")
        return CoverBody(self.agent_radius_m, self.standing_m, min(self.crouching_m, self.standing_m))

    @method
    def reserve(self, spot: int, agent: Node) -> bool:
        """Keep a spot for an agent until it lets go or leaves the tree; false if another holds it, or one too near."""
        self.known(spot)
        who = self.who_of(agent)
        self.cover.apart_m = 2 * self.body.radius_m
        if not self.cover.reserve(spot, who):
            return False
        self._agents[who] = agent
        return True

    @method
    def release(self, agent: Node) -> None:
        """Let go of what an agent holds; nothing if it is nothing."""
        who = self._numbers.pop(_need("release", agent).instance_id, 0)
        self.cover.release(who)
        self._agents.pop(who, None)

    @method
    def get_cover_of(self, agent: Node) -> int:
        """Return the spot that an agent holds, 0 for none."""
        return int(self.cover.held.get(self._numbers.get(_need("get_cover_of", agent).instance_id, 0), 0))

    @method
    def get_holder(self, spot: int) -> Variant:
        """Return the node that holds a spot, null for none."""
        self.known(spot)
        return self._agents.get(self.cover.holders.get(spot))

    @method
    def cover_at(self, place: Variant, radius_m: float = 1.0) -> int:
        """Return the spot of the level that is nearest to a place, at most so far away; 0 for none."""
        found = self.cover.near(self.scene.place("place", place), radius_m)
        return found[0] if found else 0

    @method
    def get_spots(self) -> list:
        """Return the ids of all spots of the level."""
        return [int(one) for one in self.cover.ids]

    @method
    def get_place(self, spot: int) -> Variant:
        """Return where a spot is: where feet are."""
        return self.scene.vector(self.known(spot).place)

    @method
    def get_direction(self, spot: int) -> Variant:
        """Return the way from a spot to what protects it, of length 1."""
        vector = self.scene.vector(self.known(spot).towards)
        return type(vector)(*(one / self.scene.pixels_per_m for one in vector))

    @method
    def is_low(self, spot: int) -> bool:
        """Return whether only who crouches is hidden there."""
        return bool(self.known(spot).is_low)

    @method
    def get_peeks(self, spot: int) -> list:
        """Return past which sides of its cover one can look: "left", "right", "over"."""
        return [name for bit, name in PEEKS.items() if self.known(spot).peeks & bit]

    @method
    def get_exposure(self, spot: int) -> float:
        """Return which share of the directions around a spot lies open, 0 to 1."""
        return float(self.known(spot).exposure)

    @method
    def get_object(self, spot: int) -> Variant:
        """Return the node that a spot lies behind, null for one of the level."""
        thing = self.known(spot).thing
        box = None if thing is None else self._things.get(thing)
        return None if box is None or not box.node.is_valid() else box.node

    def who_of(self, node: Any) -> int:
        """Return the library's number of a node.

        Raises:
            RefusedValue: if it is none.
        """
        if node is None or not node.is_valid():
            raise RefusedValue(f"agent must be a node that is there, got {node!r}")
        number = self._numbers.get(node.instance_id)
        if number is None:
            self._last_number += 1
            number = self._numbers[node.instance_id] = self._last_number
        return number

    def who_knows(self, node: Any) -> int | None:
        """Return the library's number of a node that held something, None if it never did."""
        return self._numbers.get(node.instance_id)

    def box_of(self, area: Any) -> tuple[list[float], list[float]]:
        """Return the corners of an area, and so much around it that walls at its border count (m)."""
        kind = Rect2 if self.dimensions == self.Dimensions.TWO else AABB
        if not isinstance(area, kind):
            raise RefusedValue(f"area must be of type {kind.__name__}, got {area!r}")
        numbers = np.array(tuple(area), float) / self.scene.pixels_per_m
        size = len(numbers) // 2
        around = 2 * self.agent_radius_m + 1.0
        low, high = numbers[:size] - around, numbers[:size] + numbers[size:] + around
        flat = [0.0] * (3 - size)
        return [*low.tolist(), *flat], [*high.tolist(), *flat]

    def take_spots(self, spots: CoverSpots, box: Any) -> None:
        """Take baked spots, those of a box or all, and tell who lost one."""
        before = dict(self.cover.held)
        change = self.cover.replace(spots, *(box or (None, None)))
        if box is None:
            self._baked_by_itself = True
            self.baked = packed_spots(spots)
            self._baked_by_itself = False
        self._tell_lost(change.lost_by, before)

    def _take_baked(self) -> None:
        if getattr(self, "_baked_by_itself", False):
            return
        try:
            spots = spots_of_packed(np.asarray(self.baked, np.float32))
        except ValueError as error:
            report_error(str(error), self)
            return
        self.cover.replace(spots)

    def things(self) -> list[Any]:
        """Return the nodes that move and may hide somebody."""
        if not self.objects_group or not self.is_inside_tree():
            return []
        return list(self.get_tree().get_nodes_in_group(self.objects_group))

    def refresh_things(self) -> None:
        """See where things are now, and tell who lost cover by it. Cost: some 20 µs a thing."""
        there, before, lost = set(), dict(self.cover.held), []
        for node in self.things():
            box = self._box(node)
            if box is not None:
                number = self.who_of(node)
                there.add(number)
                lost += self.cover.put_object(number, box.thing(self.scene.pixels_per_m))
        for number in [one for one in self.cover.things if one not in there]:
            lost += self.cover.remove_object(number)
            box = self._things.pop(number, None)
            if box is not None:
                self._numbers.pop(box.node.instance_id, None)
        self._tell_lost(lost, before)

    def watch_holders(self) -> None:
        """Free what those hold who are gone, and look where things are that somebody hides behind."""
        for who, agent in list(self._agents.items()):
            if not agent.is_valid() or not agent.is_inside_tree():
                self.cover.release(who)
                self._numbers.pop(agent.instance_id, None)
                del self._agents[who]
        if any(one in self.cover.holders for one in self.cover.behind):
            self.refresh_things()

    def _box(self, node: Any) -> ThingBox | None:
        number = self.who_of(node)
        if number in self._things or node.instance_id in self._wrong:
            return self._things.get(number)
        kind = f"Node{self.scene.dimensions}D"
        try:
            if not node.is_class(kind):
                raise ValueError(f"'{node.get_name()}' is in the group '{self.objects_group}', and no {kind}")
            self._things[number] = ThingBox(node)
        except ValueError as error:
            self._wrong.add(node.instance_id)
            report_error(str(error), self)
        return self._things.get(number)

    def _tell_lost(self, lost: list[Any], before: dict[Any, int]) -> None:
        for who in lost:
            agent = self._agents.pop(who, None)
            if agent is not None and agent.is_valid() and self.is_valid():
                self.cover_lost.emit(agent, before[who])

    def is_in_use(self) -> bool:
        """Whether there is something to save."""
        return len(self.cover) > 0 or bool(self.cover.held) or self.waiting > 0

    def saved(self) -> State:
        """Return the state: the map, and the paths of who holds and what hides."""
        nodes = {**self._agents, **{number: box.node for number, box in self._things.items()}}
        kept = {number: node for number, node in nodes.items() if node.is_valid() and node.is_inside_tree()}
        return {
            "version": VERSION, "map": self.cover.save_state(), "requests": self.saved_requests(),
            "nodes": [[number, path_of(self._scheduler, node)] for number, node in sorted(kept.items())]}

    def prepared(self, state: object) -> Callable[[], None]:
        """Check a saved state; return what takes it back.

        Raises:
            StateError: if something does not fit.
        """
        fields = Fields.versioned(state, version=VERSION, migrations=MIGRATIONS)
        load_requests = self.prepared_requests(fields.group("requests"))
        load = self.cover.prepare_state(fields.anything("map"))
        nodes: dict[int, Any] = {}
        for index, pair in enumerate(fields.items("nodes")):
            if not isinstance(pair, list) or len(pair) != 2 or type(pair[1]) is not str:
                fields.refuse(f"nodes[{index}]", "must be a number and a path")
            node = self._scheduler.get_node_or_null(pair[1])
            if node is None:
                raise StateError(f"'nodes[{index}]' names '{pair[1]}', which is not in the scene")
            nodes[int(pair[0])] = node
        fields.end()
        saved_things = {int(one["number"]) for one in fields.group("map").anything("things")}
        try:
            things = {number: ThingBox(node) for number, node in nodes.items() if number in saved_things}
        except ValueError as error:
            raise StateError(str(error)) from None

        def change() -> None:
            load()
            load_requests()
            self._numbers = {node.instance_id: number for number, node in nodes.items()}
            self._last_number = max([*nodes, *saved_things, 0])
            self._things = things
            self._agents = {who: nodes[who] for who in self.cover.held if who in nodes}
            for who in [one for one in self.cover.held if one not in nodes]:
                self.cover.release(who)

        return change

    def begin_anew(self) -> None:
        """What was not in a save stays as it is."""

    def show(self) -> None:
        """Draw spots, if something has changed."""
        now = (self.cover.version, tuple(self.cover.holders))
        if self._picture is not None and now == self._drawn:
            return
        if self._picture is None:
            self._picture = LinePicture(self, is_flat=self.dimensions == self.Dimensions.TWO)
        self._drawn = now
        self._picture.draw(self._lines())

    def _lines(self) -> list[tuple[Any, tuple[float, float, float]]]:
        spots, body = self.cover.spots, self.body
        unit = np.float32(self.scene.pixels_per_m)
        held = [self.cover.spot(one) for one in self.cover.holders]
        is_held = np.isin(self.cover.ids, list(self.cover.holders))
        lots = [
            (spots.places[rows], spots.towards[rows], spots.is_low[rows], color)
            for rows, color in ((~is_held & ~spots.is_low, HIGH), (~is_held & spots.is_low, LOW))]
        if held:
            lots.append((
                np.array([one.place for one in held]), np.array([one.towards for one in held]),
                np.array([one.is_low for one in held]), HELD))
        lines = []
        for places, towards, is_low, color in lots:
            heights = np.where(is_low, body.crouching_m, body.standing_m)[:, None].astype(np.float32)
            tops = places + body.upward * heights
            sides = body.left_of(towards) * np.float32(body.radius_m) if len(places) else places
            pairs = [(places, tops), (tops, tops + towards * np.float32(0.4)), (places - sides, places + sides)]
            points = np.concatenate([np.stack(pair, axis=1).reshape(-1, 3) for pair in pairs])
            lines.append(((points * unit).astype(np.float32), color))
        return lines

    def _show_set(self) -> None:
        if not self.show_in_game:
            self._hide()

    def _hide(self) -> None:
        if self._picture is not None:
            self._picture.free()
            self._picture = None
            self._drawn = ()


def _need(purpose: str, agent: Any) -> Any:
    if agent is None:
        raise RefusedValue(f"{purpose} needs a node, got null")
    return agent
