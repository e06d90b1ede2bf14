"""The lives of all classes that have state; a class without one fails ``test_every_state``."""
from __future__ import annotations

from tests.saving.lives import deciding, grounds, grouping, happening, scheduling, sensing

LIVES = (
    *deciding.LIVES, *grounds.LIVES, *grouping.LIVES, *happening.LIVES, *scheduling.LIVES, *sensing.LIVES)
