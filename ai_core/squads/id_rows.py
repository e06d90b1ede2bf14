"""Reading of saved rows that hold an id and numbers."""
from __future__ import annotations

from ai_core.errors import shown
from ai_core.saving.fields import MOST, Fields

__all__ = ["id_rows"]


def id_rows(fields: Fields, name: str, *counts: int) -> dict[int, list[float]]:
    """Return the numbers by id from a field that is a list of rows [id, number, ...].

    Args:
        fields: contains the field.
        name: name of the field.
        counts: allowed counts of numbers in a row; all rows must have the same.

    Raises:
        StateError: if the field is not such a list; names the row and the reason.
    """
    rows: dict[int, list[float]] = {}
    for index, row in enumerate(fields.items(name)):
        one = Fields({"row": row}, fields.place_of(f"{name}[{index}]"))
        id_number, *numbers = one.numbers("row") or [-1.0]
        if len(numbers) not in counts:
            wanted = " or ".join(map(str, counts))
            one.refuse("row", f"must be an id and {wanted} numbers, got {len(numbers) + 1} values")
        counts = (len(numbers),)
        if id_number != int(id_number) or not 0 <= id_number <= MOST or int(id_number) in rows:
            one.refuse("row", f"must begin with an id that no other row has, got {shown(id_number)}")
        rows[int(id_number)] = numbers
    return rows
