"""Pictures of concepts, drawn from runs of the library: ``python -m tools.pictures.plots FOLDER [NAME ...]``."""
from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ai_core import Budget, ManualClock
from ai_core.decisions import (
    PREVIOUS,
    AdaptiveChoice,
    Habit,
    HabitContext,
    HabitTree,
    History,
    Launch,
    Rule,
    RuleMind,
    RuleSet,
    SequencePrediction,
    State,
    StateMachine,
    StateMachineDefinition,
    Status,
    SuccessMemory,
    Transition,
)
from ai_core.events import Narrowcast, PollingStation
from ai_core.level_of_detail import Importance, ImportanceSettings, Viewer
from ai_core.maps import CoverBaking, CoverMap, CoverSearch, Grid, GridLineOfSight, candidates_from_grid
from ai_core.paths import (
    AnytimeSearch,
    AStarSearch,
    BumpAndTurn,
    FlowField,
    GridPathProvider,
    PathService,
    distance_on_grid,
    neighbors_on_grid,
)
from ai_core.plots import Drawing, Label, Line, Rect, curves, heat_map, timeline
from ai_core.plots.drawing import INK, OVERRAN, PALE, RAN, WHITE, mixed
from ai_core.plots.heat_map import GROUND
from ai_core.recording import read_recording
from ai_core.scheduling import PhaseSlot, Timeslicer, Timing, rephased
from ai_core.senses import (
    AwarenessLevel,
    AwarenessSettings,
    Box,
    Modality,
    Passage,
    RegionalSenseManager,
    SenseGraph,
    SenseGraphManager,
    SensePortal,
    SenseRegion,
    SightCone,
)
from ai_core.snapshot import from_json, restore, take, to_json
from ai_core.squads import Formation, GridClearance, Squad
from demo_project.scenarios.skirmish import Skirmish
from tools.scenario_recordings import lines_of
from tools.skirmish_pictures import battle_map

_LEVEL = (
    "................................",
    "................................",
    "..######.#########..............",
    "..#..............#..............",
    "..#..............#......####....",
    "..#..............#......####....",
    "..#..............#......####....",
    "..#.......########......####....",
    "..#.......#.............####....",
    "..#.......#.....................",
    "..####.####.....................",
    "................................",
    "......................####......",
    "..###.................####......",
    "..###...........................",
    "................................",
    "................................",
)


def free_cells() -> NDArray[np.bool_]:
    """Return the ground that several pictures share: True where a cell is free."""
    return np.array([[letter == "." for letter in row] for row in _LEVEL])


def joined(drawings: Sequence[Drawing], title: str, *, is_stacked: bool = False) -> Drawing:
    """Return drawings in one row, or in one column."""
    whole = Drawing(0, 0, title)
    for one in drawings:
        x, y = (0, whole.height) if is_stacked else (whole.width, 0)
        whole.boxes += [box._replace(x=box.x + x, y=box.y + y) for box in one.boxes]
        whole.dots += [dot._replace(x=dot.x + x, y=dot.y + y) for dot in one.dots]
        whole.texts += [words._replace(x=words.x + x, y=words.y + y) for words in one.texts]
        whole.lines += [line._replace(points=[(a + x, b + y) for a, b in line.points]) for line in one.lines]
        whole.width, whole.height = max(whole.width, x + one.width), max(whole.height, y + one.height)
    whole.boxes.insert(0, Rect(0, 0, whole.width, whole.height, WHITE))
    return whole


def scheduling_timeline() -> Drawing:
    """Six guards and their senses on a budget of steps: which ran in which frame."""
    return timeline(read_recording(lines_of("guards", frames=80)))


def phases() -> Drawing:
    """The load of 40 frames with all phases 0, and with phases chosen together."""
    slots = [PhaseSlot(period, 0) for period in (2, 4, 4, 5, 5, 8, 8, 10, 10, 10, 20, 20)]
    frames, bar_px, run_px, base = 40, 15, 8, 130
    panels = []
    for text, chosen in (("every phase 0", [0] * len(slots)), ("phases chosen", rephased(slots))):
        load = [
            sum((frame + phase) % slot.period_frames == 0 for slot, phase in zip(slots, chosen, strict=True))
            for frame in range(frames)]
        panel = Drawing(frames * bar_px + 60, base + 30, text)
        panel.texts.append(Label(30, 16, f"{text}: at most {max(load)} of {len(slots)} tasks in a frame"))
        panel.texts += [Label(30 + 100 * n, base + 12, f"frame {n * 100 // bar_px}", PALE) for n in range(0, 6, 3)]
        for frame, runs in enumerate(load):
            colour = OVERRAN if runs == max(load) and max(load) > 4 else RAN
            panel.boxes.append(
                Rect(30 + frame * bar_px, base - runs * run_px, bar_px - 2, runs * run_px, colour,
                    f"frame {frame}: {runs} tasks"))
        panel.lines.append(Line([(30, base), (30 + frames * bar_px, base)], PALE, 1))
        panels.append(panel)
    return joined(panels, "load of frames with and without phases", is_stacked=True)


