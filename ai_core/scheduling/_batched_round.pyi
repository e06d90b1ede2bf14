from ai_core.scheduling.batched_round import BatchedRound, BatchOf
from ai_core.scheduling.rounds import Row

INTERFACE: int

def batched_round(row: Row, batch_of: BatchOf) -> BatchedRound: ...
