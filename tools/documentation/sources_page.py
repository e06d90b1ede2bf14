"""The page of the sources: where each system of the five sources stands.

``python -m tools.documentation.sources_page FILE`` finds file, tests, nodes and scenes in the code; only the names of
the systems and of their classes are listed here.
"""
from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

SOURCES = {
    "000": "Execution management: schedulers, phases, interruptible work, level of detail",
    "001": "Interfacing with the world: polling, events, senses",
    "002": "Timeslicing of batches",
    "003": "Designing AI for games: decisions, perception, navigation, tactics, strategy, threads",
    "004": "Habits, a hierarchical state machine",
}


class System(NamedTuple):
    """A system of a source, and the names of the library that are it, as "package.Name" or
    "package.Name.method"."""

    source: str
    name: str
    names: tuple[str, ...]


def _systems(source: str, **names: str) -> list[System]:
    return [System(source, name.replace("_", " "), tuple(listed.split())) for name, listed in names.items()]


SYSTEMS = [
    *_systems(
        "000",
        frequency_scheduler_with_phases="scheduling.Scheduler scheduling.Policy",
        direct_access_scheduler="scheduling.Scheduler",
        phase_quality="scheduling.phase_quality",
        automatic_phasing="scheduling.PhaseTable scheduling.rephased",
        method_of_Wright_and_Marshall="scheduling.DryRun",
        single_task_spikes="scheduling.Interruptible scheduling.Suspendable",
        interruptible_processes="scheduling.Interruptible scheduling.BackgroundJob",
        threads_and_micro_threads="scheduling.ThreadedWork scheduling.Suspendable",
        quality_of_service="scheduling.QualityOfService scheduling.statistics_table",
        load_balancing_scheduler="scheduling.Policy",
        hierarchical_scheduling="scheduling.Scheduler scheduling.tree_statistics",
        priority_scheduling="scheduling.Policy scheduling.MAX_PRIORITY",
        other_policies="scheduling.Scheduler scheduling.BudgetMargin",
        anytime_algorithms="scheduling.Anytime scheduling.UntilGoodEnough",
        significance="level_of_detail.Importance level_of_detail.Viewer",
        scheduling_level_of_detail="level_of_detail.SchedulingLOD level_of_detail.RateBand",
        behavioral_level_of_detail="level_of_detail.BehavioralLOD level_of_detail.LODBehavior",
        compression_and_hysteresis="level_of_detail.BehavioralLOD level_of_detail.LevelLimits",
        group_level_of_detail="level_of_detail.GroupLOD",
        groups_as_distributions="level_of_detail.Population level_of_detail.Community",
    ),
    *_systems(
        "001",
        polling="events.PollingStation events.Answer",
        polling_stations="events.PollingStation",
        event_managers="events.EventManager events.Event",
        broadcasting_and_narrowcasting="events.Narrowcast events.Group",
        communication_between_agents="events.SquadRadio",
        sense_modalities="senses.Modality",
        sight_cone_and_line_of_sight="senses.SightCone maps.GridLineOfSight",
        brightness_and_differentiation="senses.Camouflage senses.Backdrop",
        hearing="senses.Materials senses.RegionalSenseManager",
        touch="senses.RegionalSenseManager.touch",
        smell="senses.ScentTrails senses.SenseGraphManager.smell_in",
        fantasy_modalities="senses.Modality",
        regional_sense_manager="senses.RegionalSenseManager",
        finite_element_model_sense_manager="senses.SenseGraph",
        content_creation_for_sense_graphs="senses.SenseGraphBaking",
    ),
    *_systems("002", batched_timeslicing="scheduling.Timeslicer", four_timings="scheduling.Timing",
              timeslicing_with_threads="scheduling.Timeslicer"),
    *_systems(
        "003",
        rule_systems="decisions.RuleSet decisions.RuleMind",
        finite_state_machines="decisions.StateMachine decisions.StateMachineDefinition",
        adaptive_AI="decisions.AdaptiveChoice decisions.SuccessMemory",
        prediction="decisions.SequencePrediction",
        sight_and_hearing="senses.RegionalSenseManager",
        temporary_objects="senses.RegionalSenseManager.add_source",
        cover="maps.CoverMap maps.CoverSearch maps.CoverBaking",
        bump_and_turn="paths.BumpAndTurn",
        path_finding="paths.AStarSearch paths.PathService",
        movement_of_groups="squads.Squad squads.Formation",
        group_tactics="squads.Flanking squads.SuppressingFire squads.HealingSupport squads.Scouting squads.Sacrifice",
        strategic_AI="squads.Strategist",
        decision_maps="maps.DecisionMap maps.standard_layers",
        resource_objective_and_conflict_maps="maps.MapLayer maps.ConflictLog",
        capabilities_and_forces="squads.Capabilities squads.Force squads.StanceJudge",
        parallel_tasks_and_data="scheduling.ThreadedWork maps.DecisionMap.reading",
    ),
    *_systems(
        "004",
        habits="decisions.Habit decisions.HabitTree",
        launch_modes="decisions.Launch",
        pending_and_interrupts="decisions.HabitTree decisions.HabitContext.hold",
        notifications_and_waiting="decisions.WaitFor decisions.Blackboard",
    ),
]


