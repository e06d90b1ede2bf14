"""The ground of a scene: its navigation meshes in metres, for baking."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ai_core.senses.baking.ground import WalkablePolygons

Points = NDArray[np.float64]


class SceneGround(NamedTuple):
    """Walkable ground below a node, and its dimensions."""

    polygons: WalkablePolygons
    dimensions: int


class SceneMesh(NamedTuple):
    """The merged navigation meshes of a scene: corners (n, 3) or (n, 2) (m), polygons, agent radius (m)."""

    vertices: Points
    polygons: list[NDArray[np.int64]]
    radius_m: float
    dimensions: int


def ground_below(root: Any, cell_m: float, pixels_per_m: float) -> SceneGround:
    """Return the navigation meshes of all NavigationRegion3D, or else 2D, at and below a node.

    Raises:
        ValueError: if there is no mesh, or there are regions of both kinds.

    Cost: two engine calls per polygon.
    """
    mesh = mesh_below(root, pixels_per_m)
    ground = WalkablePolygons(
        mesh.vertices, mesh.polygons, cell_m, up="y" if mesh.dimensions == 3 else "z", radius_m=mesh.radius_m)
    return SceneGround(ground, mesh.dimensions)


def mesh_below(root: Any, pixels_per_m: float) -> SceneMesh:
    """Return the merged navigation meshes of all NavigationRegion3D, or else 2D, at and below a node.

    Raises:
        ValueError: if there is no mesh, or there are regions of both kinds.

    Cost: two engine calls per polygon.
    """
    why = why_no_ground(root)
    if why:
        raise ValueError(why)
    solid, flat = _enabled(root, "NavigationRegion3D"), _enabled(root, "NavigationRegion2D")
    parts = [_solid(one) for one in solid] or [_flat(one, pixels_per_m) for one in flat]
    vertices, polygons, radii = [], [], []
    count = 0
    for corners, faces, radius_m in parts:
        vertices.append(corners)
        polygons += [face + count for face in faces]
        radii.append(radius_m)
        count += len(corners)
    if not polygons:
        names = ", ".join(f"'{one.get_name()}'" for one in solid or flat)
        raise ValueError(f"the navigation mesh of {names} is empty; bake it first")
    return SceneMesh(np.concatenate(vertices), polygons, min(radii), 3 if solid else 2)


def why_no_ground(root: Any) -> str:
    """Return the error of the navigation regions at and below a node, "" for none."""
    solid, flat = _enabled(root, "NavigationRegion3D"), _enabled(root, "NavigationRegion2D")
    if solid and flat:
        return (f"'{root.get_name()}' has NavigationRegion3D and NavigationRegion2D nodes below it; bake each kind"
                " with its own SenseGraphBaker, whose level contains only that kind")
    if not solid and not flat:
        return (f"there is no NavigationRegion3D or NavigationRegion2D below '{root.get_name()}', so there is no"
                " walkable ground; add one and bake its navigation mesh, or set level to the node above it")
    return ""


def _enabled(root: Any, class_name: str) -> list[Any]:
    below = root.find_children("*", class_name, True, False)
    return [one for one in ([root] if root.is_class(class_name) else []) + list(below) if one.enabled]


def _solid(region: Any) -> tuple[Points, list[NDArray[np.int64]], float]:
    """Return corners (m), polygons and agent radius of a NavigationRegion3D."""
    mesh = region.navigation_mesh
    if mesh is None:
        return np.zeros((0, 3)), [], np.inf
    at = region.global_transform
    turn, origin = np.array(at[:9]).reshape(3, 3), np.array(at[9:])
    corners = np.array(mesh.get_vertices(), np.float64).reshape(-1, 3) @ turn.T + origin
    return corners, _polygons(mesh), float(mesh.agent_radius)


def _flat(region: Any, pixels_per_m: float) -> tuple[Points, list[NDArray[np.int64]], float]:
    """Return corners (m), polygons and agent radius of a NavigationRegion2D."""
    mesh = region.navigation_polygon
    if mesh is None:
        return np.zeros((0, 2)), [], np.inf
    at = np.array(tuple(region.global_transform)).reshape(3, 2)
    corners = np.array(mesh.get_vertices(), np.float64).reshape(-1, 2) @ at[:2] + at[2]
    return corners / pixels_per_m, _polygons(mesh), float(mesh.agent_radius) / pixels_per_m


def _polygons(mesh: Any) -> list[NDArray[np.int64]]:
    return [np.array(mesh.get_polygon(number), np.int64) for number in range(mesh.get_polygon_count())]
