"""Four ghosts in a maze, by one rule set: only their parameters differ.

One turns left wherever it can, one right, one anywhere, and one to the player.
Together they look like a hunt, though only the last of them looks at all.
"""
from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from ai_core.budget import Stopwatch
from ai_core.decisions.rules import Asked, Rule, RuleMind, RuleSet
from ai_core.faults import FaultIsolation
from ai_core.saving.chance import RandomGenerator
from ai_core.saving.declared_state import DeclaredState, Saveable
from ai_core.saving.fields import refuse
from ai_core.saving.kinds import ListOf, Seconds, Whole
from ai_core.scheduling.task import Turn
from demo_project.scenarios.scenario import Scenario

MAZE = (
    "#################",
    "#.......#.......#",
    "#.##.##.#.##.##.#",
    "#...............#",
    "#.##.#.###.#.##.#",
    "#....#..#..#....#",
    "####.##.#.##.####",
    "#.......P.......#",
    "#.##.##.#.##.##.#",
    "#..#....#....#..#",
    "##.#.#.###.#.#.##",
    "#....#..#..#....#",
    "#.#######.#####.#",
    "#...............#",
    "#################",
)
DIRECTIONS = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""North, east, south, west: one further is a turn to the right."""

STEP_S = 0.2
BUDGET_STEPS = 8
STRONG_FOR_S = 3.0

Cell = tuple[int, int]


def open_at(turn: int) -> Asked:
    """Return a fact: the direction after this number of right turns is open."""
    return lambda mind: mind.owner.is_open(mind.owner.heading + turn)


def sees_player(mind: RuleMind) -> float:
    """Return how near the player is, within the sight range of this ghost."""
    return max(0.0, 1.0 - mind.owner.distance_to_player() / mind.parameter("sight_range"))


def turn(quarters: int) -> Callable[[RuleMind], int]:
    """Return what a rule does: turn so many quarters to the right."""
    return lambda mind: (mind.owner.heading + quarters) % 4


RULES = RuleSet(
    [
        Rule("flee", "sees_player and player_is_strong > courage", lambda mind: mind.owner.away_from_player(),
             salience=10.0, repeats=True),
        Rule("hunt", "sees_player", lambda mind: mind.owner.towards_player(), salience="aggression", repeats=True),
        Rule("turn left", "open_left", turn(-1), salience="likes_left", repeats=True),
        Rule("turn right", "open_right", turn(1), salience="likes_right", repeats=True),
        Rule("turn anywhere", "", lambda mind: mind.owner.any_direction(), salience="whim", repeats=True),
        Rule("go on", "open_ahead", turn(0), salience=0.0, repeats=True),
        Rule("turn round", "", turn(2), salience=-3.0, repeats=True),
    ],
    facts={
        "open_left": open_at(-1), "open_right": open_at(1), "open_ahead": open_at(0),
        "sees_player": sees_player, "player_is_strong": 0.0,
    },
    parameters={
        "likes_left": -2.0, "likes_right": -2.0, "whim": -4.0, "aggression": -2.0,
        "courage": 0.5, "sight_range": 1.0, "thinks_every_s": STEP_S,
    },
    period_s="thinks_every_s",
)

GHOSTS: dict[str, tuple[Cell, dict[str, float]]] = {
    "lefty": ((1, 1), {"likes_left": 1.0}),
    "righty": ((15, 1), {"likes_right": 1.0}),
    "rover": ((1, 13), {"whim": 1.0, "courage": 0.0, "sight_range": 4.0}),
    "hunter": ((15, 13), {"aggression": 1.0, "sight_range": 30.0, "courage": 1.0}),
}


class CellState(ListOf):
    """A free cell of the maze."""

    def __init__(self) -> None:
        super().__init__(Whole(1), count=2, make=tuple)

    def read(self, plain: Any, place: str, owner: Any) -> Any:
        x, y = super().read(plain, place, owner)
        if y >= len(MAZE) - 1 or x >= len(MAZE[0]) - 1 or not is_free((x, y)):
            refuse(place, f"must be a free cell of the maze, got {[x, y]}")
        return x, y


class Ghost(Saveable):
    """One ghost: where it is, where it heads, and its mind."""

    STATE = DeclaredState(cell=CellState(), heading=Whole(maximum=3), chance=RandomGenerator(at="_chance"))

    def __init__(
        self, name: str, cell: Cell, parameters: dict[str, float], maze: Maze, seed: int, faults: FaultIsolation
    ) -> None:
        self.name, self.cell, self.heading = name, cell, 0
        self._maze = maze
        self._chance = random.Random(seed)
        self.mind = RuleMind(RULES, owner=self, name=name, parameters=parameters, faults=faults)

    def think(self, turn: Turn) -> object:
        """Decide where to head, when it is time to think."""
        fired = self.mind.update(turn.elapsed_s, most=1)
        if fired:
            self.heading = fired[0].result
            return fired[0].rule
        return None

    def step(self) -> None:
        """Go one cell on, unless there is a wall."""
        if self.is_open(self.heading):
            self.cell = ahead(self.cell, self.heading)

    def is_open(self, heading: int) -> bool:
        """Return True if there is no wall in that direction."""
        return is_free(ahead(self.cell, heading))

    def distance_to_player(self) -> float:
        """Return how many cells away the player is."""
        return apart(self.cell, self._maze.player)

    def towards_player(self) -> int:
        """Return the open direction that ends nearest to the player; back only where there is no other."""
        return min(self._onward(), key=lambda one: (apart(ahead(self.cell, one), self._maze.player), one))

    def away_from_player(self) -> int:
        """Return the open direction that ends farthest from the player."""
        return min(self._open_directions(), key=lambda one: (-apart(ahead(self.cell, one), self._maze.player), one))

    def any_direction(self) -> int:
        """Return a random open direction; back only if there is no other."""
        directions = self._onward()
        return directions[int(self._chance.random() * len(directions))]

    def _onward(self) -> list[int]:
        directions = self._open_directions()
        return [one for one in directions if one != (self.heading + 2) % 4] or directions

    def _open_directions(self) -> list[int]:
        return [direction for direction in range(4) if self.is_open(direction)]

    def observe(self) -> dict[str, Any]:
        """Return where it is and heads."""
        return {"cell": self.cell, "heading": self.heading}


class Maze(Saveable, Scenario):
    """The maze, the player in it, and the ghosts."""

    STATE = DeclaredState(
        player=CellState(), strong_s=Seconds(), waited_s=Seconds(at="_waited_s"), chance=RandomGenerator())

    def __init__(self, seed: int = 0, *, stopwatch: Stopwatch | None = None) -> None:
        super().__init__("ghosts", seed, budget_steps=BUDGET_STEPS, stopwatch=stopwatch)
        self.player: Cell = next((row.index("P"), y) for y, row in enumerate(MAZE) if "P" in row)
        self.strong_s = 0.0
        self._waited_s = 0.0
        self.chance = random.Random(seed)
        self.parts["maze"] = self.observed["maze"] = self
        self.ghosts = []
        for number, (name, (cell, parameters)) in enumerate(GHOSTS.items()):
            ghost = Ghost(name, cell, parameters, self, seed * 10 + number, self.faults)
            self.ghosts.append(ghost)
            self.scheduler.add(ghost.think, name=name)
            self.parts[name] = self.observed[name] = ghost
            self.parts[f"mind of {name}"] = ghost.mind
        self.parts["scheduler"] = self.scheduler

    def next_inputs(self) -> dict[str, Any]:
        """Return {"way": 0..3 or None, "pill": bool}: where the player goes, and whether it gets strong."""
        walks = self._waited_s + self.clock.seconds_per_frame >= STEP_S
        return {"way": int(self.chance.random() * 4) if walks else None, "pill": self.chance.random() < 0.002}

    def take_in(self, inputs: dict[str, Any]) -> None:
        if inputs["way"] is not None and is_free(there := ahead(self.player, inputs["way"])):
            self.player = there
        if inputs["pill"]:
            self.strong_s = STRONG_FOR_S

    def move(self, passed_s: float) -> None:
        self.strong_s = max(0.0, self.strong_s - passed_s)
        for ghost in self.ghosts:
            ghost.mind.set("player_is_strong", self.strong_s / STRONG_FOR_S)
        self._waited_s += passed_s
        if self._waited_s >= STEP_S:
            self._waited_s -= STEP_S
            for ghost in self.ghosts:
                ghost.step()

    def observe(self) -> dict[str, Any]:
        """Return where the player is, and for how long it is strong."""
        return {"player": self.player, "strong_s": self.strong_s}


def build(seed: int = 0, **settings: Any) -> Maze:
    """Return a maze."""
    return Maze(seed, **settings)


def ahead(cell: Cell, heading: int) -> Cell:
    """Return the next cell in a direction."""
    x, y = DIRECTIONS[heading % 4]
    return cell[0] + x, cell[1] + y


def apart(one: Cell, other: Cell) -> int:
    """Return the steps between two cells if there were no walls."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def is_free(cell: Cell) -> bool:
    """Return True if there is no wall."""
    return MAZE[cell[1]][cell[0]] != "#"
