"""The rules of habits, written as plainly as can be, to hold the real ones to.

A specification is a dictionary; an active habit is a dictionary of its
specification and what is active below it. Everybody is asked in every tick. No
plans, no contexts, no agenda, no speed.
"""
from __future__ import annotations

RUNNING, SUCCEEDED, FAILED = "running", "succeeded", "failed"
TURNED = {SUCCEEDED: FAILED, FAILED: SUCCEEDED}


class ReferenceTree:
    """Lives by a specification in a world that says who wants, ends and holds.

    A specification has "name", "children", "launch", "beside", "held", "ticks",
    "timeout_s", "cooldown_s", "repeats", "retries", "inverted" and "silent": it
    always wants, and says nothing as it begins and ends. A world has wants(name),
    result(name), holds(name), draw().
    """

    def __init__(self, root, world):
        self.root = root
        self.world = world
        self.log = []
        self.active = None
        self.held = set()
        self.cools_until = {}
        self.now_s = 0.0

    def tick(self, elapsed_s):
        self.now_s += elapsed_s
        if self.active is None:
            if not self.wants(self.root):
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
        self.held, self.cools_until = set(), {}

    def wants(self, spec):
        is_cool = self.cools_until.get(spec["name"], 0.0) <= self.now_s
        return is_cool and (spec["silent"] or self.world.wants(spec["name"]))

    def say(self, what, spec):
        if not spec["silent"]:
            self.log.append(f"{what} {spec['name']}")

    def begin(self, spec):
        """Return how it stands for its parent, and what is active of it."""
        one = {"spec": spec, "succeeded": 0, "failed": 0}
        status = self.begin_again(one)
        return status, one if status == RUNNING else None

    def begin_again(self, one):
        spec = one["spec"]
        one |= {"main": None, "step": 0, "beside": {}, "again": False, "began_s": self.now_s}
        self.say("enter", spec)
        if spec["held"]:
            self.held.add(spec["name"])
        return self.live(one)

    def go_on(self, one):
        if one["again"]:
            return self.begin_again(one)
        if self.now_s - one["began_s"] >= one["spec"]["timeout_s"]:
            return self.over(one, FAILED)
        return self.live(one)

    def live(self, one):
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
        if status != RUNNING:
            return self.over(one, status)
        for child in spec["children"]:
            if child["beside"]:
                self.run_beside(one, child)
        return RUNNING

    def over(self, one, status):
        """Let it end; return how it stands for its parent."""
        spec = one["spec"]
        one[status] += 1
        self.end(one)
        if one["succeeded"] < spec["repeats"] and one["failed"] <= spec["retries"]:
            one["again"] = True
            self.cools_until.pop(spec["name"], None)
            return RUNNING
        return TURNED[status] if spec["inverted"] else status

    def prioritized(self, one, children):
        over = []
        while True:
            current = one["main"]
            better = children if current is None else children[: children.index(current["spec"])]
            if current is not None and self.holds_somewhere(current):
                better = []
            willing = [c for c in better if c not in over and self.wants(c)]
            if willing:
                if current is not None:
                    self.end(current)
                chosen = willing[0]
                over.append(chosen)  # each begins at most once in a choice
                status, one["main"] = self.begin(chosen)
            elif current is not None:
                status = self.go_on(current)
            else:
                return RUNNING
            if status == RUNNING:
                return RUNNING
            one["main"] = None

    def sequential(self, one, children, wanted=SUCCEEDED):
        while one["step"] < len(children):
            child = children[one["step"]]
            if one["main"] is not None:
                status = self.go_on(one["main"])
                one["main"] = one["main"] if status == RUNNING else None
            elif self.wants(child):
                status, one["main"] = self.begin(child)
            elif wanted == SUCCEEDED:
                return FAILED
            else:
                status = wanted
            if status != wanted:
                return status
            one["step"] += 1
        return wanted

    def fallback(self, one, children):
        return self.sequential(one, children, FAILED)

    def random(self, one, children):
        if one["main"] is not None:
            status = self.go_on(one["main"])
            one["main"] = one["main"] if status == RUNNING else None
            return status
        willing = [child for child in children if self.wants(child)]
        if not willing:
            return FAILED
        status, one["main"] = self.begin(willing[int(self.world.draw() * len(willing))])
        return status

    def run_beside(self, one, child):
        name = child["name"]
        if name in one["beside"]:
            if self.go_on(one["beside"][name]) != RUNNING:
                del one["beside"][name]
        elif self.wants(child):
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
        one["beside"], one["main"] = {}, None
        name = one["spec"]["name"]
        if not one["again"]:
            self.say("exit", one["spec"])
        self.held.discard(name)
        if one["spec"]["cooldown_s"]:
            self.cools_until[name] = self.now_s + one["spec"]["cooldown_s"]

    def replace(self, parent, index, *instead):
        """Put none, one or two habits in the place of a child; it ends first."""
        gone = parent["children"][index]
        for one in self.all_active(self.active):
            if one["spec"] is not parent:
                continue
            main = [child for child in parent["children"] if not child["beside"]]
            if one["main"] is not None and one["main"]["spec"] is gone:
                if gone not in instead:
                    self.end(one["main"])
                    one["main"] = None
            elif gone["name"] in one["beside"] and gone not in instead:
                self.end(one["beside"].pop(gone["name"]))
            before = main[: one["step"]]
            children = [*parent["children"][:index], *instead, *parent["children"][index + 1 :]]
            now = [child for child in children if not child["beside"]]
            done = [child for child in now if child in before]
            one["step"] = now.index(one["main"]["spec"]) if one["main"] else len(done)
        parent["children"][index : index + 1] = instead

    def all_active(self, one):
        if one is None:
            return []
        below = [*([one["main"]] if one["main"] else []), *one["beside"].values()]
        return [one, *(each for child in below for each in self.all_active(child))]
