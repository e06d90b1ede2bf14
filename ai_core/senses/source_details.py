"""Details of a source beside its numbers: parts, tag, and the strengths of its actions."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ai_core.errors import finite_number, point, shown
from ai_core.senses.sensation import Point

__all__ = ["MOST_PARTS", "Clue", "SourceDetails", "VisiblePart", "named_levels", "visible_parts"]

MOST_PARTS = 16
"""Parts of one source (count): each costs a ray whenever the source is looked at."""


@dataclass(frozen=True)
class VisiblePart:
    """A point of a source that a line of sight is traced to.

    Args:
        name: name of the part, for queries: "head".
        offset: from the position of the source (m), in world axes.
        share: weight of the part, above 0; only the
            proportion to the other parts counts.
    """

    name: str
    offset: Point
    share: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, got {shown(self.name)}")
        x, y, z = point("offset", self.offset).tolist()
        object.__setattr__(self, "offset", (x, y, z))
        object.__setattr__(self, "share", finite_number("share", self.share, above=0))


@dataclass(frozen=True)
class Clue:
    """The data of a clue, which is an invisible marker that a source left.

    Attributes:
        about: id of the source that left it, or -1; the source may have been removed since.
        left_at_s: game time when it was left (s).
        until_s: game time when it expires (s).
    """

    about: int
    left_at_s: float
    until_s: float


@dataclass(frozen=True)
class SourceDetails:
    """Settings that most sources leave at their defaults.

    Attributes:
        tag: what its sensations are called, for listeners: "blood".
        actions: strength of the signal of each thing it does.
        parts: points to which lines of sight are asked; none for its position alone.
        clue: its data if it is a clue, else None.
    """

    tag: str = ""
    actions: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[VisiblePart, ...] = ()
    clue: Clue | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tag, str):
            raise TypeError(f"tag must be a string, got {shown(self.tag)}")


def visible_parts(parts: Sequence[VisiblePart]) -> tuple[VisiblePart, ...]:
    """Return parts, checked."""
    for one in parts:
        if not isinstance(one, VisiblePart):
            raise TypeError(f"parts must hold VisiblePart, got {shown(one)}")
    if len(parts) > MOST_PARTS:
        raise ValueError(f"parts must hold at most {MOST_PARTS} parts, got {len(parts)}; each part costs a ray")
    if len({one.name for one in parts}) < len(parts):
        raise ValueError(
            f"parts must have unique names, got {', '.join(repr(one.name) for one in parts)}; rename the repeated one")
    return tuple(parts)


def named_levels(actions: Mapping[str, float]) -> dict[str, float]:
    """Return strengths by action, checked."""
    if not isinstance(actions, Mapping):
        raise TypeError(f"actions must map action names to strengths, got {shown(actions)}")
    for name in actions:
        if not isinstance(name, str):
            raise TypeError(f"actions must have strings as keys, got {shown(name)}")
    return {
        name: finite_number(f"actions[{name!r}]", level, minimum=0) for name, level in actions.items()
    }
