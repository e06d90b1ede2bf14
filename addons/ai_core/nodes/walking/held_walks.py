"""HeldWalks: walks go on in frames of AI in which the budget, or a period, leaves their trees no turn."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import HeldCourse, report_exception, without_turn


class HeldWalks:
    """The held courses of the walking habits under one AIScheduler.

    A body that stands for frames and then jumps looks broken, so moving it cannot wait as its decisions can. Courses
    are not saved: after a load a body stands until the first turn of its tree, which walks for the rest of its time.
    While a recording or a replay is under way bodies move in turns only, so that a replay goes on as its recording.

    Attributes:
        habits: the habits whose courses are held, by course.

    Cost: in each frame 10 ns a course that had its turn, and for any other what its turn would have taken.
    """

    def __init__(self) -> None:
        self.habits: dict[HeldCourse, Any] = {}

    def hold(self, course: HeldCourse, habit: Any) -> None:
        """Let a course go on from the next frame on, as long as its habit allows it."""
        self.habits[course] = habit

    def let_go(self, course: HeldCourse) -> None:
        """End a course."""
        self.habits.pop(course, None)

    def end_all_of(self, tree: Any) -> None:
        """End the courses of the habits of a tree that was loaded; its present runs decide."""
        for habit in [one for one in self.habits.values() if one._tree is tree]:
            habit.end_course()

    def go_on(self, elapsed_s: float) -> None:
        """Move the actors whose trees had no turn in this frame (s); where that raises, the next turn decides."""
        for course in without_turn(list(self.habits)):
            habit = self.habits.get(course)
            if habit is None:       # it ended by what another moved
                continue
            try:
                if habit.walks_on():
                    course.go_on(elapsed_s)
            except Exception as error:      # one walk must not end the frame of all AI
                report_exception(error, "walking without a turn", habit, once=True)
                habit.end_course()
