"""A condition written in the inspector: an expression over what is known of a character."""
from __future__ import annotations

import re
from typing import Any

from addons.ai_core.bridge.gd import PackedStringArray, RefusedValue, construct

TEXTS = re.compile(r'"[^"]*"|\'[^\']*\'')
NAMES = re.compile(r"(?<![\w.])([a-z_]\w*)(?!\w|\s*\()")
"""What stands for a value: no method, no member of something, no constant such as PI or Vector3.UP."""

OWN_WORDS = {"true", "false", "null", "self", "and", "or", "not", "in"}
OF_MACHINE = ("cargo", "event", "time_in_state_s")


class GuardExpression:
    """An expression as GDScript writes it: "health < 0.3 and can_see(cargo)".

    A name stands for ``cargo``, ``event`` or ``time_in_state_s``, else for a value of the blackboard,
    else for a property of the actor; a method is one of the actor.

    Args:
        text: the expression.
        place: whose it is, for messages.

    Raises:
        RefusedValue: if it cannot be read.

    Cost: reading it O(length), once; asking it about 1 µs and 0.2 µs a name.
    """

    def __init__(self, text: str, place: str) -> None:
        self.text, self._place = text, place
        found = NAMES.findall(TEXTS.sub('""', text))
        self._names = [name for name in dict.fromkeys(found) if name not in OWN_WORDS]
        self._expression = construct("Expression")
        if self._expression.parse(text, PackedStringArray(self._names)) != 0:
            raise RefusedValue(f"{place}: cannot read {text!r}: {self._expression.get_error_text()}")

    def is_met(self, machine: Any) -> bool:
        """Ask for a StateMachine; raises RefusedValue if there is no answer."""
        actor = machine.actor_node()
        answer = self._expression.execute([self._value(name, machine, actor) for name in self._names], actor, False)
        if self._expression.has_execute_failed():
            raise RefusedValue(f"{self._place}: {self.text!r} has no answer: {self._expression.get_error_text()}")
        return bool(answer)

    def _value(self, name: str, machine: Any, actor: Any) -> Any:
        if name in OF_MACHINE:
            return getattr(machine.core, "time_in_state_s" if name == "time_in_state_s" else name)
        if name in machine.blackboard:
            return machine.get_value(name)
        value = actor.get(name)
        if value is None and name not in [one["name"] for one in actor.get_property_list()]:
            raise RefusedValue(
                f"{self._place}: {name!r} is no value of the blackboard and no property of"
                f" '{actor.get_name()}'; set it with set_value()")
        return value
