"""Names of the events that nodes send to the deciding nodes of a character, to find names that are misspelt."""
from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from addons.ai_core.bridge.gd import report_warning
from addons.ai_core.nodes.characters.sensor_feed import RECEIVERS
from ai_core.events.squad_radio import RADIO_CODES

EVENT_NAMES = (*RECEIVERS, "heard", "order_given", "task_changed", *RADIO_CODES)
"""Events of sensors, squads and radios."""

CLOSE = 0.8
"""Similarity of a misspelt name to that of an event (no unit); less would doubt names of a game's own messages."""


@lru_cache(maxsize=1024)
def _meant(name: str, declared: tuple[str, ...]) -> str:
    known = sorted({*EVENT_NAMES, *declared})
    close = [] if name in known else get_close_matches(name, known, n=1, cutoff=CLOSE)
    return close[0] if close else ""


def misspelt(names: Iterable[str], declared: tuple[str, ...] = ()) -> list[str]:
    """Return a warning for each name that is no event, but much like one.

    Args:
        names: names on which something begins or wakes; a message of a script may have any name.
        declared: codes of the AIEventManager.
    """
    return [
        f"waits for '{name}', which is no event of a sensor, squad, radio or AIEventManager; did you mean '{meant}'?"
        " If a script sends it, a name less like that is clearer"
        for name in sorted(map(str, names)) if (meant := _meant(name, declared))]


def report_misspelt(node: Any, names: Iterable[str], declared: tuple[str, ...] = ()) -> None:
    """Report each misspelt name once for the nodes of an update group."""
    reported = node._update_group.reported
    for warning in misspelt(names, declared):
        if warning not in reported:
            reported.add(warning)
            report_warning(warning, node)