def page() -> str:
    """Return the page.

    Raises:
        LookupError: if a class has no test, or a name is not there.
    """
    parts = [
        "# Sources",
        "The library implements the systems of five texts. This page is made from the code: the file that defines a "
        "class, the test that uses it most, the nodes that are built on it, and the demos, examples and guides that "
        "use these nodes or the class. Known errors of the texts are corrected; docstrings state where."]
    for source, about in SOURCES.items():
        rows = [row(system) for system in SYSTEMS if system.source == source]
        head = "| system | classes | tests | nodes | scenes |\n|---|---|---|---|---|\n"
        parts += [f"## {source}: {about}", head + "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def row(system: System) -> str:
    """Return the row of a system."""
    classes, tests, nodes, scenes = [], [], [], []
    for dotted in system.names:
        package, name, *method = dotted.split(".")
        found = getattr(importlib.import_module(f"ai_core.{package}"), name, None)
        if found is None or not all(hasattr(found, one) for one in method):
            raise LookupError(f"{system.name}: there is no ai_core.{dotted}")
        classes.append(f"`{'.'.join((name, *method))}` in `{defining_file(package, name)}`")
        found_tests = tests_of(method[-1] if method else name)
        if not found_tests:
            raise LookupError(f"{system.name}: no test uses {dotted}")
        tests += found_tests[:1]
        found_nodes = nodes_on(name)
        nodes += found_nodes
        scenes += scenes_with(name, found_nodes)
    listed = (classes, [f"`{one}`" for one in _once(tests)], [f"`{one}`" for one in _once(nodes)][:4],
              [f"`{one}`" for one in _once(scenes)][:3])
    return f"| {system.name} | " + " | ".join(", ".join(one) or "-" for one in listed) + " |"


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def defining_file(package: str, name: str) -> str:
    """Return the file that defines a name, as a path of the repository."""
    value = getattr(importlib.import_module(f"ai_core.{package}"), name)
    module = getattr(value, "__module__", None)
    if module and module.startswith("ai_core"):
        return module.replace(".", "/") + ".py"
    door = importlib.import_module(f"ai_core.{package}")
    text = inspect.getsource(door)
    found = re.search(rf"from ([\w.]+) import [^\n]*\b{name}\b|from ([\w.]+) import \([^)]*\b{name}\b", text)
    return (found.group(1) or found.group(2)).replace(".", "/") + ".py" if found else f"ai_core/{package}"


@cache
def _texts(folder: str, ends: tuple[str, ...]) -> dict[str, str]:
    return {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted((ROOT / folder).rglob("*")) if file.suffix in ends and "__pycache__" not in file.parts}


@cache
def _words(folder: str, ends: tuple[str, ...]) -> dict[str, Counter[str]]:
    """Return how often each word occurs in each file: a search for each name in each text takes half a minute."""
    return {file: Counter(re.findall(r"\w+", text)) for file, text in _texts(folder, ends).items()}


def tests_of(name: str) -> list[str]:
    """Return the tests that use a name, those that use it most first; worlds shared by tests come last."""
    counts = {
        file: words[name] for file, words in _words("tests", (".py",)).items()
        if not file.startswith(("tests/benchmarks", "tests/architecture"))}
    used = [file for file, count in counts.items() if count]
    return sorted(used, key=lambda file: (not Path(file).name.startswith("test_"), -counts[file], file))


def nodes_on(name: str) -> list[str]:
    """Return the node of the same name, or those whose file imports a class of the library, or a file that does."""
    files = _texts("addons/ai_core/nodes", (".py",))
    if any(name in declared_nodes(text) for text in files.values()):
        return [name]
    wanted, sought = [rf"from ai_core[\w.]* import (?:\([^)]*|[^\n]*)\b{name}\b"], name
    for _ in range(3):
        using = [file for file, text in files.items() if sought in text and any(re.search(one, text) for one in wanted)]
        found = [node for file in using for node in declared_nodes(files[file])]
        if found:
            return found
        modules = [file.removesuffix(".py").replace("/", ".") for file in using]
        wanted, sought = [rf"from {re.escape(module)} import" for module in modules], "import"
        if not wanted:
            break
    return []


def declared_nodes(text: str) -> list[str]:
    """Return the nodes that a file declares, without those that only others build on."""
    found = re.findall(r"^@gdclass(?:\([^)]*\))?\nclass (\w+)", text, re.MULTILINE)
    return [one for one in found if not one.startswith("_") and "Base" not in one]


def scenes_with(name: str, nodes: list[str]) -> list[str]:
    """Return demos, examples and guides with one of the nodes, or whose code uses the class."""
    wanted = {name, *nodes}
    found = []
    for folder in ("addons/ai_core/examples", "demo_project"):
        for file, words in _words(folder, (".tscn", ".gd", ".py")).items():
            if not wanted.isdisjoint(words):
                part = Path(file).parts
                found.append(Path(file).stem if folder.startswith("addons") or part[1] == "scenes" else (
                    Path(file).stem if part[1] == "scenarios" else part[1]))
    for file, words in _words("docs/guides", (".md",)).items():
        if not words.keys().isdisjoint(nodes):
            found.append(f"guide {Path(file).stem}")
    return [one for one in _once(found) if one != "__init__"]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