def sight_cone() -> Drawing:
    """How strongly a guard would see a thief in each cell: cone, walls, and a lamp in the dark."""
    free = free_cells()
    rows, columns = free.shape
    blocked = GridLineOfSight(~free)
    guard, lamp = (14, 12), (4, 22)

    def line_of_sight(eyes, targets, sensor_ids, source_ids):
        return ~blocked(np.hstack((eyes, targets)))

    senses = RegionalSenseManager(
        ManualClock(), modalities=[Modality.sight(kept_per_m=0.95)], line_of_sight=line_of_sight,
        max_rays=rows * columns)
    intensity = np.zeros(free.shape)
    places = [(row, column) for row in range(rows) for column in range(columns) if free[row, column]]
    senses.add_sensor(
        position=(guard[1], 0, guard[0]), forward=(0.75, 0, -0.66), thresholds={"sight": 0.01},
        sight_cones=[SightCone(26.0, 1.6, 1.5), SightCone.close_by(2.5)],
        on_sensed=lambda sensed: intensity.__setitem__(places[sensed.source_id], sensed.intensity))
    sources = [senses.add_source(position=(column, 0, row), strengths={"sight": 1.0}) for row, column in places]
    light = [0.25 + 0.75 * np.exp(-((row - lamp[0]) ** 2 + (column - lamp[1]) ** 2) / 30) for row, column in places]
    senses.light_sources(sources, light)
    senses.advance(Budget.unlimited())
    return heat_map(
        intensity, closed=~free, cell_px=16, title="how visible a thief is to the guard, in each cell",
        unit="intensity", marks={"guard": guard, "lamp": lamp})


def sound_through_doors() -> Drawing:
    """How loud a sound is in each cell of three rooms, with the door open and closed."""
    size = (12, 27)
    rooms = [("hall", 0, 9), ("corridor", 9, 18), ("office", 18, 27)]
    panels = []
    for is_open in (True, False):
        regions = [SenseRegion(name, Box((low, 0, 0), (high, 3, 12))) for name, low, high in rooms]
        portals = [
            SensePortal(a, b, {"hearing": Passage((x, 1, z), closed_kept_per_m=0.1, distance_m=1.0)}, name=name)
            for a, b, x, z, name in (("hall", "corridor", 9, 6, "arch"), ("corridor", "office", 18, 9, "door"))]
        graph = SenseGraph(regions, [one for portal in portals for one in (portal, portal.back())])
        graph.set_open("door", is_open)
        clock = ManualClock()
        senses = SenseGraphManager(clock, graph, modalities=[Modality.hearing(kept_per_m=0.9)])
        loud = np.zeros(size)
        for row in range(size[0]):
            for column in range(size[1]):
                senses.add_sensor(
                    position=(column + 0.5, 1, row + 0.5), forward=(1, 0, 0), thresholds={"hearing": 0.01},
                    on_sensed=lambda sensed, loud=loud, place=(row, column): loud.__setitem__(
                        place, sensed.intensity))
        thief = senses.add_source(position=(3.5, 1, 3.5), strengths={"hearing": 1.0})
        senses.emit(thief, "hearing")
        for _ in range(60):
            clock.advance()
            senses.advance(Budget.unlimited())
        drawing = heat_map(
            loud, cell_px=14, most=1.0, title=f"a sound, the door {'open' if is_open else 'closed'}", unit="intensity",
            marks={"thief": (3, 3), "arch": (5.5, 8.5), "door": (8.5, 17.5)})
        for x, gap in ((9, 6), (18, 9)):
            drawing.lines += [
                Line([(12 + x * 14, 34 + a * 14), (12 + x * 14, 34 + b * 14)], INK, 3)
                for a, b in ((0, gap - 0.7), (gap + 0.7, 12))]
        panels.append(drawing)
    return joined(panels, "a sound through rooms")


