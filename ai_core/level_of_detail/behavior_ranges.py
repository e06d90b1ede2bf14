"""Choice of a behavior by importance: overlapping ranges and four kinds of arbitration.

- ``first``: the first range in the list; the usual choice, with the most detailed behavior first.
- ``any``: the range found soonest by binary search over range centres.
- ``most_central``: the range whose centre is nearest to the importance. It lasts longest, which helps
  where entering a behavior is costly.
- ``smallest_range``: the narrowest, most specific range.

On a tie, the first range in the list is taken.
"""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ai_core.described import Described
from ai_core.errors import UnknownNameError, finite_number, several, several_names, shown

__all__ = ["ARBITRATIONS", "BehaviorRanges", "ImportanceRange", "checked_importance", "merge_ranges"]

ARBITRATIONS = ("first", "any", "most_central", "smallest_range")
"""Names of the kinds of arbitration."""


class ImportanceRange(NamedTuple):
    """Range of importances from ``lowest`` to ``highest``, both included."""

    lowest: float
    highest: float

    def contains(self, importance: float) -> bool:
        """Return whether the range contains an importance."""
        return self.lowest <= importance <= self.highest

    @property
    def centre(self) -> float:
        """Centre of the range."""
        return (self.lowest + self.highest) / 2


class BehaviorRanges(Described):
    """Ranges of importance, most detailed behavior first.

    Args:
        ranges: pairs of lowest and highest importance, 0 to 1.
        arbitration: one of ``ARBITRATIONS``; decides between several matching ranges.
        names: names of the ranges in messages; None numbers them.
        allow_gaps: whether some importances may be in no range.

    Raises:
        TypeError: if a range is not a pair of numbers.
        ValueError: if a range is reversed or empty, or gaps are left; lists all gaps.
        UnknownNameError: if the arbitration is unknown.
    """

    def __init__(
        self, ranges: Sequence[tuple[float, float]], *, arbitration: str = "first",
        names: Sequence[str] | None = None, allow_gaps: bool = False,
    ) -> None:
        if arbitration not in ARBITRATIONS:
            raise UnknownNameError("arbitration", arbitration, ARBITRATIONS)
        spans: tuple[Any, ...] = several("ranges", ranges, object)
        names = [str(number) for number in range(len(spans))] if names is None else several_names("names", names)
        self._ranges = [_checked(name, one) for name, one in zip(names, spans, strict=True)]
        if not allow_gaps:
            _refuse_gaps(self._ranges)
        self._choose: Callable[[float], int | None] = getattr(self, f"_{arbitration}")
        self._by_centre = sorted(range(len(spans)), key=lambda one: (self._ranges[one].centre, one))
        self._centres = [self._ranges[one].centre for one in self._by_centre]

    def __len__(self) -> int:
        return len(self._ranges)

    def __getitem__(self, number: int) -> ImportanceRange:
        return self._ranges[number]

    def __iter__(self) -> Iterator[ImportanceRange]:
        return iter(self._ranges)

    def with_hysteresis(self, margin: float) -> list[ImportanceRange]:
        """Return the ranges in which a running behavior is kept: the ranges widened by hysteresis.

        Where a neighbor's range overlaps by less than twice the margin, the border moves outwards by the
        missing overlap, but at most half way into the neighbor. Borders at a gap, at 0 and at 1 stay.
        """
        return [
            ImportanceRange(one.lowest - _beyond(one, self._ranges, margin),
                  one.highest + _beyond(_mirrored(one), [_mirrored(two) for two in self._ranges], margin))
            for one in self._ranges]

    def choose(self, importance: float) -> int | None:
        """Return the number of the behavior for an importance, None if no range contains it.

        Cost: O(n); mostly O(log n) for ``any``.
        """
        return self._choose(importance)

    def _first(self, importance: float) -> int | None:
        return next((n for n, one in enumerate(self._ranges) if one.contains(importance)), None)

    def _any(self, importance: float) -> int | None:
        """Try the ranges with the two nearest centres, then all."""
        above = bisect_right(self._centres, importance)
        for number in self._by_centre[max(0, above - 1):above + 1]:
            if self._ranges[number].contains(importance):
                return number
        return self._first(importance)

    def _most_central(self, importance: float) -> int | None:
        return min(
            self._available(importance), key=lambda n: (abs(importance - self._ranges[n].centre), n), default=None)

    def _smallest_range(self, importance: float) -> int | None:
        return min(
            self._available(importance),
            key=lambda n: (self._ranges[n].highest - self._ranges[n].lowest, n), default=None)

    def _available(self, importance: float) -> list[int]:
        return [number for number, one in enumerate(self._ranges) if one.contains(importance)]


def checked_importance(value: object) -> float:
    """Return ``value`` if it is a valid importance."""
    if type(value) is float and 0 <= value <= 1:  # fast path, checked by every character at every turn
        return value
    return finite_number("importance", value, minimum=0, maximum=1)


def _checked(name: str, one: tuple[float, float]) -> ImportanceRange:
    try:
        lowest, highest = one
    except (TypeError, ValueError):
        raise TypeError(f"range of {name!r} must be (lowest, highest), got {shown(one)}") from None
    found = ImportanceRange(
        finite_number(f"lowest of {name!r}", lowest, minimum=0, maximum=1),
        finite_number(f"highest of {name!r}", highest, minimum=0, maximum=1))
    if found.lowest > found.highest:
        raise ValueError(
            f"range of {name!r} is reversed: {found.lowest:g} to {found.highest:g};"
            " give the lowest importance first")
    if found.lowest == found.highest:
        raise ValueError(f"range of {name!r} is empty: {found.lowest:g} to {found.highest:g}; widen it")
    return found


def merge_ranges(ranges: Iterable[ImportanceRange]) -> list[ImportanceRange]:
    """Return the union of ranges as ascending ranges with gaps between them."""
    found: list[ImportanceRange] = []
    for one in sorted(ranges):
        if found and one.lowest <= found[-1].highest:
            found[-1] = ImportanceRange(found[-1].lowest, max(found[-1].highest, one.highest))
        else:
            found.append(one)
    return found


def _refuse_gaps(ranges: Sequence[ImportanceRange]) -> None:
    covered = merge_ranges(ranges)
    begins, ends = [0.0, *(one.highest for one in covered)], [*(one.lowest for one in covered), 1.0]
    gaps = [f"{begin:g} to {end:g}" for begin, end in zip(begins, ends, strict=True) if begin < end]
    if gaps:
        raise ValueError(f"no range contains importance {' and '.join(gaps)}; widen a range, or add a fallback")


def _beyond(one: ImportanceRange, ranges: Sequence[ImportanceRange], margin: float) -> float:
    """Return by how much hysteresis extends a range downwards."""
    below = [other for other in ranges if other.lowest < one.lowest <= other.highest]
    if not below:
        return 0.0
    overlap = max(other.highest for other in below) - one.lowest
    room = one.lowest - min(other.lowest for other in below)
    return max(0.0, min(margin - overlap / 2, room / 2))


def _mirrored(one: ImportanceRange) -> ImportanceRange:
    return ImportanceRange(-one.highest, -one.lowest)
