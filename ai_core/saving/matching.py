"""Matching saved objects to current ones by name."""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ai_core.errors import UnknownNameError
from ai_core.saving.fields import StateError

__all__ = ["match_by_name"]


def match_by_name(noun: str, saved: Sequence[str], here: Sequence[str]) -> list[int]:
    """Return for each saved name the index of its current object.

    Objects of the same name are matched by their order, if there are as
    many now as in the save. Current names that are not in the save are ignored.

    Args:
        noun: kind of object, for messages: "task".
        saved: names in the save, in order.
        here: current names, in order.

    Raises:
        StateError: if a name is missing, or the number of objects
            with the same name has changed.

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
            raise StateError(f"{unknown}; add the saved object under this name before loading")
        if count != len(places[name]) and max(count, len(places[name])) > 1:
            raise StateError(
                f"{count} saved {noun}s are named {name!r}, and {len(places[name])} are present,"
                " so they cannot be matched; give each a unique name"
            )
    untaken = {name: iter(indices) for name, indices in places.items()}
    return [next(untaken[name]) for name in saved]
