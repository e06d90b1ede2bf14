"""What groups and members of a scene's events are called: after their nodes, each otherwise."""
from __future__ import annotations

from collections.abc import Callable

from ai_core.events.narrowcast import Group, Member, Narrowcast


class EventNames:
    """Names in use, and what tells whom they are after, as nodes may be renamed."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._namings: dict[Group | Member, tuple[Callable[[], str], str]] = {}

    def free(self, wanted: str) -> str:
        """Return a name that nobody else has, as long as it is kept for somebody."""
        number, name = 1, wanted
        while name in self._taken:
            number += 1
            name = f"{wanted} ({number})"
        self._taken.add(name)
        return name

    def keep(self, one: Group | Member, naming: Callable[[], str]) -> None:
        """Call a group or a member after what ``naming`` tells, from ``anew`` on."""
        self._namings[one] = naming, naming()

    def drop(self, one: Group | Member) -> None:
        """Somebody is gone."""
        del self._namings[one]
        self._taken.discard(one.name)

    def anew(self, narrowcast: Narrowcast) -> None:
        """Call all after their nodes by now. Cost: O(groups + members)."""
        for kind in (Group, Member):                 # members are called after their groups, too
            known = {one: (naming, was, naming()) for one, (naming, was) in self._namings.items() if type(one) is kind}
            changed = {one: now for one, (_, was, now) in known.items() if now != was}
            if changed:
                self._taken.difference_update(one.name for one in changed)
                self._namings.update((one, (known[one][0], now)) for one, now in changed.items())
                narrowcast.rename({one: self.free(now) for one, now in changed.items()})