def awareness() -> Drawing:
    """The awareness of a guard while a thief makes a noise, comes into view, and hides."""
    clock = ManualClock(seconds_per_frame=0.05)
    settings = AwarenessSettings(levels=[
        AwarenessLevel("suspicious", 0.3, 0.2), AwarenessLevel("alert", 0.8, 0.5, reaction_s=0.3)])
    levels: list[tuple[str, float]] = []
    senses = RegionalSenseManager(clock, modalities=[Modality.sight(kept_per_m=0.95), Modality.hearing(kept_per_m=0.9)])
    guard = senses.add_sensor(
        position=(0, 0, 0), forward=(0, 0, -1), thresholds={"sight": 0.05, "hearing": 0.05},
        sight_cones=[SightCone(15.0, 1.5, 1.5)], awareness=settings,
        on_awareness_changed=lambda change: levels.append((change.name or "calm", change.at_s)))
    thief = senses.add_source(position=(6, 0, 4), strengths={"sight": 1.0, "hearing": 1.5})
    seconds, meter = [], []
    for frame in range(281):
        now_s = clock.now.seconds
        if frame == 20:
            senses.emit(thief, "hearing")
        if now_s >= 3.0:
            behind = now_s >= 7.0
            senses.move_sources([thief], np.array([(6, 0, 6) if behind else (4.5 - now_s, 0, -8)], np.float32))
        senses.advance(Budget.unlimited())
        known = senses.awareness_of(guard, thief)
        seconds.append(now_s)
        meter.append(0.0 if known is None else known.value)
        clock.advance()
    moments = {"noise": 1.0, "in view": 3.0, "hidden": 7.0}
    reached = ", ".join(f"{name} at {at_s:.1f} s" for name, at_s in levels)
    return curves(
        seconds, {"awareness": meter}, title=f"awareness of one guard of one thief: {reached}", x_label="time (s)",
        levels={"suspicious": 0.3, "alert": 0.8}, moments=moments)


def shared_request() -> Drawing:
    """Thirty guards that ask for one path: one search, and the cells it took."""
    grid = Grid(free_cells())
    ground, clock = grid.passage(), ManualClock()
    service = PathService(GridPathProvider(ground), clock)
    start, goal = (15, 30), (5, 5)
    tickets = [service.request_path(grid.cell(*start), grid.cell(*goal)) for _ in range(30)]
    while not service.is_idle:
        service.advance(Budget.of_steps(50))
        clock.advance()
    cells = [grid.place(int(cell)) for cell in service.check_path(tickets[0]).cells]
    searches = service.statistics()["searches"]
    return heat_map(
        np.zeros(free_cells().shape), closed=~free_cells(), cell_px=16,
        title=f"{len(tickets)} requests for one path: {searches} search", paths={"": cells},
        marks={"30 guards": start, "goal": goal})


def flow_field() -> Drawing:
    """The cost to the goal from each cell, and the ways of six movers along the field."""
    free = free_cells()
    grid = Grid(free)
    goal = (5, 5)
    field = FlowField(grid.passage(), grid.cell(*goal))
    field.advance(Budget.unlimited())
    rows, columns = free.shape
    cells = [grid.cell(row, column) for row in range(rows) for column in range(columns)]
    costs = np.asarray(field.costs_of(cells)).reshape(free.shape)
    paths = {}
    for number, start in enumerate([(0, 31), (16, 0), (16, 31), (8, 20), (0, 12), (13, 14)]):
        way = [grid.cell(*start)]
        while way[-1] != grid.cell(*goal):
            way.append(int(field.next_of([way[-1]])[0]))
        paths[" " * number] = [grid.place(cell) for cell in way]
    return heat_map(
        costs, closed=~free, cell_px=16, unit="cost", paths=paths, marks={"goal": goal},
        title="one flow field for all movers: cost to the goal, six movers")


