"""What a timeslicer may be given: what it calls, and how much of it in an update."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from ai_core.errors import shown, whole_number
from ai_core.scheduling.timing import Timing
from ai_core.scheduling.work import check_runs_in_one_go

__all__ = ["NO_LIMIT", "check_callables", "checked_limits"]

NO_LIMIT = 1 << 62
"""Jobs in an update if their number is not limited (count): more than any memory holds."""


def checked_limits(
    jobs_per_update: int | None, executor: Executor | None
) -> tuple[int, Executor | None]:
    """Return the most jobs in an update, and the executor.

    Raises:
        TypeError: if the number is not whole, or the executor is none.
        ValueError: if the number is less than 1, or missing beside an executor.
    """
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor, got {shown(executor)};"
            " use None to run jobs here"
        )
    if jobs_per_update is not None:
        remedy = "use None for no limit but the budget"
        return whole_number("jobs_per_update", jobs_per_update, minimum=1, remedy=remedy), executor
    if executor is not None:
        raise ValueError(
            "jobs_per_update must be given with an executor, got None; what jobs will take there"
            " is not known when they are started"
        )
    return NO_LIMIT, None


def check_callables(
    job: Callable[..., Any], inputs: Callable[[Any], Any] | None, timing: Timing
) -> None:
    """Check that ``job`` and ``inputs`` can be called as the timing will call them.

    Raises:
        TypeError: if one cannot be called so, or would not run in one go.
        ValueError: if the timing reads inputs together and ``inputs`` is None.
    """
    if inputs is None:
        if timing.reads_together:
            raise ValueError(
                f"inputs must be given with {timing.name}, got None; it reads them all when a"
                " batch begins"
            )
        _check_callable("job", job, "key")
    else:
        _check_callable("job", job, "key", "input")
        _check_callable("inputs", inputs, "key")


def _check_callable(what: str, function: object, *arguments: str) -> None:
    if not callable(function):
        raise TypeError(f"{what} must be a callable, got {shown(function)}")
    check_runs_in_one_go(what, function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built in elsewhere; nothing can be known
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        raise TypeError(
            f"{what} must take ({', '.join(arguments)}), got {shown(function)} with {signature}"
        ) from None
