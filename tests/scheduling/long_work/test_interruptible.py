"""What counts as interruptible work."""
from __future__ import annotations

import pytest

from ai_core.scheduling.interruptible import Interruptible, check_interruptible
from ai_core.scheduling.long_work import Suspendable


class Search:
    """Has the members, one of them by instance, and inherits nothing."""

    __slots__ = ("__dict__", "is_done")

    def __init__(self):
        self.is_done = self.is_cancelled = False
        self.progress = 0.0

    @property
    def result(self):
        raise RuntimeError("not yet")

    def advance(self, budget):
        pass

    def cancel(self):
        pass


def test_whatever_has_the_members_is_interruptible():
    pieces: list[Interruptible[object]] = [Search(), Suspendable(lambda: (yield))]
    for work in pieces:
        assert check_interruptible("work", work) is work


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (5, "work must be interruptible work, got 5 without is_done, is_cancelled, progress"),
        (None, "got None without"),
        (Search, r"got <class '.*test_interruptible.* without is_cancelled"),
        (lambda budget: None, r"in Suspendable\(function\)"),
    ],
)
def test_what_is_not_is_told_what_it_lacks(work, message):
    with pytest.raises(TypeError, match=message):
        check_interruptible("work", work)
