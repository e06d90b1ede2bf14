"""Saved rows of an id and some numbers, read back by id."""
from __future__ import annotations

from ai_core.errors import shown
from ai_core.saving.fields import MOST, Fields

__all__ = ["id_rows"]


def id_rows(fields: Fields, name: str, *counts: int) -> dict[int, list[float]]:
    """Return a field that is a list of rows, each an id of its own and then numbers.

    Args:
        fields: has the field.
        name: of the field.
        counts: how many numbers a row may have; all rows have as many.

    Raises:
        StateError: if it is not such a list; says where in it, and why.
    """
    rows: dict[int, list[float]] = {}
    for index, row in enumerate(fields.items(name)):
        one = Fields({"row": row}, fields.place_of(f"{name}[{index}]"))
        id_number, *numbers = one.numbers("row") or [-1.0]
        if len(numbers) not in counts:
            wanted = " or ".join(map(str, counts))
            one.refuse("row", f"must be an id and {wanted} numbers, got {len(numbers) + 1} in all")
        counts = (len(numbers),)
        if id_number != int(id_number) or not 0 <= id_number <= MOST or int(id_number) in rows:
            one.refuse("row", f"must begin with an id of its own, got {shown(id_number)}")
        rows[int(id_number)] = numbers
    return rows
