"""Lives of maps and paths."""
from __future__ import annotations

import numpy as np

from ai_core.budget import Budget
from ai_core.maps import CoverMap, CoverObject, CoverSpots
from ai_core.maps.conflict_log import ConflictLog
from ai_core.maps.decision_map import DecisionMap
from ai_core.maps.grid import Grid
from ai_core.maps.influence_map import InfluenceMap
from ai_core.maps.map_area import MapArea
from ai_core.maps.map_layer import MapLayer
from ai_core.paths import (
    AnytimeSearch,
    BumpAndTurn,
    ExploredMap,
    GridPathProvider,
    PathProgress,
    PathService,
    distance_on_grid,
    neighbors_on_grid,
)
from tests.saving.lives.life import Life, plain, steps

WALLS = """
............
...#####....
.......#....
....####..##
............
.####.......
............
"""
GRID = Grid([[letter == "." for letter in row] for row in WALLS.split()])
OPEN = np.flatnonzero(GRID.passage().costs.ravel() < np.inf).tolist()


class ConflictLife(Life):
    classes = (ConflictLog,)

    def build(self):
        self.log = ConflictLog(("attack", "losses"), most=6)

    def subjects(self):
        return {"log": self.log}

    def do_report(self, chance):
        place = [[chance.uniform(0, 9), 0.0]]
        self.log.report(chance.choice(["attack", "losses"]), place, chance.random(), self.clock.now.seconds,
                        numbers=chance.randint(1, 9), capabilities=chance.randint(0, 3))

    def do_look(self, chance):
        return self.log.around((chance.uniform(0, 9), 0.0), 4.0, self.clock.now.seconds)


class CoverLife(Life):
    classes = (CoverMap,)

    def build(self):
        self.cover = CoverMap()
        self.spots = self.cover.add(self.spots_at([(x, 0, 0) for x in range(4)]))

    @staticmethod
    def spots_at(places):
        count = len(places)
        return CoverSpots(
            np.array(places, np.float32), np.tile(np.float32((0, 0, -1)), (count, 1)), np.zeros(count, bool),
            np.zeros(count, np.float32), np.zeros(count, np.uint8))

    def subjects(self):
        return {"cover": self.cover}

    def do_reserve(self, chance):
        ids = self.cover.ids.tolist()
        return ids and self.cover.reserve(chance.choice(ids), chance.choice(["Bob", "Ann", 3]))

    def do_release(self, chance):
        self.cover.release(chance.choice(["Bob", "Ann"]))
        return self.cover.held, self.cover.near((0, 0, 0), 9.0)

    def do_replace(self, chance):
        places = [(x + chance.choice([0, 0.5]), 0, 0) for x in range(chance.randint(1, 5))]
        return plain(list(self.cover.replace(self.spots_at(places))))

    def do_put_object(self, chance):
        thing = CoverObject((chance.uniform(0, 4), 0.5, 0), (0.5, 0.5, 0.5), chance.random())
        return self.cover.put_object(chance.randint(1, 2), thing)

    def do_remove_object(self, chance):
        return self.cover.remove_object(chance.randint(1, 2))


class DecisionMapLife(Life):
    classes = (DecisionMap, InfluenceMap)

    def build(self):
        layers = [MapLayer("heat", blur_passes=2), MapLayer("threat", kept_per_m=0.8)]
        self.map = DecisionMap(MapArea(6, 5), layers, self.clock, period_s=0.25)

    def subjects(self):
        return {"map": self.map}

    def do_write(self, chance):
        self.map.write(chance.choice(["heat", "threat"]), [chance.randrange(30)], chance.choice([0.5, 3.0, 16.0]))

    def do_advance(self, chance):
        self.clock.advance()
        self.map.advance(steps(chance))
        return self.map.is_done, None if self.map.picture is None else [
            plain(self.map.picture[name]) for name in ("heat", "threat")]


