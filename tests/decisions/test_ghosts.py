"""The four ghosts: one rule set, four characters."""
from __future__ import annotations

import pytest

from ai_core.snapshot import from_json, restore, take, to_json
from demo_project.scenarios.ghosts import GHOSTS, MAZE, RULES, ahead, build, is_free


def ghost(name, *, cell, heading, player=(8, 7), strong=0.0):
    maze = build(seed=3)
    one = next(ghost for ghost in maze.ghosts if ghost.name == name)
    one.cell, one.heading, maze.player = cell, heading, player
    one.mind.set("player_is_strong", strong)
    return one


@pytest.mark.parametrize(
    ("name", "rule", "heading"),
    [("lefty", "turn left", 0), ("righty", "turn right", 2), ("hunter", "hunt", 2)])
def test_each_ghost_decides_by_its_own_parameters_at_a_crossing(name, rule, heading):
    here = ghost(name, cell=(4, 3), heading=1, player=(4, 7))
    fired = here.mind.think(most=1)[0]
    assert (fired.rule, fired.result) == (rule, heading)


def test_all_ghosts_live_by_one_rule_set():
    assert {one.mind.rules for one in build().ghosts} == {RULES}
    assert len(GHOSTS) == 4


def test_ghost_follows_a_corridor_and_turns_back_at_its_end():
    corridor = ghost("lefty", cell=(2, 1), heading=1)
    assert corridor.mind.think(most=1)[0].rule == "go on"
    corner = ghost("lefty", cell=(15, 1), heading=1)
    assert corner.mind.think(most=1)[0].rule == "turn right"
    dead_end = ghost("lefty", cell=(7, 11), heading=1)
    assert dead_end.mind.think(most=1)[0].rule == "turn round"


def test_only_the_hunter_looks_at_the_player():
    for name in GHOSTS:
        ways = {
            ghost(name, cell=(4, 3), heading=1, player=player).mind.think(most=1)[0].result
            for player in ((4, 7), (1, 3), (15, 3))}
        assert (len(ways) > 1) == (name == "hunter")


def test_timid_ghosts_flee_a_strong_player_and_brave_ones_do_not():
    rover = ghost("rover", cell=(4, 3), heading=1, player=(4, 5), strong=1.0)
    hunter = ghost("hunter", cell=(4, 3), heading=1, player=(4, 5), strong=1.0)
    assert rover.mind.think(most=1)[0].rule == "flee"
    assert hunter.mind.think(most=1)[0].rule == "hunt"


def test_ghosts_never_stand_in_walls_and_the_hunter_comes_near():
    maze = build(seed=1)
    nearest = 99.0
    for _ in range(300):
        maze.step()
        assert all(is_free(one.cell) for one in maze.ghosts)
        nearest = min(nearest, maze.ghosts[3].distance_to_player())
    assert nearest <= 1
    assert all(len(row) == len(MAZE[0]) for row in MAZE)
    assert ahead((4, 3), 5) == (5, 3)


def test_a_loaded_maze_goes_on_as_the_saved_one():
    first, second = build(seed=1), build(seed=2)
    for _ in range(40):
        first.step()
    restore(from_json(to_json(take(first.parts))), second.parts)
    for _ in range(40):
        inputs = first.next_inputs()
        second.next_inputs()
        first.step(inputs=inputs)
        second.step(inputs=inputs)
    assert {name: one.observe() for name, one in first.observed.items()} == {
        name: one.observe() for name, one in second.observed.items()}
