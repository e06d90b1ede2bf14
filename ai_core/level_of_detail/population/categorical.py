"""How many people there are of each kind: professions, faiths, sides. Counts stay exact."""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ai_core.errors import shown, whole_number
from ai_core.level_of_detail.population.chance import shuffled, uniforms

__all__ = ["Categorical"]


class Categorical:
    """Counts by label. Never changes; what would change it returns a new one.

    Args:
        counts: people by label, 0 or more each; labels are text.
    """

    __slots__ = ("counts",)

    def __init__(self, counts: Mapping[str, int]) -> None:
        for label, number in counts.items():
            if not isinstance(label, str) or not label:
                raise TypeError(f"a label must be a text that is not empty, got {shown(label)}")
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
        """Return the counts of labels, a list or an array.

        Raises:
            TypeError: if one is no text, or empty; says in which row.
        """
        rows = list(labels)
        counts = Counter(str(one) if isinstance(one, str) else "" for one in rows)
        if "" in counts:
            row = next(n for n, one in enumerate(rows) if not isinstance(one, str) or not one)
            raise TypeError(f"a label must be a text that is not empty, got {shown(rows[row])} in row {row}")
        return cls(counts)

    @property
    def total(self) -> int:
        """How many people there are."""
        return sum(self.counts.values())

    def values(self, generator: Any) -> NDArray[np.object_]:
        """Return a label for each, in random order.

        They are objects: in an array of text a longer label would be cut off.
        """
        labels = np.repeat(np.array(list(self.counts), np.object_), list(self.counts.values()))
        return labels[shuffled(generator, len(labels))]

    def merged(self, other: Categorical) -> Categorical:
        """Return the counts of both together."""
        labels = sorted({*self.counts, *other.counts})
        return Categorical({one: self.counts.get(one, 0) + other.counts.get(one, 0) for one in labels})

    def split(self, sizes: Sequence[int], generator: Any) -> list[Categorical]:
        """Return counts for parts of these sizes, which together are this one.

        Each part gets its share of every label, rounded up or down by chance.

        Raises:
            ValueError: if the sizes do not add up.

        Cost: O(parts * labels), however many people.
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


def _share(left: Sequence[int], size: int, chance: float) -> list[int]:
    """Return ``size`` people out of those left, in proportion; at most what is left of each.

    Whole-number arithmetic on running sums: the borders between labels are cut
    at ``size`` shares of the total, all moved by the same chance.
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
