from ai_core.senses.audience import StimulusBatch
from ai_core.senses.percepts.followed_pairs import Rows
from ai_core.senses.percepts.heard_pairs import HeardPair as HeardPair

INTERFACE: int

def take_in_all(
    rows: dict[int, dict[int, HeardPair]], heard: StimulusBatch, first: int, visited: set[int], fresh: set[int],
    followed: Rows,
) -> int: ...
