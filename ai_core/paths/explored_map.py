"""Explored map: connections between places, shared by movers that explore by trial.

Movers report the open neighbors of places, and query the map when they are at a dead end. Only
``advance`` writes into the map, so that no thread sees a partial report.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ai_core.budget import Budget, check_budget
from ai_core.errors import check_callable, whole_number
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.kinds import ListOf, MapOf, Row, Whole

__all__ = ["ExploredMap", "ExploredMapQuery"]


@dataclass(eq=False, slots=True)
class ExploredMapQuery:
    """Query for a path; ``ExploredMap.advance`` answers queries in order.

    Attributes:
        is_answered: True once the query is answered.
        path: path from the start to the goal, or to the best place with unexplored neighbors; None if
            everything reachable is explored and the goal is not part of it.
        reaches_goal: True if the path leads to the goal.
    """

    start: int
    goal: int
    apart: Callable[[int, int], float]
    is_answered: bool = False
    reaches_goal: bool = False
    path: list[int] | None = None


NEIGHBORS = ListOf(Whole(), make=tuple)


class ExploredMap(Saveable):
    """Explored places of a level and their connections. Interruptible work: advance it every frame.

    Cost: O(neighbors) per report; O(explored places) per query; a place is a step. About 150 bytes
    per place for all movers together; separate memories take as much for each mover.
    """

    SHOWN = ("version", "is_done")

    STATE = DeclaredState(
        known=MapOf(NEIGHBORS, key=Whole(), at="_neighbors"),
        reports=ListOf(Row(lambda *report: report, Whole(), NEIGHBORS), at="_reported"))
    """Pending queries are not saved: movers repeat them."""

    def __init__(self) -> None:
        self._neighbors: dict[int, tuple[int, ...]] = {}
        self._reports: deque[tuple[int, tuple[int, ...]]] = deque()
        self._pending: dict[int, tuple[int, tuple[int, ...]]] = {}  # latest pending report of each place
        self._questions: deque[ExploredMapQuery] = deque()
        self._search: Iterator[bool] | None = None
        self.version = 0

    def __len__(self) -> int:
        """Number of explored places."""
        return len(self._neighbors)

    @property
    def is_done(self) -> bool:
        """True if no report and no query is pending."""
        return not self._reports and not self._questions

    def knows(self, place: int) -> bool:
        """Return whether a place is explored. Cost: O(1)."""
        return place in self._neighbors

    def neighbors_of(self, place: int) -> tuple[int, ...]:
        """Return the known open neighbors of a place. Cost: O(1)."""
        return self._neighbors.get(place, ())

    def report(self, place: int, neighbors: Sequence[int]) -> None:
        """Report the open neighbors of a place; ``advance`` adds them to the map. Cost: O(neighbors).

        Raises:
            TypeError, ValueError: if the place or a neighbor is not a place.
        """
        neighbors, pending = tuple(neighbors), self._pending.get(whole_number("place", place, minimum=0))
        if (self._neighbors.get(place) if pending is None else pending[1]) != neighbors:
            neighbors = tuple([whole_number("neighbors", one, minimum=0) for one in neighbors])
            self._pending[place] = report = (place, neighbors)
            self._reports.append(report)

    def ask(self, start: int, goal: int, apart: Callable[[int, int], float]) -> ExploredMapQuery:
        """Request a path to a goal, or to the best place to continue exploring.

        Args:
            start: place of the mover.
            goal: goal place.
            apart: returns the distance of two places.

        Raises:
            TypeError, ValueError: if an argument has the wrong type or is out of range.

        Cost: O(1); ``advance`` does the work.
        """
        check_callable("apart", apart)
        question = ExploredMapQuery(
            whole_number("start", start, minimum=0), whole_number("goal", goal, minimum=0), apart)
        self._questions.append(question)
        return question

    def forget(self, places: Iterable[int]) -> None:
        """Remove places where the level has changed, and all places with a connection to them.

        Cost: O(explored places).
        """
        gone = set(places)
        around = gone.union(one for one, neighbors in self._neighbors.items() if not gone.isdisjoint(neighbors))
        for place in around:
            self._neighbors.pop(place, None)
            self._pending.pop(place, None)
        self._reports = deque(one for one in self._reports if one[0] not in around)
        self._search = None
        self.version += 1

    def advance(self, budget: Budget, /) -> None:
        """Process reports and answer queries, in order, until the budget is spent.

        Reports made while a query is in progress wait until it is answered.
        """
        check_budget(budget)
        while not budget.is_spent and not self.is_done:
            if self._search is None:
                self._take_reports(budget)
                if self._questions and not self._reports:
                    self._search = self._spread(self._questions[0])
            else:
                budget.spend()
                if next(self._search, True):
                    self._questions.popleft()
                    self._search = None

    @property
    def _reported(self) -> list[tuple[int, tuple[int, ...]]]:
        """Reports that ``advance`` has not processed; a copy, as other threads may report meanwhile."""
        return [*self._reports.copy()]

    @_reported.setter
    def _reported(self, reports: list[tuple[int, tuple[int, ...]]]) -> None:
        self._reports = deque(reports)
        self._pending = {report[0]: report for report in reports}

    def _finish_load(self) -> None:
        self._search = None
        self._questions.clear()
        self.version += 1

    def _take_reports(self, budget: Budget) -> None:
        while self._reports and not budget.is_spent:
            place, neighbors = report = self._reports.popleft()
            if self._pending.get(place) is report:  # an older report of the place is not the latest one
                del self._pending[place]
            self._neighbors[place] = neighbors
            self.version += 1
            budget.spend()

    def _spread(self, question: ExploredMapQuery) -> Iterator[bool]:
        """Answer a query by a breadth-first search over explored places; yields False after each but the last."""
        neighbors, came, front = self._neighbors, {question.start: question.start}, deque([(question.start, 0)])
        best: tuple[float, int] | None = None
        end: int | None = None
        while front and end is None:
            place, steps = front.popleft()
            if place == question.goal:
                end = place
            elif place not in neighbors:
                rank = (steps + question.apart(place, question.goal), place)
                best = rank if best is None else min(best, rank)
            else:
                for there in neighbors[place]:
                    if there not in came:
                        came[there] = place
                        front.append((there, steps + 1))
            if front and end is None:
                yield False
        end = best[1] if end is None and best is not None else end
        if end is not None:
            path = [end]
            while path[-1] != question.start:
                path.append(came[path[-1]])
            question.path = path[::-1]
        question.reaches_goal = end == question.goal
        question.is_answered = True
