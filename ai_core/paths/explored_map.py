"""The map of explored ways, which all share who find their way by trying.

Everybody reports what is open around, and asks when it knows no further. Only the map
itself writes into it, when it is advanced: so nobody sees half of a report, on whatever
thread it was made.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from ai_core.budget import Budget, check_budget
from ai_core.errors import shown, whole_number
from ai_core.saving.fields import Fields, State

__all__ = ["ExploredMap", "ExploredQuestion"]


class ExploredQuestion:
    """A question about the way; answered when the map gets to it.

    Attributes:
        is_answered: whether it is.
        way: from the start to the goal, or to the best place from which something unknown is
            open; None if all that can be reached is known, and the goal is not in it.
        leads_there: whether the way leads to the goal.
    """

    __slots__ = ("apart", "goal", "is_answered", "leads_there", "start", "way")

    def __init__(self, start: int, goal: int, apart: Callable[[int, int], float]) -> None:
        self.start, self.goal, self.apart = start, goal, apart
        self.is_answered = self.leads_there = False
        self.way: list[int] | None = None


class ExploredMap:
    """What is known of the ways of a level. Interruptible work: advance it each frame.

    Cost: O(ways) for a report; O(known places) for a question; a place is a step. Some 150
    bytes a place, once for all, where memories of their own take as much for each character.
    """

    def __init__(self) -> None:
        self._ways: dict[int, tuple[int, ...]] = {}
        self._reports: deque[tuple[int, tuple[int, ...]]] = deque()
        self._told: dict[int, tuple[int, tuple[int, ...]]] = {}  # of places whose reports wait, the latest
        self._questions: deque[ExploredQuestion] = deque()
        self._search: _Spread | None = None
        self.version = 0

    def __len__(self) -> int:
        """How many places somebody was at."""
        return len(self._ways)

    @property
    def is_done(self) -> bool:
        """True if it has nothing to do."""
        return not self._reports and not self._questions

    def knows(self, place: int) -> bool:
        """Return whether somebody was there. Cost: O(1)."""
        return place in self._ways

    def ways_from(self, place: int) -> tuple[int, ...]:
        """Return what is known to be open from a place. Cost: O(1)."""
        return self._ways.get(place, ())

    def report(self, place: int, open_ways: Sequence[int]) -> None:
        """Tell what is open around a place; it is known once the map was advanced. Cost: O(ways).

        Raises:
            TypeError, ValueError: if it is no place, or one of the ways is none.
        """
        ways, told = tuple(open_ways), self._told.get(whole_number("place", place, minimum=0))
        if (self._ways.get(place) if told is None else told[1]) != ways:
            ways = tuple([whole_number("open_ways", one, minimum=0) for one in ways])
            self._told[place] = report = (place, ways)
            self._reports.append(report)

    def ask(self, start: int, goal: int, apart: Callable[[int, int], float]) -> ExploredQuestion:
        """Ask for the way to a goal, or to where it may be looked for next.

        Args:
            start: where who asks stands.
            goal: where to.
            apart: how far two places are apart.

        Raises:
            TypeError, ValueError: if an argument is not what it must be.

        Cost: O(1); what it takes is done by ``advance``.
        """
        if not callable(apart):
            raise TypeError(f"apart must be a callable, got {shown(apart)}")
        question = ExploredQuestion(
            whole_number("start", start, minimum=0), whole_number("goal", goal, minimum=0), apart)
        self._questions.append(question)
        return question

    def forget(self, places: Iterable[int]) -> None:
        """Forget what is open around places where the level has changed, and who leads to them.

        Cost: O(known places).
        """
        gone = set(places)
        around = gone.union(one for one, ways in self._ways.items() if not gone.isdisjoint(ways))
        for place in around:
            self._ways.pop(place, None)
            self._told.pop(place, None)
        self._reports = deque(one for one in self._reports if one[0] not in around)
        self._search = None
        self.version += 1

    def advance(self, budget: Budget, /) -> None:
        """Take in reports and answer questions, in the order they came, until the budget is spent.

        What is reported while a question is being answered waits until it is.
        """
        check_budget(budget)
        while not budget.is_spent and not self.is_done:
            if self._search is None:
                self._take_reports(budget)
                if self._questions and not self._reports:
                    self._search = _Spread(self._ways, self._questions[0])
            elif self._search.advance(budget):
                self._questions.popleft()
                self._search = None

    def save_state(self) -> State:
        """Return what is known and reported, as plain data; questions are asked anew by who asked them."""
        known = {**self._ways, **dict(self._reports.copy())}
        return {"version": 1, "ways": [[place, *ways] for place, ways in sorted(known.items())]}

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what ``save_state`` returned; return what takes it back.

        Raises:
            StateError: if something does not fit; nothing is changed then.
        """
        fields = Fields.versioned(state, version=1)
        known: dict[int, tuple[int, ...]] = {}
        for index, row in enumerate(fields.items("ways")):
            numbers = Fields({"row": row}, f"ways[{index}]").wholes("row")
            if not numbers or numbers[0] in known:
                fields.refuse(f"ways[{index}]", "must begin with a place that is in no other row")
            known[numbers[0]] = tuple(numbers[1:])
        fields.end()

        def change() -> None:
            self._ways = known
            self._reports.clear()
            self._told.clear()
            self._questions.clear()
            self._search = None
            self.version += 1

        return change

    def _take_reports(self, budget: Budget) -> None:
        while self._reports and not budget.is_spent:
            place, ways = report = self._reports.popleft()
            if self._told.get(place) is report:  # of two that say the same, only the latter is the latest
                del self._told[place]
            self._ways[place] = ways
            self.version += 1
            budget.spend()


class _Spread:
    """One answer: known places, from the start outward, until the goal is met or all were seen."""

    def __init__(self, ways: dict[int, tuple[int, ...]], question: ExploredQuestion) -> None:
        self._ways, self._question = ways, question
        self._from: dict[int, int] = {question.start: question.start}
        self._front = deque([(question.start, 0)])
        self._best: tuple[float, int] | None = None

    def advance(self, budget: Budget) -> bool:
        """Go on; return whether it is answered."""
        question, ways = self._question, self._ways
        while self._front:
            place, steps = self._front.popleft()
            budget.spend()
            if place == question.goal:
                return self._answer(place)
            if place not in ways:
                rank = (steps + question.apart(place, question.goal), place)
                self._best = rank if self._best is None else min(self._best, rank)
            else:
                for there in ways[place]:
                    if there not in self._from:
                        self._from[there] = place
                        self._front.append((there, steps + 1))
            if budget.is_spent and self._front:
                return False
        return self._answer(None if self._best is None else self._best[1])

    def _answer(self, end: int | None) -> bool:
        question = self._question
        if end is not None:
            way = [end]
            while way[-1] != question.start:
                way.append(self._from[way[-1]])
            question.way = way[::-1]
        question.leads_there = end == question.goal
        question.is_answered = True
        return True
