"""A plain state machine to compare with: no tables, nothing worked out before."""
from __future__ import annotations

from ai_core.decisions.state_machine_definition import PREVIOUS, History


class ReferenceMachine:
    """Looks everything up at each event. States are paths; the root is "".

    Args:
        tree: by path, the paths inside it, the initial one first.
        transitions: as handed to the definition.
        allows: told a transition, returns whether its guard does.
        tell: told "enter x", "exit x", "action n" while ``active`` is the innermost active state.
    """

    def __init__(self, tree, transitions, allows, tell):
        self.tree, self.transitions, self.allows, self.tell = tree, transitions, allows, tell
        self.leaf, self.previous, self.left = None, None, {}
        self.active = ""

    def around(self, path):
        """The state and all around it, the root last."""
        found = [path]
        while path:
            path = path.rpartition("/")[0]
            found.append(path)
        return found

    def first_leaf(self, path):
        while self.tree.get(path):
            path = self.tree[path][0]
        return path

    def start(self):
        self.go("")

    def send(self, event):
        for source in self.around(self.leaf):
            for number, one in enumerate(self.transitions):
                if one.event != event or (one.source or "") != source:
                    continue
                if one.guard is not None and not self.allows(number):
                    continue
                if one.target is None:
                    if one.action is None and one.guard is None:
                        return False
                    self.act(number, one)
                    return True
                top = self.previous if one.target == PREVIOUS else one.target
                if top is not None:
                    stays = next(path for path in self.around(top)[1:] if path in self.around(source))
                    self.go(stays, one, number)
                    return True
        return False

    def act(self, number, one):
        if one.action is not None:
            self.tell(f"action {number}")

    def destination(self, one):
        if one.target == PREVIOUS:
            return self.previous
        last = self.left.get(one.target)
        if one.history is None or last is None:
            return self.first_leaf(one.target)
        if one.history is History.DEEP:
            return last
        inside = next(path for path in self.tree[one.target] if path in self.around(last))
        return self.first_leaf(inside)

    def go(self, stays, one=None, number=0):
        before = self.leaf
        if before is not None:
            for path in self.around(before):
                if path == stays:
                    break
                self.active = path
                self.tell(f"exit {path}")
                self.left[path] = before
        self.active = stays
        if one is not None:
            self.act(number, one)
        leaf = self.first_leaf("") if one is None else self.destination(one)
        if before not in (None, leaf):
            self.previous = before
        self.leaf = leaf
        inside = self.around(leaf)
        for path in reversed(inside[: inside.index(stays)]):
            self.active = path
            self.tell(f"enter {path}")
