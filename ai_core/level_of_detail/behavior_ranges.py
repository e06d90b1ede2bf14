"""Which behavior suits an importance? Overlapping ranges, and four ways to choose.

- ``first``: the first in the list; the usual choice, most detailed first.
- ``any``: whichever is found soonest, by binary search over range centres.
- ``most_central``: the one in the middle of whose range importance lies; it
  will last longest, good where entering is costly.
- ``smallest_range``: the most specific one.

Of equals, the first in the list is taken.
"""
from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ai_core.errors import UnknownNameError, finite_number, shown

__all__ = ["ARBITRATIONS", "BehaviorRanges", "ImportanceRange", "checked_importance", "united"]

ARBITRATIONS = ("first", "any", "most_central", "smallest_range")
"""The ways to choose."""


class ImportanceRange(NamedTuple):
    """Importances from ``lowest`` to ``highest``, both included."""

    lowest: float
    highest: float

    def holds(self, importance: float) -> bool:
        """Return True if an importance lies in it."""
        return self.lowest <= importance <= self.highest

    @property
    def centre(self) -> float:
        """The middle of it."""
        return (self.lowest + self.highest) / 2


class BehaviorRanges:
    """Ranges of importance, most detailed behavior first.

    Args:
        ranges: lowest and highest importance of each, 0 to 1.
        arbitration: one of ARBITRATIONS: which of several is taken.
        names: what messages call them; None numbers them.
        may_have_gaps: whether an importance may be in none of them.

    Raises:
        ValueError: if a range is reversed or empty, or gaps are left; names them all.
    """

    def __init__(
        self, ranges: Sequence[tuple[float, float]], *, arbitration: str = "first",
        names: Sequence[str] | None = None, may_have_gaps: bool = False,
    ) -> None:
        if arbitration not in ARBITRATIONS:
            raise UnknownNameError("arbitration", arbitration, ARBITRATIONS)
        names = [str(number) for number in range(len(ranges))] if names is None else names
        self._ranges = [_checked(name, one) for name, one in zip(names, ranges, strict=True)]
        if not may_have_gaps:
            _refuse_gaps(self._ranges)
        self._choose: Callable[[float], int | None] = getattr(self, f"_{arbitration}")
        self._by_centre = sorted(range(len(ranges)), key=lambda one: (self._ranges[one].centre, one))
        in_order = [self._ranges[one] for one in self._by_centre]
        self._centres = [one.centre for one in in_order]
        self._highest_so_far = list(accumulate((one.highest for one in in_order), max))
        lowest = list(accumulate((one.lowest for one in reversed(in_order)), min))
        self._lowest_from_here = lowest[::-1]

    def __len__(self) -> int:
        return len(self._ranges)

    def __getitem__(self, number: int) -> ImportanceRange:
        return self._ranges[number]

    def __iter__(self) -> Iterator[ImportanceRange]:
        return iter(self._ranges)

    def held(self, margin: float) -> list[ImportanceRange]:
        """Return up to where each behavior is kept once it runs: hysteresis for all borders.

        Where a neighbour's range overlaps by less than twice the margin, the
        border is moved outwards by what is missing, but no more than half way
        into the neighbour. Borders on a gap stay, as do 0 and 1.
        """
        return [
            ImportanceRange(one.lowest - _beyond(one, self._ranges, margin),
                  one.highest + _beyond(_mirrored(one), [_mirrored(two) for two in self._ranges], margin))
            for one in self._ranges
        ]

    def choose(self, importance: float) -> int | None:
        """Return the number of the behavior to take, None if none is available.

        Cost: O(log n) for ``any``, else O(n).
        """
        return self._choose(importance)

    def _first(self, importance: float) -> int | None:
        return next((n for n, one in enumerate(self._ranges) if one.holds(importance)), None)

    def _any(self, importance: float) -> int | None:
        """Try the two nearest centres; if they fail, whoever reaches far enough.

        A range whose centre is at or below importance holds it if its end is
        not below. Ends are not sorted, but the highest end so far is: where it
        first reaches importance, it is that range's own. Likewise above.
        """
        above = bisect_right(self._centres, importance)
        for place in (above - 1, above):
            if 0 <= place < len(self) and self._ranges[self._by_centre[place]].holds(importance):
                return self._by_centre[place]
        place = bisect_left(self._highest_so_far, importance)
        if place < above:
            return self._by_centre[place]
        place = bisect_right(self._lowest_from_here, importance) - 1
        return self._by_centre[place] if place >= above else None

    def _most_central(self, importance: float) -> int | None:
        return min(
            self._available(importance),
            key=lambda n: (abs(importance - self._ranges[n].centre), n), default=None,
        )

    def _smallest_range(self, importance: float) -> int | None:
        return min(
            self._available(importance),
            key=lambda n: (self._ranges[n].highest - self._ranges[n].lowest, n), default=None,
        )

    def _available(self, importance: float) -> list[int]:
        return [number for number, one in enumerate(self._ranges) if one.holds(importance)]


def checked_importance(value: object) -> float:
    """Return ``value`` if it is an importance.

    Raises:
        TypeError: if it is no number.
        ValueError: if it is NaN or outside 0 to 1.
    """
    if type(value) is float and 0 <= value <= 1:  # asked by everybody at every turn
        return value
    return finite_number("importance", value, minimum=0, maximum=1)


def _checked(name: str, one: tuple[float, float]) -> ImportanceRange:
    try:
        lowest, highest = one
    except (TypeError, ValueError):
        raise TypeError(f"range of {name!r} must be (lowest, highest), got {shown(one)}") from None
    found = ImportanceRange(
        finite_number(f"lowest of {name!r}", lowest, minimum=0, maximum=1),
        finite_number(f"highest of {name!r}", highest, minimum=0, maximum=1),
    )
    if found.lowest > found.highest:
        raise ValueError(
            f"range of {name!r} is reversed: {found.lowest:g} to {found.highest:g};"
            " give the lowest importance first"
        )
    if found.lowest == found.highest:
        raise ValueError(
            f"range of {name!r} is empty: {found.lowest:g} to {found.highest:g}; widen it"
        )
    return found


def _refuse_gaps(ranges: Sequence[ImportanceRange]) -> None:
    gaps = _gaps(ranges)
    if gaps:
        told = " and ".join(f"{low:g} to {high:g}" for low, high in gaps)
        raise ValueError(f"no range holds importance {told}; widen one, or give a fallback")


def united(ranges: Iterable[ImportanceRange]) -> list[ImportanceRange]:
    """Return the ranges that these cover together, ascending, with gaps between them."""
    found: list[ImportanceRange] = []
    for one in sorted(ranges):
        if found and one.lowest <= found[-1].highest:
            found[-1] = ImportanceRange(found[-1].lowest, max(found[-1].highest, one.highest))
        else:
            found.append(one)
    return found


def _gaps(ranges: Sequence[ImportanceRange]) -> list[tuple[float, float]]:
    covered = united(ranges)
    begins = [0.0, *(one.highest for one in covered)]
    ends = [*(one.lowest for one in covered), 1.0]
    return [(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end]


def _beyond(one: ImportanceRange, ranges: Sequence[ImportanceRange], margin: float) -> float:
    """Return how far below its range a behavior is kept."""
    below = [other for other in ranges if other.lowest < one.lowest <= other.highest]
    if not below:
        return 0.0
    overlap = max(other.highest for other in below) - one.lowest
    room = one.lowest - min(other.lowest for other in below)
    return max(0.0, min(margin - overlap / 2, room / 2))


def _mirrored(one: ImportanceRange) -> ImportanceRange:
    return ImportanceRange(-one.highest, -one.lowest)
