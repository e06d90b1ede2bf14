"""Rows of statistics as a plain text table: for logs, tests and terminals."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, isnan
from numbers import Real

from ai_core.errors import UnknownNameError, shown, whole_number

__all__ = ["statistics_table"]

MAX_TEXT_CHARACTERS = 40
"""Longest text in a cell (characters): longer names would push the numbers off the screen."""


def statistics_table(
    rows: Iterable[Mapping[str, object]],
    *,
    columns: Sequence[str] | None = None,
    sort_by: str | None = None,
    is_ascending: bool = False,
    max_rows: int | None = None,
) -> str:
    """Return rows as a table: a heading, a rule, a line per row; numbers are right-aligned.

    It takes any rows: those of ``scheduler.statistics()``, or of a
    QualityOfService's ``offenders()``. Missing values are left empty.
    Without columns the table is an empty string.

    Args:
        rows: dicts; the keys are the names of the columns.
        columns: names of columns, in this order; None for all, in order of first occurrence.
        sort_by: column to sort by, shown or not; rows without a
            value in it come last. The sort is stable. None keeps the order of the rows.
        is_ascending: smallest first; else largest first.
        max_rows: most rows; a last line counts the others. None for all.

    Raises:
        TypeError: if rows are not dicts, or ``columns`` is a string.
        UnknownNameError: if no row has a column of that name.
        ValueError: if ``max_rows`` is below 1.

    Cost: O(rows * columns + rows log rows).

    >>> print(statistics_table([{"name": "Bob", "used_us": 4.25}, {"name": "Al", "used_us": 12}]))
    name  used_us
    ----  -------
    Bob      4.25
    Al      12.00
    """
    table = list(rows)
    for row in table:
        if not isinstance(row, Mapping):
            raise TypeError(f"rows must be dicts, got {shown(row)}; use scheduler.statistics()")
    if isinstance(columns, str):
        raise TypeError(f"columns must be an iterable of names, got the string {shown(columns)}; use [{columns!r}]")
    known = list(dict.fromkeys(key for row in table for key in row))
    names = known if columns is None else list(columns)
    for name in names if sort_by is None else [*names, sort_by]:
        if table and name not in known:
            raise UnknownNameError("column", name, known)
    if sort_by is not None:
        table = _sorted(table, sort_by, is_ascending)
    left_out = 0
    if max_rows is not None:
        left_out = len(table) - whole_number("max_rows", max_rows, minimum=1, remedy="use None for all")
        table = table[:max_rows]
    lines = _aligned(names, table)
    if left_out > 0:
        lines.append(f"and {left_out} more")
    return "\n".join(lines)


def _sorted(
    table: Sequence[Mapping[str, object]], name: str, is_ascending: bool
) -> list[Mapping[str, object]]:
    """Numbers, then texts, then those without either; equal ones in the order they came."""
    numbers: list[tuple[float, Mapping[str, object]]] = []
    texts: list[tuple[str, Mapping[str, object]]] = []
    rest = []
    for row in table:
        value = row.get(name)
        if isinstance(value, Real) and not isnan(value):
            numbers.append((float(value), row))
        elif isinstance(value, str):
            texts.append((value, row))
        else:
            rest.append(row)
    numbers.sort(key=lambda pair: pair[0], reverse=not is_ascending)
    texts.sort(key=lambda pair: pair[0], reverse=not is_ascending)
    return [*(row for _, row in numbers), *(row for _, row in texts), *rest]


def _aligned(names: Sequence[str], table: Sequence[Mapping[str, object]]) -> list[str]:
    columns = [_column(name, [row.get(name) for row in table]) for name in names]
    return ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]


def _column(name: str, values: Sequence[object]) -> list[str]:
    """Return heading, rule and cells, all of one width."""
    numbers = [float(one) for one in values if isinstance(one, Real) and isfinite(one)]
    fractions = [abs(one) for one in numbers if not one.is_integer()]
    decimals = 0 if not fractions else 2 if max(fractions) < 1000 else 1
    cells = [_cell(value, decimals) for value in values]
    heading = _printable(name)
    width = max([len(heading), *map(len, cells)])
    lines = [heading, "-" * width, *cells]
    is_text = any(isinstance(value, str) for value in values)
    return [line.ljust(width) if is_text else line.rjust(width) for line in lines]


def _cell(value: object, decimals: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "-"
    if isinstance(value, Real):
        return f"{float(value):.{decimals}f}"
    return _printable(str(value))


def _printable(text: str) -> str:
    text = "".join(one if one.isprintable() else "?" for one in text)
    return text if len(text) <= MAX_TEXT_CHARACTERS else text[: MAX_TEXT_CHARACTERS - 3] + "..."