class ProgressLife(Life):
    classes = (PathProgress,)

    def build(self):
        self.progress = PathProgress([(0, 0), (5, 0), (5, 5)])

    def subjects(self):
        return {"progress": self.progress}

    def do_walk(self, chance):
        self.progress.note((chance.uniform(0, 6), chance.uniform(-1, 5)))
        return self.progress.remaining_m, self.progress.has_arrived, self.progress.ahead(1.0).tolist()


class ExploringLife(Life):
    classes = (BumpAndTurn, ExploredMap)

    def build(self):
        passage = GRID.passage()
        self.explored = ExploredMap()
        self.look = neighbors_on_grid(passage)
        self.walker = BumpAndTurn(
            self.look, distance_on_grid(passage), GRID.cell(0, 0), GRID.cell(2, 6), explored=self.explored)

    def subjects(self):
        return {"walker": self.walker, "explored": self.explored}

    def do_step(self, chance):
        for _ in range(4):
            if self.walker.state not in ("arrived", "unreachable"):
                self.walker.step()
            self.explored.advance(Budget.unlimited())
            if self.walker.state != "asking":       # a question is not saved: it is asked again, and a step is lost
                break
        return self.walker.at, self.walker.state

    def do_advance(self, chance):
        self.explored.advance(steps(chance))
        return self.explored.is_done

    def do_report(self, chance):
        place = chance.choice(OPEN)
        self.explored.report(place, self.look(place))
        return [one for one in OPEN if self.explored.knows(one)]

    def do_forget(self, chance):
        self.explored.forget([chance.choice(OPEN)])


class AnytimeLife(Life):
    """Searches begin again after a load, from the best path: only ends are the same."""

    classes = (AnytimeSearch,)

    def build(self):
        self.search = AnytimeSearch(GRID.passage(), GRID.cell(0, 0), GRID.cell(2, 6))

    def subjects(self):
        return {"search": self.search}

    def save(self):
        return {**super().save(), "search": self.search.save_state()}

    def do_finish(self, chance):
        while not (self.search.is_done or self.search.is_cancelled):
            self.search.advance(steps(chance))
        return self.search.best and (self.search.best.state, self.search.best.cost, self.search.is_cancelled)

    def do_move(self, chance):
        self.do_finish(chance)
        if not self.search.is_cancelled and self.search.best is not None and len(self.search.best.cells) > 1:
            self.search.move_start(int(self.search.best.cells[1]))
        return self.do_finish(chance)

    def do_cancel(self, chance):
        if chance.random() < 0.2:
            self.search.cancel()


class PathServiceLife(Life):
    """Only what is found is compared: the ground is not prepared, so that the frames in which paths come may differ."""

    classes = (PathService,)

    def build(self):
        ways = GridPathProvider(GRID.passage(), partial=True)
        self.service = PathService(ways, self.clock, max_running=2, keep_frames=4, faults=self.faults)
        self.tickets = []

    def subjects(self):
        return {"service": self.service}

    def loaded(self):
        tickets = [ticket for _, ticket in self.service._requests.tickets()]
        self.tickets = [self.service.ticket(one.number) for one in tickets]

    def do_request(self, chance):
        if len(self.tickets) < 8:
            start, goal = chance.choice(OPEN), chance.choice(OPEN)
            self.tickets.append(self.service.request_path(
                start, goal, priority=chance.choice([0.5, 4]), tolerance=chance.choice([0, 2])))

    def do_cancel(self, chance):
        if self.tickets:
            self.service.cancel(chance.choice(self.tickets))

    def do_finish(self, chance):
        while not self.service.is_idle:
            self.service.advance(Budget.of_steps(50))
        found = [(one.number, one.state, None if one.path is None else (one.path.state, one.path.cost))
                 for one in self.tickets]
        self.tickets.clear()
        self.clock.advance(9)
        self.service.advance(Budget.of_steps(50))
        return found


LIVES = (ConflictLife, CoverLife, DecisionMapLife, ProgressLife, ExploringLife, AnytimeLife,
         PathServiceLife)
