"""What the inspector shows of a Strategist, and what the library is made with by it."""
from __future__ import annotations

import random
from collections.abc import Iterable

from addons.ai_core.bridge.declarations import array_of
from addons.ai_core.bridge.gd import NodePath, PackedStringArray, export, node_path
from ai_core.squads import strategist as library
from ai_core.squads.build_order import BuildOrder, TechnologyTree
from ai_core.squads.personality import Personality

NEEDED_LAYERS = ("resources", "threat", "conflict", "exploration")


class StrategistSettings:
    """The properties of a Strategist; a part of that class."""

    decision_map = export(
        NodePath, NodePath(""), hint=node_path("DecisionMap"),
        doc="What its side knows of the ground; empty: the nearest. Read when it joins.")
    base = export(
        NodePath, NodePath(".."), hint=node_path("Node3D", "Node2D"),
        doc="Where the side lives; by default the parent.")
    products = export(list, (), hint=array_of("StrategicProduct"), on_set="_in_use", doc="All that can be made.")
    build_order = export(
        PackedStringArray, (), on_set="_in_use",
        doc="How it begins, a step a line: \"worker 6\" is until there are six.")
    aggression = export(
        float, 0.5, range=(0, 1, 0.01), group="Personality", on_set="_temper_set",
        doc="How small an advantage it attacks with.")
    caution = export(
        float, 0.5, range=(0, 1, 0.01), on_set="_temper_set",
        doc="How early it retreats, and how little makes it defend.")
    greed = export(
        float, 0.5, range=(0, 1, 0.01), on_set="_temper_set", doc="How much it invests in gathering before it arms.")
    curiosity = export(
        float, 0.5, range=(0, 1, 0.01), on_set="_temper_set",
        doc="How fresh it keeps its maps: up to four squads scout.")
    army_cost = export(
        float, 1000.0, range=(1, 100000, 1), or_greater=True, group="Scale",
        on_set="_temper_set",
        doc="Cost of the army it aims at; what it has and can gather is rich or poor beside that.")
    home_radius_m = export(
        float, 25.0, range=(1, 1000, 0.5), or_greater=True, unit="m", on_set="_temper_set",
        doc="Enemies this near to its base threaten it.")
    choke_width_cells = export(
        int, 3, range=(0, 20, 1), unit="cells",
        on_set="_width_set",
        doc="Places of the DecisionMap's walls that are at most so wide are held by defenses; 0: none.")
    search_after_s = export(
        float, 60.0, range=(0, 3600, 1), or_greater=True, unit="s", on_set="_temper_set",
        doc="When its army goes to look for an enemy that nobody has seen.")
    overdue_after_s = export(
        float, 240.0, range=(0, 3600, 1), or_greater=True, unit="s", on_set="_temper_set",
        doc="After so long without an attack it attacks also without an advantage.")
    forget_after_s = export(
        float, 90.0, range=(0, 3600, 1), or_greater=True, unit="s",
        doc="Enemies that its Squads met are forgotten after so long without being seen; objectives are not.")
    objective_group = export(
        str, "objectives", doc="Enemies its Squads meet are worth an attack by themselves if they are in this group.")
    chance_seed = export(int, 0, on_set="_in_use", doc="What its trying of other tactics comes from.")
    period_frames = export(
        int, 60, range=(1, 600, 1), or_greater=True, unit="frames", group="Optimizations", on_set="_reschedule",
        doc="Frames from one thought to the next; a thought pauses where the budget ends.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule", doc="Weight of its share of the budget.")

    def made_for(self, layers: Iterable[str]) -> library.Strategist:
        """Return a strategist of the library by these settings.

        Args:
            layers: names of those that its DecisionMap has.

        Raises:
            ValueError: if a layer that it needs is missing, or a setting does not fit.
        """
        missing = [name for name in NEEDED_LAYERS if name not in layers]
        if missing:
            raise ValueError(f"its DecisionMap lacks the layers {', '.join(missing)}")
        if None in self.products:
            raise ValueError("products has an empty place; choose a StrategicProduct")
        tree = TechnologyTree(one.product() for one in self.products)
        made = library.Strategist(
            tree, random.Random(self.chance_seed), build_order=BuildOrder(self._steps(), tree))
        self.put_temper(made)
        return made

    def put_temper(self, strategist: library.Strategist) -> None:
        """Let a strategist judge by these numbers from its next thought on."""
        strategist.personality = Personality(self.aggression, self.caution, self.greed, self.curiosity)
        strategist.army_cost, strategist.home_radius_m = self.army_cost, self.home_radius_m
        strategist.search_after_s, strategist.overdue_after_s = self.search_after_s, self.overdue_after_s

    def _steps(self) -> list[tuple[str, int]]:
        steps = []
        for line in map(str, self.build_order):
            name, _, count = line.rpartition(" ")
            if not count.isdecimal():
                raise ValueError(f"build_order has {line!r}; write a name and a number, such as \"worker 6\"")
            steps.append((name, int(count)))
        return steps
