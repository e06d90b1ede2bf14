"""Lives of senses."""
from __future__ import annotations

from ai_core.senses.graph.graph_sight import GraphSight
from ai_core.senses.graph.sense_graph import SenseGraph
from ai_core.senses.graph.sense_graph_manager import SenseGraphManager
from ai_core.senses.graph.smell import SmellSpreading
from ai_core.senses.modality import Modality
from ai_core.senses.percepts.awareness import AwarenessSettings
from ai_core.senses.percepts.memory import SenseMemory
from ai_core.senses.percepts.perception import Perception
from ai_core.senses.regional_sense_manager import RegionalSenseManager
from ai_core.senses.scent.scent_trails import ScentTrails, TrailSmelling
from ai_core.senses.sight.continuous_sensing import ContinuousSensing, QueryAges, RayTurns
from ai_core.senses.sight.sight_cones import SightCone
from ai_core.senses.stimuli.air import BackgroundNoise, Wind
from tests.saving.lives.life import Life, steps
from tests.senses.graph.graph_worlds import SIGHT, door, hearing, room, smell
from tests.senses.worlds import ALL_ROUND

SETTINGS = AwarenessSettings(gain_per_s=0.7, decay_per_s=0.3)
NAMES = "abc"


class SensesLife(Life):
    """Characters that see, hear and smell each other; each is a sensor and a source of the same name."""

    classes = (
        RegionalSenseManager, Perception, ContinuousSensing, QueryAges, RayTurns, BackgroundNoise, Wind, ScentTrails,
        TrailSmelling)
    names_whole_places = False      # errors of trails, graphs and doors name only the place inside them

    def make_manager(self):
        return RegionalSenseManager(
            self.clock, faults=self.faults, max_rays=2, scent_trails=ScentTrails(radius_m=4.0, spacing_m=0.5),
            modalities=(Modality.sight(still_share=0.5), hearing(delay_s_per_m=0.1), Modality.smell()),
            line_of_sight=lambda eyes, targets, sensors, sources: (sensors + sources) % 3 > 0)

    def build(self):
        self.manager = self.make_manager()
        for name in NAMES:
            place = (2.0 * (ord(name) - ord("a")), 0, 0)
            strengths = {"sight": 1, "hearing": 4, "smell": 2}
            source = self.manager.add_source(position=place, strengths=strengths, name=name)
            self.manager.add_sensor(
                position=place, forward=(1, 0, 0.25), name=name, self_source=source,
                thresholds={"sight": 0.3, "hearing": 0.1, "smell": 0.05},
                sight_cones=(SightCone(8.0, 2.0, 2.0), ALL_ROUND), awareness=SETTINGS,
                memory=SenseMemory(lose_after_s=0.3, max_age_s=1.0), on_sensed=self.note, on_gained=self.note,
                on_lost=self.note, on_forgotten=self.note, on_awareness_changed=self.note)
        self.loaded()

    def note(self, what):
        self.told.append(what)

    def loaded(self):
        self.sensors = {name: one for one, name in self.manager.sensor_names.items()}
        self.sources = {name: one for one, name in self.manager.source_names.items()}

    def subjects(self):
        return {"manager": self.manager}

    def source(self, chance):
        return self.sources[chance.choice(NAMES)]

    def sensor(self, chance):
        return self.sensors[chance.choice(NAMES)]

    def do_move(self, chance):
        self.manager.move_sources([self.source(chance)], [(chance.uniform(-1, 6), 0, chance.uniform(-1, 3))])
        forward = (1, 0, chance.uniform(-1, 1))
        self.manager.move_sensors([self.sensor(chance)], [(chance.uniform(-1, 6), 0, 0)], [forward])

    def do_emit(self, chance):
        self.manager.emit(self.source(chance), "hearing", chance.uniform(0.5, 4.0))

    def do_advance(self, chance):
        self.clock.advance()
        self.manager.advance(steps(chance, 9))
        return self.manager.statistics()

    def do_live_on(self, chance):
        for _ in range(4):
            self.clock.advance()
            self.manager.advance(steps(chance, 40))
        return [[(one.target, one.last_known_position) for one in self.manager.memory_of(sensor).known()]
                for sensor in self.sensors.values()]

    def do_rank(self, chance):
        self.manager.set_importance([self.sensor(chance)], [chance.choice([0.0, 0.5, 1.0])])
        self.manager.set_importance([self.sensor(chance)], [chance.random()], [self.source(chance)])

    def do_change(self, chance):
        self.manager.set_sensitivity(
            self.sensor(chance), "hearing", chance.choice([0.5, 1.0]), for_s=chance.choice([None, 0.2]))
        self.manager.light_sources([self.source(chance)], [chance.random()])

    def do_ask(self, chance):
        sensor = self.sensor(chance)
        return self.manager.sensed_by(sensor), self.manager.last_sensation(sensor), self.manager.track(sensor)


class GraphSensesLife(SensesLife):
    classes = (SenseGraphManager, SenseGraph, GraphSight, SmellSpreading)

    def make_manager(self):
        rooms = [room(str(k), (2.0 * k, 0, 0), dissipation={"smell": 0.01}) for k in range(4)]
        doors = [one for k in range(3) for one in door(
            str(k), str(k + 1), (2.0 * k + 1, 0, 0), "hearing", "smell", "sight", name=f"door {k}")]
        self.graph = SenseGraph(rooms, doors)
        return SenseGraphManager(
            self.clock, self.graph, smells=["smell"], gradual=["hearing"], smell_step_s=0.5, faults=self.faults,
            modalities=[SIGHT, hearing(0.95, 0.3), smell(0.2)])

    def subjects(self):
        return {"manager": self.manager, "graph": self.graph}

    def do_smell(self, chance):
        self.manager.emit(self.source(chance), "smell", 50.0)

    def do_open(self, chance):
        self.graph.set_open(f"door {chance.randrange(3)}", chance.random() < 0.6)

    def do_wind(self, chance):
        self.manager.set_wind((chance.uniform(-2, 2), 0, 0))
        self.graph.set_portal_wind(f"door {chance.randrange(3)}", chance.choice([None, 1.5]))

    def do_ask(self, chance):
        return self.manager.smell_in(str(chance.randrange(4)), self.source(chance))


LIVES = (SensesLife, GraphSensesLife)
