"""A short ``repr`` for public classes, from the names of a few attributes."""
from __future__ import annotations

from collections.abc import Sized
from operator import attrgetter
from typing import ClassVar

from ai_core.errors import shown

__all__ = ["Described"]


class Described:
    """Base of a class whose ``repr`` shows the attributes listed in ``SHOWN``.

    A collection is shown by its size. An attribute that cannot be read now is left out: a ``repr``
    is also called by debuggers and error messages, on half-made objects too.

    >>> class Door(Described):
    ...     SHOWN = ("name", "keys")
    ...     def __init__(self):
    ...         self.name, self.keys = "back door", [1, 2]
    >>> Door()
    <Door name='back door' keys=2>
    """

    __slots__ = ()

    SHOWN: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        parts = [type(self).__name__]
        for name in self.SHOWN:
            try:
                value = attrgetter(name)(self)
                parts.append(f"{name}={_short(value)}")
            except Exception:  # whatever a property of a half-made object raises
                continue
        return f"<{' '.join(parts)}>"


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    # A place or a shape says more than its size.
    is_short = isinstance(value, tuple) and len(value) < 5 and all(isinstance(one, (int, float)) for one in value)
    return str(len(value)) if isinstance(value, Sized) and not (is_short or isinstance(value, str)) else shown(value)
