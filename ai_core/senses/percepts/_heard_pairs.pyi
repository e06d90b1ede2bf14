from ai_core.senses.audience import Heard
from ai_core.senses.percepts.followed_pairs import Rows
from ai_core.senses.percepts.heard_pairs import HeardPair as HeardPair

INTERFACE: int

def take_in_all(
    rows: dict[int, dict[int, HeardPair]], heard: Heard, first: int, visited: set[int], fresh: set[int],
    followed: Rows,
) -> int: ...
