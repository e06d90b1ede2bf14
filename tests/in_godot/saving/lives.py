"""Random lives in Godot: from a save they go on as they did, in the same scene and in one that is built anew."""
from __future__ import annotations

import json
import random

PAUSED = 4
"""A ``process_mode``: disabled."""


def assert_they_go_on(seed, chance, scheduler, world, build_anew, live, who_may_pause):
    """Live for a while, save, live on, load and see whether it is the same again.

    Args:
        seed: of what happens after the save.
        chance: decides what happens before.
        scheduler, world: an AIScheduler, and what the test has below it.
        build_anew: returns another scheduler, and such a world below it.
        live: ``live(scheduler, world, chance, frames)`` returns a diary of what happened in so many frames.
        who_may_pause: ``who_may_pause(world)`` returns the nodes whose ``process_mode`` the game keeps itself.
    """
    live(scheduler, world, chance, chance.randint(1, 30))
    state = json.loads(json.dumps(scheduler.save_state()))
    modes = [one.get("process_mode") for one in who_may_pause(world)]
    first = live(scheduler, world, random.Random(seed + 1), 25)
    for top, there in (scheduler, world), build_anew():
        for one, mode in zip(who_may_pause(there), modes, strict=True):
            one.set("process_mode", mode)
        assert top.load_state(state)
        again = live(top, there, random.Random(seed + 1), 25)
        differs = [frame for frame, then in enumerate(first) if again[frame] != then]
        assert not differs, f"frame {differs[0]}: {again[differs[0]]} instead of {first[differs[0]]}"
        top.set("process_mode", PAUSED)
