"""Which of the things that are there belongs to which that was saved: by name."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError

__all__ = ["match_by_name"]


def match_by_name(noun: str, saved: Sequence[str], here: Sequence[str]) -> list[int]:
    """Return for each name that was saved its index among those that are here.

    Things of one name are told apart by their order, as long as there are as
    many of them here as there. Names that are only here are left alone.

    Args:
        noun: what is named, for messages: "task".
        saved: names in the save, in order.
        here: names of what is there now, in order.

    Raises:
        StateError: if a name is missing here, or several things share one and
            some have come or gone.

    Cost: O(names).

    >>> match_by_name("task", ["b", "a", "b"], ["a", "b", "new", "b"])
    [1, 0, 3]
    """
    places: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(here):
        places[name].append(index)
    wanted: dict[str, int] = defaultdict(int)
    for name in saved:
        wanted[name] += 1
    for name, count in wanted.items():
        if name not in places:
            unknown = UnknownNameError(noun, name, places)
            raise StateError(f"{unknown}; add what was saved, under its name, before loading")
        if count != len(places[name]) and max(count, len(places[name])) > 1:
            raise StateError(
                f"{count} of the {noun}s saved are named {name!r} and {len(places[name])} here,"
                " so they cannot be told apart; give each a name of its own"
            )
    untaken = {name: iter(indices) for name, indices in places.items()}
    return [next(untaken[name]) for name in saved]
