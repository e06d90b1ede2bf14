"""Base class of sensors and sources: they belong to a SenseManager while they are in the tree."""
from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from addons.ai_core.bridge.gd import RefusedValue, get_object, report_error
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.scheduling.scheduler_lookup import BETWEEN_LEVELS_S, LostNodes, report_next_frame, wait_for
from addons.ai_core.nodes.senses.felt_collisions import CONTACTS, FeltCollisions
from addons.ai_core.nodes.senses.sense_place import GROUP, fitting_manager, manager_of, member_warnings
from ai_core.saving.declared_state import DeclaredState, Hook

REFUSALS = (LookupError, TypeError, ValueError)
"""Errors that the library raises for invalid values."""

MOST_CONTACTS = 4
"""Contacts that a RigidBody reports at least (count): a floor, two walls, and another body."""


_contact_kinds: dict[str, str] = {}        # by class of a body, the one of CONTACTS, or ""


def _contact_kind(body: Any) -> str:
    """Return the class of ``CONTACTS`` that a body is of, "" for none."""
    of = body.get_class()
    found = _contact_kinds.get(of)
    if found is None:
        found = _contact_kinds[of] = next((one for one in CONTACTS if body.is_class(one)), "")
    return found


@contextmanager
def refused() -> Iterator[None]:
    """Turn an error of the library about a setting into a RefusedValue, so that the old value is kept."""
    try:
        yield
    except REFUSALS as error:
        raise RefusedValue(str(error)) from None


def _join_another(member: Any) -> None:
    if fitting_manager(member):
        member._join()


lost_members = LostNodes(
    lambda member: not member.has_manager,
    lambda member: f"has had no SenseManager for {BETWEEN_LEVELS_S:g} s and {member.without_manager}; add a"
                   " SenseManager to the scene", _join_another)


class SenseMember(SavedState):
    """Joins the nearest SenseManager on entering the tree; waits for one if there is none yet.

    Its ``STATE`` is saved with the SenseManager.
    """

    STATE = DeclaredState(settings=Hook())
    _manager: Any = None
    _has_joined = False         # a manager, now or before
    _felt_by: Any = None
    _feeling: tuple[Any, tuple[str, ...]] | None = None
    without_manager = ""
    dimensions = 3

    def on_entered(self: Any) -> None:
        if self._manager is None:
            self._join()

    def lose_manager(self: Any) -> None:
        """Wait for another manager; called when the manager leaves the tree."""
        self._manager = None
        self.end_feeling()
        if self.is_valid() and self.is_inside_tree():
            wait_for(self, GROUP)

    @property
    def has_manager(self) -> bool:
        """Whether the node has joined a SenseManager."""
        return self._manager is not None

    def belongs_to(self, manager: Any) -> bool:
        """Return whether the node has joined this manager."""
        return manager is not None and self._manager == manager

    def _get_configuration_warnings(self) -> list[str]:
        manager = manager_of(self)
        return [*member_warnings(self, manager, self.without_manager), *self.setting_warnings(manager)]

    def setting_warnings(self, manager: Any) -> list[str]:
        """Return the warnings about the settings of the node, below a manager or None."""
        return []

    def _join(self: Any) -> None:
        manager = fitting_manager(self)
        if manager is None:
            if self._has_joined:
                lost_members.add(self)
            else:
                report_next_frame(self, lambda: [] if self._manager is not None else self._get_configuration_warnings())
            wait_for(self, GROUP)
            return
        if self.setting_warnings(manager):
            report_next_frame(self, self._get_configuration_warnings)
        try:
            self._enlist(manager)
        except ValueError:
            if math.isfinite(sum(manager.place_of(self))):
                raise
            report_error(
                f"its global transform holds a NaN or infinity, so it {self.without_manager}; give it a finite"
                " position before it enters the scene", self)
            return
        self._manager, self._has_joined = manager, True
        lost_members.found(self)

    def begin_to_feel(self, contacts: FeltCollisions, body_id: int) -> None:
        """Connect to the contact signals of the body with an instance id, 0 for none."""
        body = get_object(body_id) if body_id else None
        kind = "" if body is None else _contact_kind(body)
        if not kind:
            return
        if kind.startswith("RigidBody"):
            body.contact_monitor, body.max_contacts_reported = True, max(MOST_CONTACTS, body.max_contacts_reported)
        self._felt_by, self._feeling = contacts, (body, CONTACTS[kind])
        for name in CONTACTS[kind]:
            body.connect(name, self._met)

    def end_feeling(self) -> None:
        """Disconnect from the contact signals of the body."""
        if self._feeling is not None and self._feeling[0].is_valid():
            for name in self._feeling[1]:
                self._feeling[0].disconnect(name, self._met)
        self._felt_by = self._feeling = None

    def _met(self, other: Any) -> None:
        if self._felt_by is not None and other is not None:
            self._felt_by.meet(self._feeling[0].instance_id, other.instance_id)
