"""The four timings of a timeslicer: when inputs are read, and when results become visible."""
from __future__ import annotations

from enum import Enum

from ai_core.errors import whole_number

__all__ = ["Timing"]


class Timing(Enum):
    """Inputs together or one by one, results together or one by one.

    "Together" is at the start of a batch: all inputs of the batch that begins, and all
    results of the batch that is complete. Choose by what must not differ between agents.

    - ``AIAO``: each job reads its input when it runs, and its result is visible at once. The
      most recent results; agents have seen the world at different times.
    - ``SIAO``: all inputs are read at the same time, results appear one by one. All agents see
      a target that moves meanwhile at the same place.
    - ``SISO``: all inputs are read at the same time, and all results change at the same time.
      An incomplete batch is never visible: maps, votes, plans for a squad.
    - ``AISO``: inputs one by one, results at the same time. For completeness.

    Source: 002_timeslicing (asynchronous and synchronous input and output).
    """

    AIAO = (False, False)
    SIAO = (True, False)
    SISO = (True, True)
    AISO = (False, True)

    @property
    def reads_together(self) -> bool:
        """True if all inputs of a batch are read when it starts."""
        return self.value[0]

    @property
    def shows_together(self) -> bool:
        """True if all results of a batch become visible at once, when the next one starts."""
        return self.value[1]

    def age_bounds_updates(
        self, batch_updates: int, *, joins_next_update: bool = False
    ) -> tuple[int, int]:
        """Return the least and the greatest age that a result can have after an update.

        It holds for keys whose jobs do not fail; where batches differ in length, take the
        longest.

        Args:
            batch_updates: updates that a batch takes, 1 or more: jobs divided by jobs per
                update, rounded up.
            joins_next_update: as passed to the Timeslicer, and with an executor.

        Raises:
            ValueError: if ``batch_updates`` is less than 1.

        >>> Timing.SISO.age_bounds_updates(10)
        (10, 19)
        """
        length = whole_number(
            "batch_updates", batch_updates, minimum=1, remedy="a batch takes at least one update"
        )
        if self.shows_together:  # joined before results are seen in any case, so no later
            return (length if self.reads_together else 1), 2 * length - 1
        later = int(joins_next_update)
        return later, (2 * length - 2 if self.reads_together else length - 1) + later
