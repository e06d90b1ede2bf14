"""Classes in Python that override the virtual methods of nodes; registered when this is imported."""
from __future__ import annotations

from addons.ai_core.bridge.gd import Node, PackedStringArray, gdclass, method, register_all
from addons.ai_core.nodes import AIState, GroupLOD, Habit, LODBehavior, Squad, StateTransition
from ai_core.decisions import Status

told = []


@gdclass
class ShoutingHabit(Habit):
    """Succeeds in its third tick."""

    def __init__(self) -> None:
        super().__init__()
        self.is_allowed = True
        self.ticks = 0

    def _can_activate(self) -> bool:
        return self.is_allowed

    def _enter(self) -> None:
        told.append("enter")

    def _tick(self, elapsed_s: float) -> object:
        self.ticks += 1
        return (None, Status.RUNNING, self.Status.SUCCEEDED)[min(self.ticks, 3) - 1]

    def _exit(self) -> None:
        told.append("exit")


@gdclass
class LouderHabit(ShoutingHabit):
    """Adds to an override."""

    def _enter(self) -> None:
        super()._enter()
        told.append("louder")


@gdclass
class ShoutingState(AIState):
    """Tells when it begins, and its first update."""

    def _enter(self) -> None:
        told.append(f"enter {self.get_name()}")

    @method
    def _exit(self) -> None:
        told.append(f"exit {self.get_name()}")


@gdclass
class GuardedTransition(StateTransition):
    """Refuses until it may."""

    may = False

    def _is_allowed(self) -> bool:
        return self.may


@gdclass
class ShoutingSquad(Squad):
    """Chooses its commander and tactic."""

    def _choose_commander(self, members: list) -> Node:
        told.append(len(members))
        return members[-1]

    def _choose_tactic(self) -> str:
        return "flanking"


@gdclass
class ShoutingGroup(GroupLOD):
    """Is simulated as one."""

    def _simulate(self, elapsed_s: float) -> None:
        told.append("simulate")

    def _expand(self) -> PackedStringArray:
        return PackedStringArray(["Ann"])

    def _tick_member(self, member: str, elapsed_s: float) -> None:
        told.append(member)

    def _compress(self) -> None:
        told.append("compress")


@gdclass
class ShoutingLevel(LODBehavior):
    """A level of detail."""

    def _lod_enter(self, previous: str, data: object) -> None:
        told.append("level")


register_all()