def path_costs() -> Drawing:
    """A path around a swamp, whose cells cost four times as much, and one straight through for a mover that hovers."""
    free = free_cells()
    costs = np.where(free, 1.0, np.inf)
    costs[10:17, 8:18] = np.where(free[10:17, 8:18], 4.0, np.inf)
    start, goal = (15, 2), (11, 20)
    paths = {}
    for name, cells in (("wheels", costs), ("hover", np.where(free, 1.0, np.inf))):
        grid = Grid(cells)
        search = AStarSearch(grid.passage(), grid.cell(*start), grid.cell(*goal))
        search.advance(Budget.unlimited())
        paths[name] = [grid.place(int(cell)) for cell in search.result.cells]
    return heat_map(
        np.where(np.isfinite(costs), costs - 1, 0), most=9.0, closed=~free, cell_px=16, paths=paths, unit="extra cost",
        title="the cheapest path depends on the mover", marks={"start": start})


def cover() -> Drawing:
    """Spots of cover, by how much they protect from two enemies, and the one that is chosen."""
    free = free_cells()
    grid = Grid(free)
    rows, columns = free.shape
    heights = np.where(free, 0.0, np.inf)
    heights[12:14, 22:26] = 1.2
    sight = GridLineOfSight(heights.tolist())
    middles = [(column, 0.0, row) for row in range(rows) for column in range(columns)]
    baking = CoverBaking(candidates_from_grid(grid.passage(), middles), sight)
    while not baking.is_done:
        baking.advance(Budget.unlimited())
    spots = CoverMap()
    spots.add(baking.result)
    soldier, enemies = (9, 19), [(1, 20), (6, 30)]
    search = CoverSearch(spots, (soldier[1], 0, soldier[0]), [(column, 1.6, row) for row, column in enemies], sight)
    search.advance(Budget.unlimited())
    shown = np.zeros(free.shape)
    for one in search.evaluations:
        column, _, row = one.spot.place
        shown[round(row), round(column)] = max(0.04, one.protection)
    column, _, row = search.result.spot.place
    return heat_map(
        shown, closed=~free, cell_px=16, title="protection of the cover in reach from two enemies", most=1.0,
        marks={"soldier": soldier, "enemy": enemies[0], "enemy ": enemies[1], "chosen": (row, column)})


def decision_layers() -> Drawing:
    """Three layers of one side's maps after a minute of the skirmish."""
    game = Skirmish(3, units=60)
    while not game.is_over and game.clock.now.seconds < 60.0:
        game.step(Budget.unlimited())
    picture = game.sides[0].maps.picture
    layers = {
        "friends": picture["friends"], "threat": picture["threat"],
        "seconds since a cell was seen": np.minimum(picture["exploration"], 60.0)}
    return joined(
        [battle_map(game, np.asarray(values, np.float64), name, "", cell_px=7)
         for name, values in layers.items()],
        "layers of a decision map")


def formation_through_a_door() -> Drawing:
    """The tracks of five members of a squad through a door: wedge, column, wedge."""
    free = np.ones((40, 60), bool)
    free[:, 30] = False
    free[19:21, 30] = True
    clock = ManualClock(seconds_per_frame=1 / 30)
    squad = Squad("Alpha", clock, formation=Formation.wedge(spacing_m=2.0), clearance=GridClearance(free))
    for number in range(5):
        squad.add(number, position=(5 + number, 18), speed=3.0, radius_m=0.4)
    order = squad.follow([(9, 20), (50, 20)])
    tracks: list[list[tuple[float, float]]] = [[] for _ in range(5)]
    while not order.is_done:
        if clock.now.frame % 10 == 0:
            squad.think()
        squad.move_slots(elapsed_s=1 / 30)
        squad.set_positions(squad.positions + squad.velocities() / 30)
        clock.advance()
        for track, (x, y) in zip(tracks, squad.positions.tolist(), strict=True):
            track.append((y - 10.5, x - 0.5))
    paths = {f"{number}": track[::6] for number, track in enumerate(tracks)}
    return heat_map(
        np.zeros((19, 60)), closed=~free[10:29], cell_px=14, paths=paths,
        title=f"a wedge of five goes through a door as a column, {clock.now.seconds:.0f} s")


