from collections.abc import Sequence

from ai_core.budget import Stopwatch
from ai_core.scheduling.rounds import FrameMoment, Round, RoundTimes, Row
from ai_core.scheduling.task import Turn

INTERFACE: int

def begin_round(
    buckets: Sequence[Row], moment: FrameMoment, turn: Turn, stopwatch: Stopwatch | None, limit_ns: int
) -> Round: ...
def round_times(tasks: int) -> RoundTimes: ...
