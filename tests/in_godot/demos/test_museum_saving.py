"""A museum is saved at some frame, its scene is loaded anew, and what follows is the same."""
from __future__ import annotations

import pytest

from tests.in_godot.demos.museum_diary import Museum

pytestmark = pytest.mark.slow

# The first step; patrol; a sound heard; a glance; the chase, through doors half open; the alarm;
# a guard in the doorway whom the door has told of; the chase lost; search; awareness fading.
SAVED_AT = (1, 60, 194, 230, 470, 529, 541, 640, 700, 840, 900, 1050)
# The story is over after 1264 frames.
FRAMES_AFTER = 200

BYTES = "extends RefCounted\nstatic func through(state: Dictionary): return bytes_to_var(var_to_bytes(state))"


@pytest.fixture
def play(nodes_of_test, physics_frames):
    """``play(saved)``: a museum that lives for some frames and is gone; what was seen, and saves on the way."""

    def play(frames, saved=None, save_at=()):
        museum, saves = Museum(nodes_of_test, physics_frames, saved), {}
        try:
            for _ in range(frames):
                museum.live(1)
                if museum.frame in save_at:
                    saves[museum.frame] = museum.scheduler.call("save_state")
        finally:
            museum.node.free()
        return museum.rows, saves

    return play


def test_a_saved_museum_continues_to_the_same_trace(play, gdscript):
    expected, saves = play(max(SAVED_AT) + FRAMES_AFTER, save_at=SAVED_AT)
    assert sorted(saves) == sorted(SAVED_AT)
    for frame, state in saves.items():
        seen, _ = play(FRAMES_AFTER, gdscript(BYTES).through(state))
        following = {at: expected[at] for at in range(frame + 1, frame + 1 + FRAMES_AFTER) if at in expected}
        differing = [at for at, row in following.items() if seen[at] != row]
        assert not differing, f"saved at frame {frame}, it differs at {differing[0]}"


def test_a_museum_that_forgets_a_door_is_another_one(play):
    expected, saves = play(541 + 60, save_at=(541,))
    [door] = [part for part in saves[541]["parts"] if part == "node/../BackDoor"]
    saves[541]["parts"][door]["script"]["openness"] = 0.0
    seen, _ = play(60, saves[541])
    assert any(seen[at] != expected[at] for at in seen if at in expected)
