"""HeldWalks: walks go on in frames of AI in which the budget, or a period, leaves their trees no turn."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from addons.ai_core.bridge.gd import HeldCourse, report_exception, without_turn


class HeldWalks:
    """The held courses of the walking habits under one AIScheduler.

    A body that stands for frames and then jumps looks broken, so moving it cannot wait as its decisions can. Where a
    course ends, at a corner, in the air, after a load or a changed property, the habit decides how to walk on, and not
    the tree. Courses are not saved. While a recording or a replay is under way bodies move in turns only, so that a
    replay goes on as its recording.

    Attributes:
        habits: the habits whose courses are held, by course.
        to_decide: those without a course that decide how to walk, by instance id, and whether they had their turn in
            this frame.

    Cost: in each frame 10 ns a course that had its turn, and for any other what its turn would have taken.
    """

    def __init__(self) -> None:
        self.habits: dict[HeldCourse, Any] = {}
        self.to_decide: dict[int, tuple[Any, bool]] = {}

    def hold(self, course: HeldCourse, habit: Any) -> None:
        """Let a course go on from the next frame on, as long as its habit allows it."""
        self.habits[course] = habit

    def let_go(self, course: HeldCourse) -> None:
        """End a course."""
        self.habits.pop(course, None)

    def decide(self, habit: Any, *, had_turn: bool = False) -> None:
        """Let a habit without a course decide how to walk; after its turn from the next frame on."""
        self.to_decide[habit.instance_id] = habit, had_turn

    def forget(self, habit: Any) -> None:
        """Let a habit decide no more: it has a turn, or it ends."""
        self.to_decide.pop(habit.instance_id, None)

    def was_loaded(self, tree: Any, habits: Iterable[Any]) -> None:
        """End the courses of a tree that was loaded, and let its active habits decide."""
        for habit in habits:
            if habit.walks:
                habit.was_loaded()
                self.decide(habit)

    def go_on(self, elapsed_s: float) -> None:
        """Move the actors whose trees had no turn in this frame (s); where that raises, the next turn decides."""
        for course in without_turn(list(self.habits)):
            habit = self.habits.get(course)
            if habit is None:       # it ended by what another moved
                continue
            with self._reporting(habit):
                may_walk = habit.walks_on()
                if may_walk is False:
                    course.pass_by(elapsed_s)
                elif may_walk and not course.go_on(elapsed_s):
                    habit.end_course()
                    self.decide(habit)
        to_decide, self.to_decide = self.to_decide, {}
        for habit, had_turn in to_decide.values():
            if habit.is_valid() and habit.held is None:
                with self._reporting(habit):
                    if had_turn or habit.walks_on() is None or habit.walk_between(elapsed_s):
                        self.decide(habit)

    @contextmanager
    def _reporting(self, habit: Any) -> Iterator[None]:
        """Report what is raised: one walk must not end the frame of all AI."""
        try:
            yield
        except Exception as error:
            report_exception(error, "walking without a turn", habit, once=True)
            habit.end_course()
