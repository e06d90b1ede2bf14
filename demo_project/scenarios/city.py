"""Four towns, 100,000 inhabitants, one traveller: near ones are people, far ones a number.

A town far away is one piece of work. As the traveller comes near, it opens
into quarters, these into blocks, and a block into its inhabitants, who meet,
trade and pass on a rumour. Closed, the same rumour spreads by a formula.

    python -m demo_project.scenarios.city          a line for every second
"""
from __future__ import annotations

import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

from ai_core.budget import Budget, Stopwatch
from ai_core.level_of_detail.group_lod import GroupLOD
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.community import Community
from ai_core.level_of_detail.population.distributions import Normal, PowerLaw
from ai_core.level_of_detail.population.people import NamedPerson, People
from ai_core.level_of_detail.population.population import Population
from ai_core.saving.chance import RandomGenerator
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part, Saveable
from ai_core.saving.kinds import Kind, ListOf, Number, Record, Text, Whole
from ai_core.scheduling.task import Turn
from demo_project.scenarios.scenario import Scenario

TOWNS = ("Ash", "Birch", "Cedar", "Dorn")
INHABITANTS = 100_000
BLOCK_PEOPLE, BLOCK_M = 250, 100.0
PARTS_ACROSS = 3
SIGHT_M = 80.0
TRAVELS_M_S = 60.0
POOREST = 10.0
MEETING_PERIOD_FRAMES = 12
CLOSED_PERIOD_FRAMES = 30
MEETINGS_PER_S = 1 / (MEETING_PERIOD_FRAMES / 60)
HEARD, UNHEARD = "heard", "unheard"
BUDGET_STEPS = 50_000


class Plot(NamedTuple):
    """A square of land, and how many blocks of houses stand on it."""

    name: str
    west_m: float
    north_m: float
    side_m: float
    blocks: int

    def away_m(self, x: float, z: float) -> float:
        """Return how far a place is from its edge; 0 inside."""
        right, low = self.west_m + self.side_m, self.north_m + self.side_m
        return math.hypot(max(self.west_m - x, 0, x - right), max(self.north_m - z, 0, z - low))

    def parts(self) -> list[Plot]:
        """Return the plots inside, by rows; blocks in equal shares."""
        count, across = min(PARTS_ACROSS**2, self.blocks), PARTS_ACROSS
        side_m = self.side_m / across
        return [
            Plot(
                f"{self.name}/{number}", self.west_m + number % across * side_m,
                self.north_m + number // across * side_m, side_m,
                (self.blocks * (number + 1)) // count - (self.blocks * number) // count,
            )
            for number in range(count)
        ]


class Inhabitants:
    """The inhabitants of a plot that is simulated now: as a group, or individually."""

    def __init__(self, community: Community) -> None:
        self.community = community
        self.people: People | None = None
        self.fraction = 0.0


HERE = ListOf(Record(SimpleNamespace, plot=Text(), community=Kind(), fraction=Number(), people=Kind()))


