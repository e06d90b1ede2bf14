"""Whether Python can be reloaded in the editor without loss for the nodes of open scenes."""
from __future__ import annotations

from addons.ai_core import register
from addons.ai_core.bridge.gd import RefCounted, gdclass, method, report_error


@gdclass(is_runtime=False)
class AIReload(RefCounted):
    """Tests the edited Python before a reload; the plugin calls it."""

    @method
    def can_reload(self) -> bool:
        """Import the edited modules on trial; report why they must not be loaded, and return whether they may."""
        problems = register.problems_of_a_reload()
        if problems:
            report_error(f"Python is not reloaded, and the old code stays in use: {'; '.join(problems)}")
        return not problems
