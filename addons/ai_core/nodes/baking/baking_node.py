"""Base class of nodes that bake a level: progress, and baking in the editor."""
from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from addons.ai_core.bridge.gd import Node, RefusedValue, editor_method, method
from ai_core.budget import Budget


class BakingNode:
    """Base class of SenseGraphBaker and CoverMap.

    Subclasses implement ``begin_work``, which sets ``_baking``, ``end_work`` and ``keep_work``. ``_baking`` has
    ``advance``, ``is_done``, ``progress`` and ``stage``.
    """

    def __init__(self) -> None:
        self._baking: Any = None
        self._why = ""

    def begin_work(self) -> None:
        """Start baking the whole level; raise ValueError with the reason if it cannot."""
        raise NotImplementedError

    def end_work(self) -> None:
        """Stop baking; nothing has changed."""
        raise NotImplementedError

    def keep_work(self, baking: Any, owner: Any) -> str:
        """Apply the result, with new nodes owned by ``owner``; return a summary, or raise ValueError."""
        raise NotImplementedError

    def begin_or_say_why(self) -> str:
        """Start baking; return the error, "" for none."""
        self._why = ""
        try:
            self.begin_work()
        except ValueError as error:
            self._why = str(error)
        return self._why

    @method
    def cancel(self) -> None:
        """Stop baking; nothing has changed."""
        self.end_work()

    @method
    def is_baking(self) -> bool:
        """Return true during baking."""
        return self._baking is not None

    @method
    def get_progress(self) -> float:
        """Return the progress of baking, from 0 to 1; 0 if it is not baking."""
        return 0.0 if self._baking is None else self._baking.progress

    @method
    def get_stage(self) -> str:
        """Return the present stage of baking as text, or the error if baking failed."""
        return self._why if self._baking is None else self._baking.stage

    @editor_method
    def begin_baking(self) -> str:
        """Start baking in the editor; return the error, "" for none."""
        self.end_work()
        return self.begin_or_say_why()

    @editor_method
    def advance_baking(self, us: float) -> float:
        """Bake for a number of microseconds; return the progress: 1 when done, -1 after an error."""
        if self._baking is None:
            return -1.0
        try:
            self._baking.advance(Budget.of_time(us, perf_counter_ns))
        except ValueError as error:
            self.end_work()
            self._why = str(error)
            return -1.0
        return self._baking.progress if self._baking.is_done else min(self._baking.progress, 0.999)

    @editor_method
    def get_baking_stage(self) -> str:
        """Return the present stage of baking as text, or the error if baking failed."""
        return self.get_stage()

    @editor_method
    def finish_baking(self, owner: Node) -> str:
        """Apply the result, with new nodes owned by ``owner``; return a summary or the error."""
        if self._baking is None or not self._baking.is_done:
            raise RefusedValue("has no result; call begin_baking(), then advance_baking() until it returns 1")
        baking, self._baking = self._baking, None
        try:
            return self.keep_work(baking, owner)
        except ValueError as error:
            return str(error)

    @editor_method
    def cancel_baking(self) -> None:
        """Stop baking; nothing has changed."""
        self.end_work()


class LevelBaking:
    """The progress of the library's baking in ``_core``, for ``BakingNode``; subclasses add ``advance``."""

    @property
    def is_done(self) -> bool:
        """True when there is a result."""
        done: bool = self._core.is_done
        return done

    @property
    def progress(self) -> float:
        """Progress from 0 to 1."""
        share: float = self._core.progress
        return share