class City(Saveable, Scenario):
    """Four towns around a square; a traveller goes from one to the next."""

    STATE = DeclaredState(
        leg=Whole(), place=ListOf(Number(), count=2), here=Hook(), chance=RandomGenerator())

    def __init__(
        self, seed: int = 0, *, inhabitants: int = INHABITANTS, stopwatch: Stopwatch | None = None
    ) -> None:
        super().__init__("city", seed, budget_steps=BUDGET_STEPS, stopwatch=stopwatch)
        self.chance = random.Random(seed)
        self._stopwatch = stopwatch
        self._used_us, self._frames = 0.0, 0
        blocks = max(1, inhabitants // len(TOWNS) // BLOCK_PEOPLE)
        side_m = BLOCK_M * PARTS_ACROSS ** round(math.log(blocks, PARTS_ACROSS**2))
        self.towns = [
            Plot(name, 2 * side_m * (n in (1, 2)), 2 * side_m * (n in (2, 3)), side_m, blocks)
            for n, name in enumerate(TOWNS)
        ]
        self.leg = 0
        self.place = [0.1 * BLOCK_M, 0.5 * side_m]
        self.here: dict[str, Inhabitants] = {}
        self.nation = GroupLOD("nation", self.clock, importance=lambda: 1.0, faults=self.faults, trace=self.trace)
        for number, plot in enumerate(self.towns):
            count = (inhabitants * (number + 1)) // 4 - (inhabitants * number) // 4
            self.here[plot.name] = Inhabitants(_founded(count, number == 0))
            self.nation.add(self._group(plot))
        self.scheduler.add(self.nation, name="nation")
        first = self.towns[0]
        self.here["Ash"].community.pin("Mayor Ilse", {
            "age": 61.0, "health": 0.9, "rumour": UNHEARD, "wealth": 4000.0,
            "home": [first.west_m + 1.0, first.north_m + 1.0],
        })
        self.parts |= {"city": self, "scheduler": self.scheduler}
        self.observed = {"city": self}

    def step(self, budget: Budget | None = None, inputs: Any = None) -> None:
        """Run one frame, and measure it if there is a stopwatch."""
        began_ns = self._stopwatch() if self._stopwatch else 0
        super().step(budget, inputs)
        self._used_us += (self._stopwatch() - began_ns) / 1000 if self._stopwatch else 0.0
        self._frames += 1

    def next_inputs(self) -> dict[str, Any]:
        """Return {"to": number of the town that the traveller heads for}."""
        return {"to": self.leg % len(self.towns)}

    def take_in(self, inputs: dict[str, Any]) -> None:
        self.leg += (inputs["to"] - self.leg) % len(self.towns)

    def move(self, passed_s: float) -> None:
        town = self.towns[self.leg % len(self.towns)]
        goal = (town.west_m + town.side_m / 2, town.north_m + town.side_m / 2)
        offset = (goal[0] - self.place[0], goal[1] - self.place[1])
        left_m, step_m = math.hypot(*offset), TRAVELS_M_S * passed_s
        if left_m <= step_m:
            self.place, self.leg = [*goal], self.leg + 1
        else:
            self.place = [self.place[n] + offset[n] / left_m * step_m for n in range(2)]

    def report(self) -> dict[str, float]:
        """Return what is simulated as what, totals, and the time of a frame since the last report."""
        frames, used_us = max(1, self._frames), self._used_us
        self._frames, self._used_us = 0, 0.0
        return {**self._counted(), "wealth": self.total("wealth"), "ai_us_per_frame": used_us / frames}

    def total(self, name: str) -> float:
        """Return what all inhabitants have together."""
        return math.fsum(
            float(one.people.columns[name].sum()) if one.people is not None else one.community.total(name)
            for one in self.here.values()
        )

    def observe(self) -> dict[str, Any]:
        """Return where the traveller is, and what is simulated how."""
        return {"place": self.place, **self._counted(), "heard": self._heard()}

    def _save_here(self) -> list[Any]:
        return [
            {"plot": name, "community": one.community.save_state(), "fraction": one.fraction,
             "people": None if one.people is None else one.people.save_state()}
            for name, one in self.here.items()]

    def _prepare_here(self, plain: Any, place: str) -> Change:
        here: dict[str, Inhabitants] = {}
        for index, one in enumerate(HERE.read(plain, place, self)):
            found = Inhabitants(_founded(0, False))
            Part().prepare(found.community, one.community, f"{place}[{index}].community")()
            found.fraction = one.fraction
            if one.people is not None:
                found.people = People.from_state(one.people, found.community.population)
            here[one.plot] = found
        return lambda: setattr(self, "here", here)

    def _group(self, plot: Plot) -> GroupLOD:
        is_block = plot.blocks == 1
        parts = {} if is_block else {one.name: one for one in plot.parts()}
        return GroupLOD(
            plot.name, self.clock, importance=self._nearness_of(plot),
            work=lambda turn: self._spread_rumour(self.here[plot.name], turn.elapsed_s),
            expand=lambda: self._move_in(plot) if is_block else self._divide(plot),
            member=lambda name: (
                self._meeting_of(plot, int(name)) if is_block else self._group(parts[name])
            ),
            compress=lambda: self._move_out(plot) if is_block else self._unite(plot),
            closed_period_frames=CLOSED_PERIOD_FRAMES, member_period_frames=MEETING_PERIOD_FRAMES,
            faults=self.faults, trace=self.trace,
        )

    def _nearness_of(self, plot: Plot) -> Callable[[], float]:
        """Return what says how near the traveller is to a plot, 0 to 1; every group that runs asks it."""
        west_m, north_m = plot.west_m, plot.north_m
        east_m, south_m = west_m + plot.side_m, north_m + plot.side_m

        def nearness() -> float:
            x, z = self.place
            away_m = math.hypot(
                west_m - x if x < west_m else x - east_m if x > east_m else 0.0,
                north_m - z if z < north_m else z - south_m if z > south_m else 0.0,
            )
            return 1 - away_m / SIGHT_M if away_m < SIGHT_M else 0.0

        return nearness

    def _divide(self, plot: Plot) -> list[str]:
        """Let the inhabitants of a plot live on the plots inside."""
        parts, community = plot.parts(), self.here.pop(plot.name).community
        borders = [0]
        for part in parts:
            borders.append(borders[-1] + part.blocks)
        sizes = [
            community.count * borders[n + 1] // plot.blocks - community.count * borders[n] // plot.blocks
            for n in range(len(parts))
        ]

        def home(person: NamedPerson) -> int:
            return min(range(len(parts)), key=lambda n: (parts[n].away_m(*person.facts["home"]), n))

        for part, living in zip(parts, community.split(sizes, self.chance, place=home), strict=True):
            self.here[part.name] = Inhabitants(living)
        return [part.name for part in parts]

    def _unite(self, plot: Plot) -> None:
        living = [self.here.pop(part.name).community for part in plot.parts()]
        self.here[plot.name] = Inhabitants(Community.merged(living))

    def _move_in(self, plot: Plot) -> list[str]:
        one = self.here[plot.name]
        one.people = one.community.open(self.chance, self.clock.now.seconds)
        return [f"{row:03}" for row in range(len(one.people))]

    def _move_out(self, plot: Plot) -> None:
        one = self.here[plot.name]
        assert one.people is not None
        one.community.close(one.people, self.clock.now.seconds)
        one.people = None

    def _meeting_of(self, plot: Plot, row: int) -> Callable[[Turn], object]:
        def meet(turn: Turn) -> object:
            """Meet an inhabitant: trade, and talk."""
            people = self.here[plot.name].people
            assert people is not None
            other = int(self.chance.random() * len(people))
            wealth, rumour = people.columns["wealth"], people.columns["rumour"]
            price = 0.02 * (wealth[row] - POOREST)
            if other != row:
                wealth[row] -= price
                wealth[other] += price
            if HEARD in (rumour[row], rumour[other]):
                rumour[row] = rumour[other] = HEARD
            return other

        return meet

    def _spread_rumour(self, living: Inhabitants, elapsed_s: float) -> object:
        """Simulate meetings for all inhabitants at once: those with the rumour meet those without it."""
        population = living.community.population
        counts = population.properties["rumour"].counts  # type: ignore[union-attr]
        heard, unheard = counts.get(HEARD, 0), counts.get(UNHEARD, 0)
        if not heard or not unheard:
            return 0
        odds = heard / unheard * math.exp(min(50.0, 2 * MEETINGS_PER_S * elapsed_s))
        grown = (heard + unheard) * odds / (1 + odds) - heard + living.fraction
        more = min(unheard, int(grown))
        living.fraction = grown - more
        told = Categorical({HEARD: heard + more, UNHEARD: unheard - more})
        living.community.population = population.with_property("rumour", told)
        return more

    def _counted(self) -> dict[str, int]:
        """Return how many are simulated as people, blocks, quarters and towns, and all inhabitants."""
        blocks = {plot.name: plot for plot in self.towns}
        counted = {"people": 0, "blocks": 0, "quarters": 0, "towns": 0, "inhabitants": 0}
        for group in self.nation.groups():
            living = self.here.get(group.name)
            if living is None:
                continue
            if living.people is not None:
                counted["people"] += len(living.people)
                counted["inhabitants"] += len(living.people)
                continue
            counted["inhabitants"] += living.community.count
            is_block = living.community.count <= 2 * BLOCK_PEOPLE - 1
            counted["towns" if group.name in blocks else "blocks" if is_block else "quarters"] += 1
        return counted

    def _heard(self) -> int:
        return sum(
            int((one.people.columns["rumour"] == HEARD).sum()) if one.people is not None
            else one.community.population.properties["rumour"].counts.get(HEARD, 0)  # type: ignore[union-attr]
            for one in self.here.values()
        )


def build(seed: int = 0, **settings: Any) -> City:
    """Return the towns; so many ``inhabitants`` if given."""
    return City(seed, **settings)


def _founded(count: int, knows: bool) -> Community:
    heard = min(count, 20) if knows else 0
    return Community(Population(count, {
        "age": Normal(38.0, 14.0), "health": Normal(0.7, 0.12), "wealth": PowerLaw(2.5, POOREST),
        "rumour": Categorical({HEARD: heard, UNHEARD: count - heard}),
    }, dependences={("age", "health"): -0.5, ("age", "wealth"): 0.3}))


if __name__ == "__main__":
    import time

    city = build(stopwatch=time.perf_counter_ns)
    for second in range(1, 61):
        for _ in range(60):
            city.step()
        told = city.report()
        print(f"{second:3} s  " + "  ".join(f"{value:,.0f} {name}" for name, value in told.items()))
