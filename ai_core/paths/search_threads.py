"""Turns of several searches at once, on the threads of an executor and on the one that waits for them.

All begins and ends within one call: while nobody waits nothing runs, so that the ground
never changes below a search, and nobody sees what a later frame found.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait

from ai_core.errors import shown, whole_number

__all__ = ["SearchThreads"]


class SearchThreads:
    """Runs jobs at once.

    Args:
        executor: whose threads help; not one of processes.
        helpers: how many threads help at most (count).

    Raises:
        TypeError: if it is no executor.
        ValueError: if the number is out of range.
    """

    def __init__(self, executor: Executor, helpers: int) -> None:
        if not hasattr(executor, "submit"):
            raise TypeError(f"executor must be an Executor of threads, got {shown(executor)}")
        self._executor = executor
        self._helpers = whole_number("helpers", helpers, minimum=1)

    def run(self, jobs: list[Callable[[], None]]) -> list[Exception | None]:
        """Run all jobs; return in their order what each raised, or None.

        Whoever is free takes the next one; helpers that have not begun when none is left are let go.
        """
        raised: list[Exception | None] = [None] * len(jobs)
        left = deque(range(len(jobs)))

        def work() -> None:
            while True:
                try:
                    number = left.popleft()
                except IndexError:
                    return
                try:
                    jobs[number]()
                except Exception as error:
                    raised[number] = error

        helpers: list[Future[None]] = []
        for _ in range(min(self._helpers, len(jobs) - 1)):
            helpers.append(self._executor.submit(work))
        work()
        wait([helper for helper in helpers if not helper.cancel()])
        return raised
