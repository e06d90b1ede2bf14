"""The forms of ``living``, for tests that run with each."""
from __future__ import annotations

import ai_core.events.living as living
from ai_core.twins import INTERPRETED, kernel_of

TWIN = INTERPRETED[f"{living.__name__}.living"]
KERNEL = kernel_of(TWIN)
# That the kernel is built where it can be, a test of ai_core.twins holds.
FORMS = {"interpreted": TWIN, **({} if KERNEL is None else {"compiled": KERNEL})}
