"""Nodes that override what keeps ours in order, and do not call it."""
from __future__ import annotations

import functools

from addons.ai_core.bridge.gd import gdclass, register_all
from addons.ai_core.nodes.habits.habit import Habit
from addons.ai_core.nodes.habits.habit_tree import HabitTree
from addons.ai_core.nodes.scheduling.ai_behavior import AIBehavior

told = []


def decorated(function):
    @functools.wraps(function)
    def call(node):
        function(node)

    return call


class Loud:
    """A part of a class."""

    def on_entered(self):
        told.append("part entered")
        super().on_entered()


@gdclass
class SilentHabit(Habit):
    """Overrides what keeps a habit in order, and calls nothing."""

    def on_entered(self):
        told.append("entered")

    @decorated
    def on_exit_tree(self):
        told.append("left" if self._tree is not None else "left too late")

    def on_predelete(self):
        raise RuntimeError("fails before it could call anything")


@gdclass
class LoudHabit(Loud, SilentHabit):
    """Calls what it overrides, through a part of it, and one hook not at all."""

    def on_exit_tree(self):
        told.append("first")
        super().on_exit_tree()
        super().on_exit_tree()


@gdclass
class SilentBehavior(AIBehavior):
    """Overrides what stops it."""

    def on_exit_tree(self):
        pass


@gdclass
class SilentTree(HabitTree):
    """Overrides what begins it, and what ends it."""

    def on_entered(self):
        told.append("running" if self.core is not None else "not yet")

    def on_exit_tree(self):
        raise RuntimeError("cannot end")


register_all()