def importance() -> Drawing:
    """The importance of characters in each cell to one camera."""
    shape = (26, 44)
    everyone = Importance(ImportanceSettings(near_m=2, far_m=26, smoothing_s=0.0))
    everyone.add(shape[0] * shape[1], role=0.0)
    row, column = np.indices(shape)
    positions = np.stack([column.ravel(), np.zeros(row.size), row.ravel()], axis=1).astype(np.float32)
    camera = Viewer((8.0, 2.0, 13.0), forward=(1.0, 0.0, 0.0), field_of_view_rad=1.2)
    values = everyone.update([camera], positions, elapsed_s=1 / 60).reshape(shape)
    counts = [int(((values >= low) & (values < high)).sum()) for low, high in ((0.45, 2.0), (0.3, 0.45), (0.0, 0.3))]
    share = sum(count / period for count, period in zip(counts, (1, 6, 30), strict=True)) / values.size
    return heat_map(
        values, cell_px=13, marks={"camera": (13, 8)}, most=0.8, unit="importance",
        title=f"periods of 1, 6 and 30 frames above 0.45, above 0.3 and below: {share:.0%} of the work")


def activity(
    rows: Sequence[str], active: Sequence[set[str]], moments: dict[int, str], title: str, tick_s: float
) -> Drawing:
    """Return a drawing of which rows were active in each tick.

    Args:
        rows: names as paths, "guard/fight"; the last part is shown, indented by its depth.
        active: for each tick the active rows.
        moments: by number of tick, what happened before it.
        title: text above.
        tick_s: length of a tick (s).
    """
    left, top, row_px, tick_px = 130, 46, 18, 9
    drawing = Drawing(left + len(active) * tick_px + 20, top + len(rows) * row_px + 34, title)
    drawing.boxes.append(Rect(0, 0, drawing.width, drawing.height, WHITE))
    drawing.texts.append(Label(12, 14, title))
    bottom = top + len(rows) * row_px
    for number, row in enumerate(rows):
        y = top + number * row_px
        drawing.texts.append(Label(12 + 14 * row.count("/"), y + row_px / 2, row.rpartition("/")[2]))
        drawing.boxes.append(Rect(left, y + 1, len(active) * tick_px, row_px - 2, GROUND))
        is_inner = any(other.startswith(row + "/") for other in rows)
        drawing.boxes += [
            Rect(left + tick * tick_px, y + 1, tick_px, row_px - 2, mixed(GROUND, RAN, 0.4) if is_inner else RAN)
            for tick, names in enumerate(active) if row in names]
    for tick, name in moments.items():
        x = left + tick * tick_px
        drawing.lines.append(Line([(x, top - 6), (x, bottom)], OVERRAN, 1.5))
        drawing.texts.append(Label(x + 2, top - 12, name, OVERRAN))
    for tick in range(0, len(active) + 1, round(1 / tick_s)):
        drawing.texts.append(Label(left + tick * tick_px, bottom + 14, f"{tick * tick_s:g} s", PALE, "middle"))
    return drawing


def with_parents(paths: Sequence[str]) -> set[str]:
    """Return paths and all the paths above them."""
    return {"/".join(path.split("/")[: depth + 1]) for path in paths for depth in range(path.count("/") + 1)}


def habit_tree() -> Drawing:
    """Which habits of a guard are active while it is shot at and while an enemy is near."""
    def dodge(context: HabitContext) -> Status:
        return Status.SUCCEEDED if context.time_in_habit_s >= 0.4 else Status.RUNNING

    def swing(context: HabitContext):
        context.hold()
        yield 0.5
        context.release()
        yield 0.3

    guard = Habit("guard", [
        Habit("dodge", begins_on=("shot at",), remembers_s=1.0, tick=dodge),
        Habit("melee", can_activate=lambda context: context.blackboard.get("near"), wakes_on=("near",), tick=swing),
        Habit("attack", [
            Habit("aim", tick=lambda context: Status.SUCCEEDED if context.time_in_habit_s > 0.3 else Status.RUNNING),
            Habit("shoot", tick=lambda context: Status.SUCCEEDED if context.time_in_habit_s > 0.1 else Status.RUNNING),
        ], Launch.SEQUENTIAL),
    ])
    bob = HabitTree(guard, name="bob")
    moments = {12: "shot at", 29: "near", 33: "shot at", 48: "gone"}
    active = []
    for tick in range(64):
        if moments.get(tick) == "shot at":
            bob.notify("shot at")
        elif tick in moments:
            bob.blackboard["near"] = moments[tick] == "near"
        bob.tick(0.1)
        active.append(with_parents(bob.active_paths()))
    rows = ["guard", "guard/dodge", "guard/melee", "guard/attack", "guard/attack/aim", "guard/attack/shoot"]
    return activity(rows, active, moments, "a habit tree: a swing holds for 0.5 s, then the dodge interrupts it", 0.1)


