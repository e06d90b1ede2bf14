"""What belongs to a source beside numbers: its parts, its tag, and how loud its actions are."""
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
    """A point of a source to which a line of sight is asked.

    Args:
        name: what it is, for who asks which part is seen: "head".
        offset: from the source's position (m), in the world's directions.
        share: how much of the source it stands for, above 0; only the
            proportion to the other parts counts.
    """

    name: str
    offset: Point
    share: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a text, got {shown(self.name)}")
        x, y, z = point("offset", self.offset).tolist()
        object.__setattr__(self, "offset", (x, y, z))
        object.__setattr__(self, "share", finite_number("share", self.share, above=0))


@dataclass(frozen=True)
class Clue:
    """What something left behind tells: the data of an invisible marker.

    Attributes:
        about: id of the source that left it, or -1; it may have been removed since.
        left_at_s: game time when it was left (s).
        until_s: game time when it is gone (s).
    """

    about: int
    left_at_s: float
    until_s: float


@dataclass(frozen=True)
class SourceDetails:
    """What most sources leave as it is.

    Attributes:
        tag: what its sensations are called, for listeners: "blood".
        actions: strength of the signal of each thing it does.
        parts: points to which lines of sight are asked; none for its position alone.
        clue: what it tells if it was left behind, else None.
    """

    tag: str = ""
    actions: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[VisiblePart, ...] = ()
    clue: Clue | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tag, str):
            raise TypeError(f"tag must be a text, got {shown(self.tag)}")


def visible_parts(parts: Sequence[VisiblePart]) -> tuple[VisiblePart, ...]:
    """Return parts, checked.

    Raises:
        TypeError: if one is no ``VisiblePart``.
        ValueError: if there are too many, or two have one name.
    """
    for one in parts:
        if not isinstance(one, VisiblePart):
            raise TypeError(f"parts must hold VisiblePart, got {shown(one)}")
    if len(parts) > MOST_PARTS:
        raise ValueError(f"parts must be at most {MOST_PARTS}, got {len(parts)}; each costs a ray")
    if len({one.name for one in parts}) < len(parts):
        raise ValueError("parts must differ in name")
    return tuple(parts)


def named_levels(actions: Mapping[str, float]) -> dict[str, float]:
    """Return strengths by action, checked.

    Raises:
        TypeError: if it is no mapping of names to numbers.
        ValueError: if a number is negative or not finite.
    """
    if not isinstance(actions, Mapping):
        raise TypeError(f"actions must map names to strengths, got {shown(actions)}")
    for name in actions:
        if not isinstance(name, str):
            raise TypeError(f"actions must have names as keys, got {shown(name)}")
    return {
        name: finite_number(f"actions[{name!r}]", level, minimum=0) for name, level in actions.items()
    }
