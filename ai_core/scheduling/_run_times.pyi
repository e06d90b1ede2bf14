from collections.abc import Iterator

from ai_core.scheduling.run_times import RunFrame, Shares
from ai_core.scheduling.task import Task

INTERFACE: int

def begin_shares(queue: list[Task], to_come: Iterator[Task], frame: RunFrame) -> Shares: ...
