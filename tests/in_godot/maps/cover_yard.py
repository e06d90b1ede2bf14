"""A yard with a wall, and whatever else is put there, for tests of cover."""
from __future__ import annotations

from addons.ai_core.bridge.gd import Vector3, construct


class Yard:
    """A floor of 20 by 20 m around the origin, a wall of 4 m along x in its middle, and whatever is put there."""

    def __init__(self, node, scheduler, physics_frames):
        self.node, self.scheduler, self.physics_frames = node, scheduler, physics_frames
        self.navigation = node("NavigationRegion3D", scheduler, name="Level")
        self.body(Vector3(0, -0.1, 0), Vector3(20, 0.2, 20))
        self.wall = self.body(Vector3(0, 1.5, 0), Vector3(4, 3, 0.4))

    def body(self, place, size, kind="StaticBody3D", group="", name=""):
        body, shape, box = construct(kind), construct("CollisionShape3D"), construct("BoxShape3D")
        box.size = size
        shape.shape = box
        body.add_child(shape)
        body.position = place
        if name:
            body.name = name
        if group:
            body.add_to_group(group)
            self.scheduler.add_child(body)
        else:
            self.navigation.add_child(body)
        return body

    def crate(self, x, z, side=1.2, **more):
        return self.body(Vector3(x, side / 2, z), Vector3(side, side, side), group="cover", **more)

    def walk(self):
        mesh = construct("NavigationMesh")
        mesh.geometry_parsed_geometry_type = 1
        mesh.agent_radius = 0.5
        self.navigation.navigation_mesh = mesh
        self.navigation.bake_navigation_mesh(False)
        self.physics_frames(2)

    def cover(self, **settings):
        self.walk()
        cover = self.node("CoverMap", self.scheduler, name="Cover", level="../Level", **settings)
        self.until(lambda: cover.get_stats()["spots"] > 0)
        self.until(lambda: cover.scene.ground(cover.body) is not None)     # the map is built on a thread
        return cover

    def until(self, happened, most=100_000):
        for _ in range(most):
            if happened():
                return
            self.physics_frames(1)
        raise AssertionError("it never happened")

    def guard(self, x, z):
        return self.node("Node3D", self.scheduler, position=Vector3(x, 0, z))
