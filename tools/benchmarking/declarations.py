"""What a suite declares: its measurements, and how good each must be."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Case = Callable[[], object]
"""Does the work once and returns its result, so that all who do it can be compared."""

LIMITED_CALL_NS = 33.0
"""Time of an empty Python method call on the machine that limits are stated for (ns).

A limit of 100 µs means 100 µs there; elsewhere it is scaled by what the call takes in the
same run. Changing this changes what every limit means.
"""


def same_result(ours: object, other: object) -> bool:
    """Return whether two results are equal, arrays included."""
    equal = ours == other
    return bool(equal.all()) if hasattr(equal, "all") else bool(equal)


@dataclass(frozen=True)
class Contest:
    """Ours and others, ready to run.

    Args:
        ours: does the work once.
        others: by name, what does the same in another way.
        peers: by name of the package, a function that imports it and returns its case; one
            whose package is not installed is named and left out.
        is_same: whether two results are equal; a contest with unequal ones fails.
        complaint: looks at what all runs left behind; "" or what is wrong with it.
    """

    ours: Case
    others: Mapping[str, Case] = field(default_factory=dict)
    peers: Mapping[str, Callable[[], Case]] = field(default_factory=dict)
    is_same: Callable[[object, object], bool] = same_result
    complaint: Callable[[], str] = str


@dataclass(frozen=True)
class Measurement:
    """One thing that is measured, at one size or several.

    Args:
        name: what is timed, as a person would say it.
        make: builds the contest of size n; None if the scene of the suite measures it.
        sizes: every n; two or more give a growth curve.
        goals: by name of the other, the least ratio other / ours, of all sizes or by size;
            0.5 allows us twice its time.
        limits_us: by size, the longest time of ours (µs), scaled as LIMITED_CALL_NS says.
        by_wall_clock: timed by the clock on the wall, as work on several threads must be; then the
            machine must be quiet. Otherwise by the time the calling thread ran on a processor.
    """

    name: str
    make: Callable[[int], Contest] | None = None
    sizes: tuple[int, ...] = (1,)
    goals: Mapping[str, float | Mapping[int, float]] = field(default_factory=dict)
    limits_us: Mapping[int, float] = field(default_factory=dict)
    by_wall_clock: bool = False

    def goal(self, other: str, n: int) -> float | None:
        """Return the least ratio wanted against an other at size n, None for none."""
        wanted = self.goals.get(other)
        return wanted.get(n) if isinstance(wanted, Mapping) else wanted


@dataclass(frozen=True)
class Scene:
    """A scene that measures by itself in a release build of Godot.

    Args:
        path: of the scene, such as "res://tests/benchmarks/bridge/bridge_benchmark.tscn".
        modules: Python modules that declare the nodes it uses.
        arguments: of the engine, besides --headless.
        limit_s: longest run (s): a script that fails to parse never ends by itself.
    """

    path: str
    modules: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    limit_s: float = 120.0


@dataclass(frozen=True)
class Suite:
    """What one folder below tests/benchmarks measures; its ``suite.py`` binds it to SUITE.

    Args:
        about: one line that the table begins with.
        measurements: all of them; one that is never reported is an error.
        scene: runs them inside Godot; None runs them in Python.
    """

    about: str
    measurements: tuple[Measurement, ...]
    scene: Scene | None = None

    def measurement(self, name: str) -> Measurement | None:
        """Return the measurement of a name, None if there is none."""
        return next((one for one in self.measurements if one.name == name), None)
