"""What nodes that bake a level have in common: how far it is, and how the editor has them bake; a part of each."""
from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from addons.ai_core.bridge.gd import Node, RefusedValue, editor_method, method
from ai_core.budget import Budget


class BakingNode:
    """Baking of a SenseGraphBaker or a CoverMap; a part of those classes.

    They give ``begin_work`` that sets ``_baking``, ``end_work`` and ``keep_work``. What
    bakes is advanced, and says ``is_done``, ``progress`` and ``stage``.
    """

    def __init__(self) -> None:
        self._baking: Any = None
        self._why = ""

    def begin_work(self) -> None:
        """Begin to bake the whole level; ``ValueError`` says why it cannot."""
        raise NotImplementedError

    def end_work(self) -> None:
        """Stop baking; nothing has changed."""
        raise NotImplementedError

    def keep_work(self, baking: Any, owner: Any) -> str:
        """Keep what was baked, new nodes owned by ``owner``; return what there is, in words, or raise ValueError."""
        raise NotImplementedError

    def begin_or_say_why(self) -> str:
        """Begin; return what is wrong, "" if nothing."""
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
        """Return whether it is at work."""
        return self._baking is not None

    @method
    def get_progress(self) -> float:
        """Return how far baking has come, 0 to 1; 0 while it does nothing."""
        return 0.0 if self._baking is None else self._baking.progress

    @method
    def get_stage(self) -> str:
        """Return what it is doing, in words; why it failed, if it did."""
        return self._why if self._baking is None else self._baking.stage

    @editor_method
    def begin_baking(self) -> str:
        """Begin to bake in the editor; returns what is wrong, "" if nothing."""
        self.end_work()
        return self.begin_or_say_why()

    @editor_method
    def advance_baking(self, us: float) -> float:
        """Go on for so many microseconds; returns how far it has come, 1 when done, -1 if it failed."""
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
        """Return what it is doing, in words; why it failed, if it did."""
        return self.get_stage()

    @editor_method
    def finish_baking(self, owner: Node) -> str:
        """Keep what was baked, new nodes owned by ``owner``; returns what there is now, in words."""
        if self._baking is None or not self._baking.is_done:
            raise RefusedValue("has nothing to keep; begin_baking() and advance_baking() until it returns 1")
        baking, self._baking = self._baking, None
        try:
            return self.keep_work(baking, owner)
        except ValueError as error:
            return str(error)

    @editor_method
    def cancel_baking(self) -> None:
        """Stop baking; nothing has changed."""
        self.end_work()
