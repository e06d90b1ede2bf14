from collections.abc import Sequence
from typing import Any

from ai_core.events.living import WeakList

INTERFACE: int

def living(held: Sequence[Any], are_weak: Sequence[bool], gone: type[Exception]) -> WeakList: ...
