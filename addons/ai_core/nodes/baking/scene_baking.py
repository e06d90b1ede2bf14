"""Bakes the sense graph of a scene from its ground and rays, and writes regions and portals."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addons.ai_core.nodes.baking.baked_places import BakedPlaces
from addons.ai_core.nodes.baking.level_baking import LevelBaking
from addons.ai_core.nodes.baking.scene_ground import ground_below
from addons.ai_core.nodes.saving.node_settings import core_settings, with_property_names
from addons.ai_core.nodes.saving.scene_text import read_text, write_text
from addons.ai_core.nodes.senses.sight_rays import FlatSightRays, SightRays
from ai_core.budget import Budget
from ai_core.saving.fields import StateError
from ai_core.senses.baking.baking import BakingReport, BakingSettings, SenseGraphBaking
from ai_core.senses.graph.graph_file import graph_from_text, graph_to_text
from ai_core.senses.graph.sense_graph import SenseGraph


class SceneBaking(LevelBaking):
    """Bakes the level of a SenseGraphBaker: create it, advance it, then write nodes or the file.

    Args:
        baker: the SenseGraphBaker, inside the tree.

    Raises:
        ValueError: if there is no ground, the ground is too large, the file to write is not a sense graph, or
            pixels_per_meter of a 2D level differ.
    """

    def __init__(self, baker: Any) -> None:
        self._baker = baker
        level = baker.get_node_or_null(baker.level)
        if level is None:
            raise ValueError(f"level '{baker.level}' is not a node; choose the root of the level")
        ground = ground_below(level, baker.cell_size / baker.unit, baker.pixels_per_meter)
        self._places = None if baker.file else BakedPlaces(baker, level, ground.dimensions)
        earlier = self._places.graph() if self._places is not None else _read(baker.file)
        self._rays = _Rays(baker, ground.dimensions)
        try:
            with _property_names(baker):
                self._core = SenseGraphBaking(
                    ground.polygons, self._rays.blocked, settings=BakingSettings(**core_settings(baker, baker.unit)),
                    earlier=earlier)
        except ValueError:
            self._rays.end()
            raise

    @property
    def stage(self) -> str:
        """Present stage, as text."""
        return self._core.stage

    @property
    def result(self) -> SenseGraph:
        """The graph; RuntimeError before it is done."""
        return self._core.result

    @property
    def report(self) -> BakingReport:
        """Names of new, kept, removed and dropped regions and portals."""
        return self._core.report

    def advance(self, budget: Budget) -> None:
        """Continue until baking is done or the budget is spent.

        Raises:
            ValueError: if there are too many regions; baking has ended then.
        """
        try:
            with _property_names(self._baker):
                self._core.advance(budget)
        finally:
            if self._core.is_done or self._core.is_cancelled:
                self._rays.end()

    def cancel(self) -> None:
        """Discard unfinished work; nothing in the scene has changed."""
        self._core.cancel()
        self._rays.end()

    def write(self, owner: Any = None) -> None:
        """Write the file of the baker, or else regions and portals below the baker.

        Raises:
            ValueError: if the file cannot be written, or the graph of the scene is in use.
        """
        if self._places is not None:
            self.write_nodes(owner)
        else:
            self.write_file(self._baker.file)

    def write_nodes(self, owner: Any = None) -> tuple[int, int]:
        """Create, move and free baked regions and portals to match the result.

        Args:
            owner: owner of new nodes, with which they are saved; None for the baker's owner.

        Returns:
            The numbers of baked regions and portals.

        Raises:
            ValueError: if the graph of the scene is in use, or the result was baked for a file.
        """
        if self._places is None:
            raise ValueError("the result was baked for a file; clear file and bake again")
        return self._places.write(self.result, self._baker.get_owner() if owner is None else owner)

    def write_file(self, path: str) -> None:
        """Write the graph as text.

        Raises:
            ValueError: if the file cannot be written.
        """
        if not write_text(path, graph_to_text(self.result)):
            raise ValueError(f"file '{path}' cannot be written; choose another path")


@contextmanager
def _property_names(baker: Any) -> Iterator[None]:
    """Raise errors of the library with the names of the baker's properties."""
    try:
        yield
    except ValueError as error:
        message = with_property_names(baker, str(error), cell_m="cell_size")
        if message != str(error) and baker.unit != 1.0:
            message += f" (lengths in metres, {baker.unit:g} px each)"
        raise ValueError(message) from None


class _Rays:
    """Batched rays of one baking, through the physics space of the scene."""

    def __init__(self, baker: Any, dimensions: int) -> None:
        self._rays: Any = (
            SightRays(baker, baker.sight_mask) if dimensions == 3
            else FlatSightRays(baker, baker.sight_mask, baker.pixels_per_meter))

    def blocked(self, segments: NDArray[np.float32]) -> NDArray[np.bool_]:
        no_excluded = np.zeros(len(segments), np.int64)
        answers: NDArray[np.bool_] = self._rays.blocked(
            np.ascontiguousarray(segments[:, :3]), np.ascontiguousarray(segments[:, 3:]), no_excluded)
        return answers

    def end(self) -> None:
        if self._rays is not None:
            self._rays.free()
            self._rays = None


def _read(path: str) -> SenseGraph | None:
    """Return the graph in a file, None if the file does not exist."""
    text = read_text(path)
    try:
        return None if text is None else graph_from_text(text)
    except StateError as error:
        raise ValueError(
            f"file '{path}' exists and is not a sense graph, so it is not overwritten: {error}") from error
