"""Categorical properties of people, such as professions or sides, as exact counts."""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import check_type, checked_name, shown, whole_number
from ai_core.level_of_detail.population.chance import shuffled, uniforms
from ai_core.saving.kinds import MapOf, Record, Whole

__all__ = ["CATEGORICAL_STATE", "Categorical"]


class Categorical:
    """Counts by label. Immutable; methods that change counts return a new object.

    Args:
        counts: number of people by label, 0 or more; labels are non-empty strings.

    Raises:
        TypeError: if a label is not a non-empty string, or a count is not an integer.
        ValueError: if a count is negative.
    """

    __slots__ = ("counts",)

    def __init__(self, counts: Mapping[str, int]) -> None:
        check_type("counts", counts, Mapping, "use {'farmer': 3}")
        for label, number in counts.items():
            checked_name("a label", label)
            whole_number(f"count of {label!r}", number, minimum=0)
        self.counts = {label: int(counts[label]) for label in sorted(counts)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Categorical) and self.counts == other.counts

    def __hash__(self) -> int:
        return hash(tuple(self.counts.items()))

    def __repr__(self) -> str:
        return f"Categorical({self.counts})"

    @classmethod
    def of(cls, labels: Any) -> Categorical:
        """Return the counts of a list or array of labels.

        Raises:
            TypeError: if a label is not a non-empty string; names the row.
        """
        rows = list(labels)
        counts = Counter(str(one) if isinstance(one, str) else "" for one in rows)
        if "" in counts:
            row = next(n for n, one in enumerate(rows) if not isinstance(one, str) or not one)
            raise TypeError(f"a label must be a non-empty string, got {shown(rows[row])} in row {row}")
        return cls(counts)

    @property
    def total(self) -> int:
        """Number of people."""
        return sum(self.counts.values())

    def values(self, generator: Any) -> NDArray[np.object_]:
        """Return a label for each person, in random order.

        The array holds objects, because an array of strings would truncate longer labels written to it.
        """
        labels = np.repeat(np.array(list(self.counts), np.object_), list(self.counts.values()))
        return labels[shuffled(generator, len(labels))]

    def merged(self, other: Categorical) -> Categorical:
        """Return the sum of both counts."""
        labels = sorted({*self.counts, *other.counts})
        return Categorical({one: self.counts.get(one, 0) + other.counts.get(one, 0) for one in labels})

    def split(self, sizes: Sequence[int], generator: Any) -> list[Categorical]:
        """Return counts for parts of given sizes; merged, the parts equal this object.

        Each part gets its share of every label, rounded up or down at random.

        Raises:
            ValueError: if the sizes do not add up to ``total``.

        Cost: O(parts * labels), independent of the number of people.
        """
        if sum(sizes) != self.total:
            raise ValueError(f"sizes must add up to {self.total}, got {sum(sizes)}")
        parts, left = [], list(self.counts.values())
        for size in sizes[:-1]:
            part = _share(left, size, float(uniforms(generator, 1)[0]))
            left = [have - taken for have, taken in zip(left, part, strict=True)]
            parts.append(part)
        parts += [left] if sizes else []
        return [Categorical(dict(zip(self.counts, part, strict=True))) for part in parts]


CATEGORICAL_STATE = Record(Categorical, counts=MapOf(Whole()))
"""How counts by label are saved."""


def _share(left: Sequence[int], size: int, chance: float) -> list[int]:
    """Return counts of ``size`` people taken from ``left`` in proportion, at most ``left`` of each label.

    Integer arithmetic on running sums: the borders between labels are cut at ``size`` shares of the
    total, all shifted by the same random offset.
    """
    total = sum(left)
    if not total:
        return [0] * len(left)
    offset = int(chance * total)
    taken, before, running = [], 0, 0
    for number in left:
        running += number
        upto = (running * size + offset) // total
        taken.append(upto - before)
        before = upto
    return taken
