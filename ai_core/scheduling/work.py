"""Runners of each kind of work: callable, generator function, object.

Rejected: running a generator that a callable returns. The kind of work would be known only after
its first run, and change for work that returns a generator now and then.
"""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine, Generator
from types import FunctionType, MethodType
from typing import ClassVar, Final, Literal, Protocol, cast

from ai_core.budget import Budget
from ai_core.errors import shown
from ai_core.scheduling.run_loops import Turn

__all__ = ["NEXT_TURN", "Advancing", "CallableRunner", "Runner", "TurnTaking", "Work", "check_function", "runner_for"]

NEXT_TURN: Final = object()
"""``turn = yield NEXT_TURN`` in a generator pauses until the next turn, even if the budget is not spent."""

PAUSES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of functions whose call only creates a generator or coroutine."""

TIMES = frozenset(("delta", "dt", "elapsed_s", "frames", "now_s", "seconds"))
"""Argument names that denote a time: a method with such an argument takes neither a Turn nor a budget."""

MAX_LEGS_PER_RUN = 1_000_000
"""Most times a generator is resumed in one run (count).

No budget of a frame allows a tenth of it, so it is reached by an endless loop under an
unlimited budget. A smaller limit would end long finite work; without a limit the game hangs.
"""


class Advancing(Protocol):
    """Work that is an object: a search, a queue, another scheduler."""

    def advance(self, budget: Budget, /) -> object:
        """Continue until there is nothing to do at present, or until the budget is spent."""
        ...


class TurnTaking(Protocol):
    """Work that is an object and lives in game time: a habit tree, a state machine, a population.

    Attributes:
        advance_takes: ``"turn"``; without it, ``advance`` is called with the budget.
    """

    advance_takes: ClassVar[Literal["turn"]]

    def advance(self, turn: Turn, /) -> object:
        """Simulate ``turn.elapsed_s``; with many objects inside, until ``turn.budget`` is spent."""
        ...


Work = Callable[[Turn], object] | Advancing | TurnTaking
"""A callable, a generator function (it may pause at each ``yield``, and is sent
the current turn), or an object with ``advance(budget)``; with ``advance(turn)``
where its ``advance_takes`` is ``"turn"``."""


def runner_for(work: Work) -> Runner:
    """Return the runner of ``work``: ``run`` takes a Turn, ``close`` drops what is unfinished, in the end."""
    if isinstance(work, type) and hasattr(work, "advance"):
        raise TypeError(f"work must be an object, got the class {work.__name__}; pass an instance")
    method = getattr(work, "advance", None)
    if callable(method) and not inspect.isgenerator(work):
        takes = getattr(work, "advance_takes", "budget")
        if takes == "turn":
            check_function("advance", method, "one argument, its Turn")
            return CallableRunner(cast("TurnTaking", work).advance)
        if takes != "budget":
            raise TypeError(
                f'advance_takes must be "turn" or "budget", got {shown(takes)} of {shown(work)};'
                ' use "turn" where advance(turn) needs the elapsed time')
        check_function("advance", method, "one argument, the budget")
        _check_is_for("advance", method, "the budget", TIMES | {"turn"})
        advance = cast("Advancing", work).advance
        return CallableRunner(lambda turn: advance(turn.budget))
    if inspect.isgenerator(work):
        raise TypeError(
            f"work must be a generator function, got a generator {shown(work)};"
            " pass the function without calling it"
        )
    if not callable(work):
        raise TypeError(
            "work must be a callable, a generator function or an object with"
            f" advance(budget), got {shown(work)}; for an object with another interface, add a function"
            " of one argument, its Turn, that calls the object"
        )
    flags = _flags_of(work)
    if flags & PAUSES & ~inspect.CO_GENERATOR:
        raise TypeError(
            f"work must not be async, got {shown(work)}; use yield where it may pause"
        )
    _check_takes("work", work, "one argument, its Turn", 1)
    if flags & inspect.CO_GENERATOR:
        return _GeneratorRunner(cast("Callable[[Turn], Generator[object, Turn]]", work))
    _check_is_for("work", work, "its Turn", TIMES | {"budget"} if hasattr(work, "__self__") else TIMES)
    return CallableRunner(work)


def check_function(name: str, function: object, wanted: str = "", count: int = 1) -> None:
    """Raise TypeError unless ``function`` runs to its end in one call, with ``count`` arguments if they are named."""
    if not callable(function):
        raise TypeError(f"{name} must be a callable, got {shown(function)}")
    if _flags_of(function) & PAUSES:
        raise TypeError(
            f"{name} must not be async and must not yield, got {shown(function)}; it must run"
            " to its end in one call; make it shorter, or pass a generator function as work to a scheduler"
        )
    if wanted:
        _check_takes(name, function, wanted, count)


def _flags_of(work: Callable[..., object]) -> int:
    """Return the flags of the code that a call of ``work`` runs: its own, that of a partial, or of ``__call__``."""
    while isinstance(work, functools.partial):
        work = work.func
    body = work if inspect.isroutine(work) or isinstance(work, type) else type(work).__call__
    code = getattr(body, "__code__", None)
    return 0 if code is None else int(code.co_flags)


def _check_takes(name: str, function: Callable[..., object], wanted: str, count: int) -> None:
    if count == 1 and _plainly_takes_one(function):
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a built-in function without a signature
        return
    try:
        signature.bind(*[None] * count)
    except TypeError:
        raise TypeError(f"{name} must take {wanted}, got {shown(function)} with {signature}") from None


def _check_is_for(what: str, function: Callable[..., object], argument: str, others: frozenset[str]) -> None:
    """Raise TypeError if the name of the first argument denotes another kind of value."""
    plain, place = (function.__func__, 1) if isinstance(function, MethodType) else (function, 0)
    code = getattr(plain, "__code__", None)     # compiled functions have one, too
    names = () if code is None else code.co_varnames[:code.co_argcount]
    if len(names) <= place or names[place] not in others:
        return
    name = names[place]
    if name == "turn":
        remedy = 'set advance_takes = "turn" in its class, or name the argument budget'
    else:
        given = "turn.elapsed_s" if name in ("delta", "dt", "elapsed_s", "seconds") else f"... {name} ..."
        call = "work" if what == "work" else "work.advance"
        owner = getattr(function, "__self__", None)
        if what == "work" and hasattr(owner, "advance") and (
                name == "budget" or getattr(owner, "advance_takes", None) == "turn"):
            remedy = "add the object itself instead of its method"
        else:
            remedy = f"add a function instead: lambda turn: {call}({given})"
    raise TypeError(f"{what} is called with {argument}, but {shown(function)} takes {name!r}; {remedy}")


def _plainly_takes_one(function: Callable[..., object]) -> bool:
    """Return True if the function certainly takes one argument; without a signature object, which takes 20 µs."""
    plain, given = function, 1
    if isinstance(function, MethodType):
        plain, given = function.__func__, 2
    elif not isinstance(function, FunctionType):
        plain, given = type(function).__call__, 2        # of an object
    if not isinstance(plain, FunctionType) or plain.__dict__:  # decorators set attributes there
        return False
    code, defaults = plain.__code__, plain.__defaults__ or ()
    return code.co_kwonlyargcount == 0 and code.co_argcount - len(defaults) <= given <= code.co_argcount


class CallableRunner:
    """Runs a callable, which never pauses; after its first run ``run`` is the callable itself."""

    def __init__(self, work: Callable[[Turn], object]) -> None:
        self._work = work

    def run(self, turn: Turn) -> object:
        """Run the callable and check that it returned neither a generator nor a coroutine."""
        result = self._work(turn)
        if isinstance(result, Generator | Coroutine):
            result.close()
            raise TypeError(
                f"the work returned {shown(result)}, which does not run by itself; pass the generator"
                " function, with functools.partial if it takes more arguments than its Turn"
            )
        self.run = self._work  # type: ignore[assignment, method-assign]
        return result

    def close(self) -> None:
        """Do nothing: a callable never pauses."""


class _GeneratorRunner:
    __slots__ = ("_function", "_generator", "_is_closed")

    def __init__(self, function: Callable[[Turn], Generator[object, Turn]]) -> None:
        self._function = function
        self._generator: Generator[object, Turn] | None = None
        self._is_closed = False

    def run(self, turn: Turn, /) -> object:
        """Continue until the budget is spent or the generator ends, to the next pause at least; restart after its end.

        It also stops at a ``yield NEXT_TURN``. The time of the turn counts once: where the generator goes on in
        the same turn, it is sent one in which no time has passed. If its task is removed meanwhile, it continues
        to its next pause and is closed there.
        """
        self._is_closed = False
        generator, self._generator = self._generator, None
        message: Turn | None = turn
        rest: Turn | None = None        # of the turn, in which no time has passed
        if generator is None:
            generator, message = self._function(turn), None
        budget = turn.budget
        for _ in range(MAX_LEGS_PER_RUN):
            try:
                pause = generator.send(message)  # type: ignore[arg-type]  # None starts it
            except StopIteration:
                budget.spend()
                return None
            budget.spend()
            if pause is NEXT_TURN or budget.is_spent or self._is_closed:
                self._generator = generator
                return None
            message = rest = rest or Turn(turn.now, 0.0, budget)
        generator.close()
        raise RuntimeError(
            f"the generator paused {MAX_LEGS_PER_RUN} times in one run without spending the"
            " budget; let it end, write yield NEXT_TURN where it waits for the next frame, or advance its scheduler"
            " with a limited budget"
        )

    def close(self) -> None:
        self._is_closed = True
        generator, self._generator = self._generator, None
        if generator is not None:
            generator.close()


Runner = CallableRunner | _GeneratorRunner
"""What runs one kind of work."""
