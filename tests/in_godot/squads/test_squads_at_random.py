"""Random lives of Squad nodes: from a save they go on as they did."""
from __future__ import annotations

import json
import random

import pytest

from addons.ai_core.bridge.gd import Vector3, construct
from tests.in_godot.squads.squad_world import recruits

pytestmark = pytest.mark.in_its_own_world

TACTICS = ["", "flanking", "bounding_overwatch", "scouting", "sacrifice"]


def somewhere(chance):
    return Vector3(chance.uniform(-20, 20), 0, chance.uniform(-20, 20))


def something_happens(chance, squads, enemies, formations):
    squad, dice, place = chance.choice(squads), chance.random(), somewhere(chance)
    if not squad.get_members():
        return
    if dice < 0.1:
        squad.move_to(place)
    elif dice < 0.13:
        squad.hold()
    elif dice < 0.16:
        squad.form_up(place, None)
    elif dice < 0.19:
        squad.set("tactic", chance.choice(TACTICS))
    elif dice < 0.21:
        squad.see(chance.sample(enemies, chance.randint(0, 3)))
    elif dice < 0.23:
        squad.formation = chance.choice(formations)
    elif dice < 0.24:
        squad.ground_changed()
    elif dice < 0.25:
        squad.appoint(chance.choice([None, *squad.get_members()]))
    elif dice < 0.27 and len(squad.get_members()) > 1:
        squad.move_members([chance.choice(squad.get_members())], squads[1 - squads.index(squad)])


@pytest.mark.parametrize("seed", [370, *range(12)])
def test_squads_go_on_from_a_save_as_they_did(node, world, scheduler, physics_frames, seed):
    chance, bodies = random.Random(seed), []
    squads = [
        node("Squad", scheduler, name=name, keep_clear=1, think_period=chance.choice([1, 3, 6, 15]))
        for name in ("Alpha", "Beta")]
    for squad in squads:
        count, speed = chance.randint(1, 6), chance.choice([2.0, 4.0])
        bodies += [body for body, _ in recruits(node, world, squad, count, speed=speed)]
    for body in bodies:
        body.add_to_group("ai_saved")
    enemies = [node("Node3D", world, name=f"E{number}", position=somewhere(chance)) for number in range(3)]
    formations = [None, construct("Formation")]
    formations[1].pattern = 1
    physics_frames(2)

    def lived(chance, frames):
        diary = []
        for _ in range(frames):
            something_happens(chance, squads, enemies, formations)
            physics_frames(1)
            diary.append((
                [one for body in bodies for one in body.get_global_position()],
                [(one.get_order_state(), len(one.get_members()), one.get("tactic")) for one in squads]))
        return diary

    lived(chance, chance.randint(1, 150))
    state = json.loads(json.dumps(scheduler.save_state()))
    first = lived(random.Random(seed + 1), 80)
    assert scheduler.load_state(state)
    for (places, states), (before, earlier) in zip(lived(random.Random(seed + 1), 80), first, strict=True):
        assert states == earlier
        assert places == pytest.approx(before, abs=1e-4)
