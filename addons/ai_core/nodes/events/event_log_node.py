"""The log of an AIEventManager: what was sent and told lately, for people."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import export, method
from addons.ai_core.nodes.events.event_terms import refusing
from ai_core.events.event_log import EventLog, sender_name


class EventLogNode:
    """What of an AIEventManager shows what happened; a part of that class."""

    events: Any
    group: Any
    _group: Any
    _check_code: Any

    logged_entries = export(
        int, 0, range=(0, 10000, 1), or_greater=True, group="Debug", on_set="apply_log",
        doc="How many entries of what was sent and told are kept, for all managers under the same scheduler; 0 keeps"
            " none. Telling takes several times as long with a log.")

    def apply_log(self) -> None:
        """Keep a log if one is wanted by now."""
        if self._group is not None:
            self.events.apply_log()

    @method
    def inject(self, code: str, arguments: list = ()) -> None:
        """Send by hand, as from a console; the log shows it as injected."""
        self._check_code(code)
        log = self.events.narrowcast.log
        if log is not None:
            log.note("injected", self.events.narrowcast.events.clock.now, code, sender_name(self))
        self.group.send(code, *arguments, sender=self)

    @method
    def get_log(self, code: str = "", kind: str = "", since_frame: int = 0) -> list:
        """Return entries as Dictionaries, the oldest first: of one code, of one kind, or all.

        Kinds: check, sent, injected, told, failed, unheard, late, freed.
        """
        return [
            {"frame": one.at.frame, "seconds": one.at.seconds, "kind": one.kind, "code": one.code, "who": one.who,
             "detail": one.detail}
            for one in self._entries(code, kind, since_frame)
        ]

    @method
    def print_log(self, code: str = "", kind: str = "", since_frame: int = 0) -> None:
        """Print the entries as a table."""
        print((self.events.narrowcast.log or EventLog()).table(self._entries(code, kind, since_frame)))

    def _entries(self, code: str, kind: str, since_frame: int) -> Any:
        log = self.events.narrowcast.log or EventLog()
        with refusing():
            return log.entries(kinds=kind or None, code=code or None, since_frame=since_frame)