def state_machine() -> Drawing:
    """The active states of a guard while events arrive; calm returns to the state before."""
    definition = StateMachineDefinition(
        "guard",
        [State("peace", [State("idle"), State("patrol")]), State("hostile", [State("alert"), State("combat")]),
         State("stunned")],
        [Transition("bored", "peace/idle", "peace/patrol"), Transition("noise", "peace", "hostile"),
         Transition("see", "hostile", "hostile/combat"), Transition("calm", "hostile", "peace", history=History.DEEP),
         Transition("hit", None, "stunned"), Transition(None, "stunned", PREVIOUS, after_s=1.0)])
    machine = StateMachine(definition, name="bob")
    machine.start()
    moments = {10: "bored", 20: "noise", 28: "see", 37: "hit", 54: "calm"}
    active = []
    for tick in range(64):
        if tick in moments:
            machine.send(moments[tick])
        machine.update(0.1)
        active.append(with_parents([machine.state or ""]))
    rows = ["peace", "peace/idle", "peace/patrol", "hostile", "hostile/alert", "hostile/combat", "stunned"]
    return activity(rows, active, moments, "a state machine: stunned returns to combat, calm returns to patrol", 0.1)


def rules() -> Drawing:
    """Two soldiers with the same wounds and one set of rules: which rule fires, by fear and courage."""
    soldier = RuleSet(
        [Rule("fear", "hurt and not covered", concludes="afraid"),
         Rule("flee", "afraid > courage", lambda mind: "flee", salience=2, repeats=True),
         Rule("attack", "near", lambda mind: "attack", repeats=True)],
        facts={"hurt": 0.0, "covered": 0.0, "near": 1.0}, parameters={"courage": 0.5})
    courages = {"timid": 0.25, "brave": 0.7}
    minds = {name: RuleMind(soldier, parameters={"courage": courage}) for name, courage in courages.items()}
    moments = {10: (0.4, 0.0, "hit"), 26: (0.9, 0.0, "hit"), 40: (0.9, 0.8, "in cover")}
    hurt, covered, afraid, active = 0.0, 0.0, [], []
    for tick in range(56):
        hurt, covered, _ = moments.get(tick, (hurt, covered, ""))
        fired = set()
        for name, mind in minds.items():
            mind.set("hurt", hurt)
            mind.set("covered", covered)
            fired |= {name, f"{name}/{mind.think(most=1)[0].result}"}
        afraid.append(minds["brave"].grade("afraid"))
        active.append(fired)
    names = {tick: text for tick, (_, _, text) in moments.items()}
    grade = curves(
        np.arange(len(afraid)) / 10, {"afraid": afraid}, title="the grade of the fact afraid: hurt and not covered",
        y_label="grade", levels={f"courage, {name}": courage for name, courage in courages.items()}, width=654)
    rows = [row for name in courages for row in (name, f"{name}/flee", f"{name}/attack")]
    return joined([grade, activity(rows, active, names, "the rule that fires", 0.1)],
        "two soldiers with one set of rules", is_stacked=True)


def adaptation() -> Drawing:
    """What a fighter expects of three tactics while its opponent changes from high to low moves."""
    moves = SequencePrediction(["high", "low"], longest=2, half_life=20)
    fighter = AdaptiveChoice(
        SuccessMemory(["rush", "block", "jump"], {}, defaults={"rush": 0.25}, half_life=10), random.Random(3),
        prediction=moves, answers={"block": {"high": 1.0, "low": -1.0}, "jump": {"low": 1.0, "high": -1.0}})
    beats = {("block", "high"), ("jump", "low")}
    series: dict[str, list[float]] = {name: [] for name in ("rush", "block", "jump")}
    for attack in range(120):
        move = "high" if attack < 60 else "low"
        tactic = fighter.choose().tactic
        fighter.note(1.0 if (tactic, move) in beats else -1.0)
        fighter.saw(move)
        for name, value in fighter.values().items():
            series[name].append(value)
    return curves(
        np.arange(120), series, title="value of each tactic, from the outcomes and the predicted move",
        x_label="attacks", y_label="value", moments={"low moves": 60})


