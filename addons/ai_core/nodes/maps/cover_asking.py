"""How a CoverMap is asked for cover: at once, or within the budget of the frames."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from addons.ai_core.bridge.gd import RefusedValue, Variant, Vector2, Vector3, method, report_exception
from addons.ai_core.nodes.saving.scene_values import path_of
from addons.ai_core.nodes.scheduling.scheduled import check_callable
from ai_core.budget import Budget
from ai_core.errors import UnknownNameError
from ai_core.maps.cover_search import CoverSearch, CoverWish
from ai_core.saving.fields import Fields, State

POSTURES = ("any", "stand", "crouch")


class Request(NamedTuple):
    """A request that waits."""

    number: int
    agent: Any
    threats: list[Any]
    posture: str


class CoverAsking:
    """Searches of a CoverMap; a part of that class."""

    cover: Any
    scene: Any
    body: Any
    who_knows: Any
    refresh_things: Any
    cover_found: Any
    cover_failed: Any
    is_valid: Any
    eye_height_m: Any
    range_m: Any
    least_threat_m: Any
    least_protection: Any
    protection_weight: Any
    distance_weight: Any
    exposure_weight: Any
    staying_weight: Any
    _travel: Any
    _scheduler: Any

    def begin_asking(self) -> None:
        """Nothing was asked yet."""
        self._travel = None
        self._requests: deque[Request] = deque()
        self._now: tuple[Request, CoverSearch] | None = None
        self._last: CoverSearch | None = None
        self._last_request, self.searches = 0, 0

    def end_asking(self) -> None:
        """Forget who waits."""
        self._requests.clear()
        self._now = self._last = None

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._requests) + (self._now is not None)

    @method
    def find_cover(self, agent: Variant, threats: list, posture: str = "any") -> int:
        """Return the best spot for an agent from some threats, 0 if there is none; why() tells more.

        Agent and threats are nodes or points. The posture "stand" leaves out low cover. It is
        looked for at once, whatever the budget: for many, use request_cover(). Nothing is reserved.
        """
        self.refresh_things()
        search = self._search(agent, threats, posture)
        self._advance(search, agent, threats, Budget.unlimited())
        return self._spot_of(search)

    @method
    def request_cover(self, agent: Variant, threats: list, posture: str = "any") -> int:
        """Ask for the best spot within the budget; cover_found or cover_failed tell of it, with this number."""
        self._checked(agent, threats, posture)
        self._last_request += 1
        self._requests.append(Request(self._last_request, agent, list(threats), posture))
        return self._last_request

    @method
    def cancel_request(self, request: int) -> None:
        """Ask no more; nothing if it was answered."""
        self._requests = deque(one for one in self._requests if one.number != request)
        if self._now is not None and self._now[0].number == request:
            self._now = None

    @method
    def set_travel_cost(self, travel: Variant) -> None:
        """Let a Callable say how far it is to go: travel(from, places) -> PackedFloat32Array (m), INF for no way.

        It is called for a few places at a time. Without one, or with null, distances count.
        """
        if travel is not None:
            check_callable(travel, "set_travel_cost")
        self._travel = travel

    @method
    def why(self, spot: int = 0) -> str:
        """Return in words what came of the last search, or of one spot in it."""
        if self._last is None:
            return "nothing was asked yet"
        if spot == 0:
            return self._last.why
        found = [one.why for one in self._last.verdicts if one.spot.id == spot]
        result = self._last.result if self._last.is_done else None
        if result is not None and result.spot.id == spot:
            found = [result.why]
        return found[0] if found else f"spot {spot} was not judged: it is out of range, or could not be better"

    def saved_requests(self) -> State:
        """Return who waits, by paths and places; a search that runs begins anew."""
        now = [] if self._now is None else [self._now[0]]
        return {"last": self._last_request, "waiting": [
            {"number": one.number, "agent": self._saved_who(one.agent),
             "threats": [self._saved_who(threat) for threat in one.threats], "posture": one.posture}
            for one in (*now, *self._requests)]}

    def prepared_requests(self, fields: Fields) -> Callable[[], None]:
        """Check what ``saved_requests`` returned; return what takes it back.

        Raises:
            StateError: if something does not fit.
        """
        last, waiting = fields.whole("last"), []
        for one in fields.groups("waiting"):
            threats = [self._read_who(one, "threats", threat) for threat in one.items("threats")]
            waiting.append(Request(
                one.whole("number", minimum=1, maximum=last), self._read_who(one, "agent", one.anything("agent")),
                threats, one.one_of("posture", POSTURES)))
            if not threats:
                one.refuse("threats", "must be one at least")
            one.end()
        fields.end()

        def change() -> None:
            self._last_request, self._requests, self._now = last, deque(waiting), None

        return change

    def _saved_who(self, who: Any) -> str | list[float]:
        """Return the path of a node, or a point; where a node was that is gone, nobody knows: its request fails."""
        if not hasattr(who, "instance_id"):
            return [float(one) for one in who]
        return path_of(self._scheduler, who) if who.is_valid() and who.is_inside_tree() else ""

    def _read_who(self, fields: Fields, name: str, saved: object) -> Any:
        if isinstance(saved, str):
            return self._scheduler.get_node_or_null(saved) if saved else None
        if not isinstance(saved, list):
            fields.refuse(name, f"must be paths or points, got {saved!r}")
        numbers = Fields({name: saved}, fields.place_of(name)).numbers(name, count=self.scene.dimensions)
        return (Vector3 if self.scene.dimensions == 3 else Vector2)(*numbers)

    def answer_requests(self, budget: Budget) -> None:
        """Go on with requests, in the order asked, until the budget is spent."""
        if self.waiting:
            self.refresh_things()
        while self.waiting and not budget.is_spent and self.is_valid() and self._scheduler is not None:
            if self._now is None:
                request = self._requests.popleft()
                try:
                    self._now = request, self._search(request.agent, request.threats, request.posture)
                except RefusedValue as error:
                    self.cover_failed.emit(request.number, str(error))
                    continue
            request, search = self._now
            try:
                self._advance(search, request.agent, request.threats, budget)
            except Exception as error:       # of the user's travel cost: the others are still to be answered
                self._now = None
                report_exception(error, f"request_cover() {request.number}", self)
                self.cover_failed.emit(request.number, f"{type(error).__name__}: {error}")
                continue
            if search.is_done:
                self._now = None
                spot = self._spot_of(search)
                if spot:
                    self.cover_found.emit(request.number, spot)
                else:
                    self.cover_failed.emit(request.number, search.why)

    def _search(self, agent: Any, threats: list[Any], posture: str) -> CoverSearch:
        here, eyes = self._checked(agent, threats, posture)
        wish = CoverWish(
            range_m=self.range_m, least_threat_m=self.least_threat_m, least_protection=self.least_protection,
            posture=posture, protection=self.protection_weight,  # type: ignore[arg-type]
            distance=self.distance_weight, exposure=self.exposure_weight, staying=self.staying_weight)
        self.searches += 1
        self.cover.apart_m = 2 * self.body.radius_m
        who = self.who_knows(agent) if hasattr(agent, "instance_id") else None
        self._last = CoverSearch(
            self.cover, here, eyes, self.scene.blocked, body=self.body, wish=wish, who=who,
            travel=self._traveling(agent) if self._travel is not None else None, ground=self.scene.ground(self.body))
        return self._last

    def _advance(self, search: CoverSearch, agent: Any, threats: list[Any], budget: Budget) -> None:
        self.scene.without([one for one in (agent, *threats) if hasattr(one, "instance_id") and one.is_valid()])
        search.advance(budget)

    def _checked(self, agent: Any, threats: list[Any], posture: str) -> tuple[list[float], np.ndarray]:
        if self._scheduler is None:
            raise RefusedValue("needs an AIScheduler; add this node to a scene that has one before asking")
        if posture not in POSTURES:
            raise RefusedValue(f"posture must be one of {', '.join(POSTURES)}, got {posture!r}")
        if not threats:
            raise RefusedValue("threats must hold at least one node or point; without a threat all is cover")
        eyes = [self.scene.place(f"threats[{index}]", one, self.eye_height_m) for index, one in enumerate(threats)]
        return self.scene.place("agent", agent), np.array(eyes, np.float32)

    def _traveling(self, agent: Any) -> Any:
        scene, travel = self.scene, self._travel
        start = agent.global_position if hasattr(agent, "global_position") else agent

        def told(places: np.ndarray) -> np.ndarray:
            there = np.ascontiguousarray(places[:, :scene.dimensions] * np.float32(scene.pixels_per_m))
            return np.asarray(travel(start, there), np.float64)

        return told

    def _spot_of(self, search: CoverSearch) -> int:
        result = search.result
        return 0 if result is None else result.spot.id

    def known(self, spot: int) -> Any:
        """Return a spot of the map.

        Raises:
            RefusedValue: if there is none of that id, or no more.
        """
        try:
            return self.cover.spot(spot)
        except UnknownNameError:
            raise RefusedValue(f"there is no spot {spot}; it was never there, or is gone") from None


