"""What sensors and sources have in common: they belong to a SenseManager while they are in the tree."""
from __future__ import annotations

from typing import Any

from addons.ai_core.bridge.gd import report_error
from addons.ai_core.nodes.scheduled import nearest, wait_for
from addons.ai_core.nodes.sense_manager import GROUP


class SenseMember:
    """Joins the nearest SenseManager on entering the tree; waits for one if there is none yet."""

    _manager: Any = None
    without_manager = ""

    def on_entered(self: Any) -> None:
        if self._manager is None:
            self._join()

    def lose_manager(self: Any) -> None:
        """The manager leaves the tree: wait for the next."""
        self._manager = None
        if self.is_valid() and self.is_inside_tree():
            wait_for(self, GROUP)

    def _get_configuration_warnings(self: Any) -> list[str]:
        if nearest(self, "SenseManager", GROUP) is None:
            return [f"found no SenseManager and {self.without_manager}; put one into the scene"]
        return []

    def _join(self: Any) -> None:
        for warning in self._get_configuration_warnings():
            report_error(warning, self)
        manager = nearest(self, "SenseManager", GROUP)
        if manager is None:
            wait_for(self, GROUP)
            return
        self._enlist(manager)
        self._manager = manager
