"""The rules of habits, written as plainly as can be, to hold the real ones to.

A specification is a dictionary; an active habit is a dictionary of its name and
what is active below it. No plans, no contexts, no speed.
"""
from __future__ import annotations

RUNNING, SUCCEEDED, FAILED = "running", "succeeded", "failed"


class ReferenceTree:
    """Lives by a specification in a world that says who wants, ends and holds.

    A specification has "name", "children", "launch", "beside", "held" and
    "ticks"; a world has wants(name), result(name), holds(name), draw().
    """

    def __init__(self, root, world):
        self.root = root
        self.world = world
        self.log = []
        self.active = None
        self.held = set()

    def tick(self):
        if self.active is None:
            if not self.world.wants(self.root["name"]):
                return None
            status, self.active = self.begin(self.root)
            return status
        status = self.go_on(self.active)
        if status != RUNNING:
            self.active = None
        return status

    def stop(self):
        if self.active is not None:
            self.end(self.active)
            self.active = None

    def begin(self, spec):
        self.log.append(f"enter {spec['name']}")
        if spec["held"]:
            self.held.add(spec["name"])
        one = {"spec": spec, "main": None, "beside": {}}
        status = self.go_on(one)
        return status, one if status == RUNNING else None

    def go_on(self, one):
        spec, status = one["spec"], RUNNING
        if spec["ticks"]:
            name = spec["name"]
            self.log.append(f"tick {name}")
            if self.world.holds(name) is not None:
                (self.held.add if self.world.holds(name) else self.held.discard)(name)
            status = self.world.result(name)
        main = [child for child in spec["children"] if not child["beside"]]
        if status == RUNNING and main:
            status = getattr(self, spec["launch"])(one, main)
        if status == RUNNING:
            for child in spec["children"]:
                if child["beside"]:
                    self.run_beside(one, child)
            return RUNNING
        self.end(one)
        return status

    def prioritized(self, one, children):
        over = []
        while True:
            current = one["main"]
            better = children if current is None else children[: children.index(current["spec"])]
            if current is not None and self.holds_somewhere(current):
                better = []
            willing = [c for c in better if c not in over and self.world.wants(c["name"])]
            if willing:
                if current is not None:
                    self.end(current)
                chosen = willing[0]
                status, one["main"] = self.begin(chosen)
            elif current is not None:
                chosen = current["spec"]
                status = self.go_on(current)
            else:
                return RUNNING
            if status == RUNNING:
                return RUNNING
            one["main"] = None
            over.append(chosen)

    def sequential(self, one, children):
        rest = list(children)
        if one["main"] is not None:
            rest = children[children.index(one["main"]["spec"]) + 1 :]
            status = self.go_on(one["main"])
            if status != SUCCEEDED:
                one["main"] = one["main"] if status == RUNNING else None
                return status
            one["main"] = None
        for child in rest:
            if not self.world.wants(child["name"]):
                return FAILED
            status, one["main"] = self.begin(child)
            if status != SUCCEEDED:
                return status
        return SUCCEEDED

    def random(self, one, children):
        if one["main"] is not None:
            status = self.go_on(one["main"])
            one["main"] = one["main"] if status == RUNNING else None
            return status
        willing = [child for child in children if self.world.wants(child["name"])]
        if not willing:
            return FAILED
        status, one["main"] = self.begin(willing[int(self.world.draw() * len(willing))])
        return status

    def run_beside(self, one, child):
        name = child["name"]
        if name in one["beside"]:
            if self.go_on(one["beside"][name]) != RUNNING:
                del one["beside"][name]
        elif self.world.wants(name):
            _, active = self.begin(child)
            if active is not None:
                one["beside"][name] = active

    def holds_somewhere(self, one):
        below = [*([one["main"]] if one["main"] else []), *one["beside"].values()]
        return one["spec"]["name"] in self.held or any(map(self.holds_somewhere, below))

    def end(self, one):
        for beside in reversed(list(one["beside"].values())):
            self.end(beside)
        if one["main"] is not None:
            self.end(one["main"])
        name = one["spec"]["name"]
        self.log.append(f"exit {name}")
        self.held.discard(name)