def saving() -> Drawing:
    """The awareness of a guard in a run, and in a second world that is loaded from a save of the first."""
    def world() -> tuple[ManualClock, RegionalSenseManager, int]:
        clock = ManualClock(seconds_per_frame=1 / 20)
        senses = RegionalSenseManager(clock, modalities=[Modality.sight(kept_per_m=0.95)])
        senses.add_sensor(
            position=(0, 0, 0), forward=(0, 0, -1), thresholds={"sight": 0.05}, name="guard",
            sight_cones=[SightCone(15.0, 1.5, 1.5)],
            awareness=AwarenessSettings(gain_per_s=0.5, levels=[AwarenessLevel("alert", 0.8, 0.5)]))
        return clock, senses, senses.add_source(position=(2, 0, -8), strengths={"sight": 1.0}, name="thief")

    def live(clock: ManualClock, senses: RegionalSenseManager, thief: int, seen: list[float], frames: range) -> None:
        for frame in frames:
            z = -8.0 if frame < 40 or frame > 100 else 8.0
            senses.move_sources([thief], np.array([(2.0, 0.0, z)], np.float32))
            senses.advance(Budget.unlimited())
            clock.advance()
            seen.append(senses.awareness_of(0, thief).value)

    clock, senses, thief = world()
    whole: list[float] = []
    live(clock, senses, thief, whole, range(70))
    saved = to_json(take({"clock": clock, "senses": senses}))
    live(clock, senses, thief, whole, range(70, 140))
    other_clock, other_senses, other_thief = world()
    restore(from_json(saved), {"clock": other_clock, "senses": other_senses})
    loaded = [float("nan")] * 70
    live(other_clock, other_senses, other_thief, loaded, range(70, 140))
    seconds = np.arange(140) / 20
    is_equal = whole[70:] == loaded[70:]
    return joined([
        curves(seconds, {"awareness": whole}, title="a run", moments={"save": 3.5}, height=190),
        curves(seconds, {"awareness": loaded}, moments={"load": 3.5}, x_label="time (s)", height=190,
            title=f"a second world, loaded from the save: {'equal to the last bit' if is_equal else 'different'}"),
    ], "a run continues from a save", is_stacked=True)


def anytime() -> Drawing:
    """The cost of the best path that an anytime search has found, after each number of steps."""
    generator = random.Random(0)
    is_open = np.array([[generator.random() > 0.35 for _ in range(120)] for _ in range(120)])
    is_open[[1, 118], [2, 117]] = True
    grid = Grid(is_open)
    search = AnytimeSearch(grid.passage(), grid.cell(1, 2), grid.cell(118, 117))
    steps, costs, bounds = [], [], []
    while not search.is_done:
        search.advance(Budget.of_steps(100))
        steps.append(100 * (len(steps) + 1))
        costs.append(search.best.cost if search.best is not None else float("nan"))
        bounds.append(costs[-1] / search.bound)
    return curves(
        steps, {"best path": costs, "lower bound": bounds}, x_label="steps", y_label="cost",
        title="an anytime search: a path early, then cheaper ones until the cheapest is proved")


def events() -> Drawing:
    """Which members of a side receive an event that the red squad sends with each reach."""
    reaches = ("own", "down", "up", "all")
    army = Narrowcast(ManualClock())
    side = army.add_group("side")
    groups = {"side": side, "red": army.add_group("red", under=side), "blue": army.add_group("blue", under=side),
        "rear": army.add_group("rear", under=side)}
    groups["scouts"] = army.add_group("scouts", under=groups["red"])
    members = {"general": "side", "ann": "red", "bob": "red", "cleo": "scouts", "dan": "blue", "eve": "rear"}
    received = set()
    for name, group in members.items():
        army.add_member(name, groups[group]).listen("*", lambda event, name=name: received.add((name, event.code)))
    for reach in reaches:
        groups["red"].send(reach, reach=reach)
    army.advance(Budget.unlimited())
    left, top, row_px, cell_px = 190, 56, 24, 84
    drawing = Drawing(left + len(reaches) * cell_px + 20, top + len(members) * row_px + 16, "reach of an event")
    drawing.boxes.append(Rect(0, 0, drawing.width, drawing.height, WHITE))
    drawing.texts.append(Label(12, 14, "events that the squad red sends, by reach: which members receive them"))
    drawing.texts += [
        Label(left + n * cell_px + cell_px / 2, top - 12, reach, INK, "middle") for n, reach in enumerate(reaches)]
    places = {"side": "side", "red": "side / red", "scouts": "side / red / scouts", "blue": "side / blue",
        "rear": "side / rear"}
    for number, (name, group) in enumerate(members.items()):
        y = top + number * row_px
        drawing.texts += [Label(12, y + row_px / 2, name), Label(70, y + row_px / 2, places[group], PALE)]
        drawing.boxes += [
            Rect(left + n * cell_px + 2, y + 2, cell_px - 4, row_px - 4, RAN if (name, reach) in received else GROUND,
                f"{name}: {reach}")
            for n, reach in enumerate(reaches)]
    return drawing


