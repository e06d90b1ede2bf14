"""Whether Python can be reloaded in the editor without loss for the nodes of open scenes."""
from __future__ import annotations

from addons.ai_core import register
from addons.ai_core.bridge.gd import RefCounted, gdclass, method, report_error


@gdclass(is_runtime=False)
class AIReload(RefCounted):
    """Tests the edited Python before a reload; the plugin calls it."""

    @method
    def get_refusal(self) -> str:
        """Import the edited modules on trial; return and report why they must not be loaded, or an empty text."""
        problems = register.problems_of_a_reload()
        if not problems:
            return ""
        refusal = f"Python is not reloaded, and the old code stays in use: {'; '.join(problems)}"
        report_error(refusal)
        return refusal
