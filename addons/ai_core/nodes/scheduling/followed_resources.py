"""How nodes follow changes of the resources that they use."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


def follow_changes(followed: Sequence[Any], wanted: Iterable[Any], on_changed: Callable[[], None]) -> Sequence[Any]:
    """Connect a method to the ``changed`` signal of resources, and of no others; return the resources.

    Args:
        followed: result of the last call, empty before the first.
        wanted: resources to follow from now on; None and repetitions are ignored.
        on_changed: the method, the same in all calls.
    """
    for one in followed:
        one.disconnect("changed", on_changed)
    found = [one for one in dict.fromkeys(wanted) if one is not None]
    for one in found:
        one.connect("changed", on_changed)
    return found