def polling() -> Drawing:
    """Queries of thirty guards, each asked by two scripts, and the computations of a station with a budget."""
    clock = ManualClock()
    station = PollingStation(clock)
    computed: list[int] = []

    def sees(guard: int) -> bool:
        computed[-1] += 1
        return guard % 3 == 0

    station.add_topic("sees", sees, lifetime_s=0.25, fallback=False)
    queries = []
    for _ in range(60):
        computed.append(0)
        station.begin_frame(Budget.of_steps(5))
        for guard in range(30):
            station.poll("sees", guard)
            station.poll("sees", guard)
        queries.append(60)
        clock.advance()
    return curves(
        np.arange(60), {"queries": queries, "computed": computed}, x_label="frames",
        title=f"{sum(computed)} of {sum(queries)} queries computed: lifetime 0.25 s, at most 5 answers a frame")


def timeslicing() -> Drawing:
    """The age of each result under the four timings: ten jobs, one in each update."""
    panels = []
    for timing in (Timing.AIAO, Timing.SIAO, Timing.SISO, Timing.AISO):
        clock = ManualClock()
        slicer = Timeslicer(clock, lambda key, seen: key, inputs=lambda key: 0, timing=timing, jobs_per_update=1)
        for key in range(10):
            slicer.add(key)
        ages = []
        for _ in range(50):
            slicer.advance(Budget.unlimited())
            clock.advance()
            ages.append([slicer.age_updates(key) for key in range(10)])
        shown = np.array(ages[20:], dtype=float).T
        panels.append(heat_map(
            shown, cell_px=9, most=20, unit="updates",
            title=f"{timing.name}: {shown.min():.0f} to {shown.max():.0f} updates old"))
    return joined(
        [joined(panels[:2], ""), joined(panels[2:], "")], "age of ten results over thirty updates, a row each",
        is_stacked=True)


def bump_and_turn() -> Drawing:
    """The tracks of a mover without a memory and of one with it, behind a wall."""
    free = free_cells()
    grid = Grid(free)
    look, apart = neighbors_on_grid(grid.passage()), distance_on_grid(grid.passage())
    start, goal = (8, 4), (9, 21)
    paths = {}
    for name, remembers in (("stuck", False), ("", True)):
        walker = BumpAndTurn(look, apart, grid.cell(*start), grid.cell(*goal), remembers=remembers)
        track = [start]
        for _ in range(600):
            if walker.state != "going":
                break
            track.append(grid.place(int(walker.step())))
        paths[name] = track
    return heat_map(
        np.zeros(free.shape), closed=~free, cell_px=16, paths=paths, marks={"start": start, "goal": goal},
        title="bump and turn: without a memory stuck behind the wall, with one it arrives")


PICTURES: dict[str, Callable[[], Drawing]] = {
    "timeline": scheduling_timeline,
    "phases": phases,
    "sight_cone": sight_cone,
    "sound_through_doors": sound_through_doors,
    "awareness": awareness,
    "shared_request": shared_request,
    "flow_field": flow_field,
    "path_costs": path_costs,
    "cover_spots": cover,
    "decision_layers": decision_layers,
    "formation_door": formation_through_a_door,
    "importance": importance,
    "habit_tree": habit_tree,
    "state_machine": state_machine,
    "rules": rules,
    "adaptation": adaptation,
    "saving": saving,
    "anytime": anytime,
    "events": events,
    "polling": polling,
    "timeslicing": timeslicing,
    "bump_and_turn": bump_and_turn,
}
"""By name of the file."""


def main(folder: Path, names: Sequence[str]) -> None:
    """Draw some pictures, or all, as FOLDER/NAME.svg."""
    for name in names or PICTURES:
        file = folder / f"{name}.svg"
        file.write_text(PICTURES[name]().svg(), encoding="utf-8")
        print(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
