"""Methods that are declared and passed on to a library object."""
from __future__ import annotations

import inspect

import pytest

from addons.ai_core.bridge.gd import RefusedValue, method, refusing


class Scale:
    unit = "m"

    def half(self, number: float) -> float:
        if number < 0:
            raise ValueError(f"number must be at least 0, got {number}")
        return number / 2


class Passing:
    def __init__(self) -> None:
        self.core = Scale()

    @method(to="core.half")
    def get_half(self, number: float) -> float:
        """Return half of a number."""

    @method(to="core.unit")
    def get_unit(self) -> str:
        """Return the unit."""


def test_a_call_is_passed_on_with_its_arguments():
    assert Passing().get_half(4.0) == 2.0


def test_an_attribute_is_returned():
    assert Passing().get_unit() == "m"


def test_an_error_of_the_library_refuses_the_value():
    with pytest.raises(RefusedValue, match="number must be at least 0, got -1"):
        Passing().get_half(-1)


def test_signature_and_docstring_stay():
    assert list(inspect.signature(Passing.get_half, eval_str=True).parameters) == ["self", "number"]
    assert Passing.get_half.__doc__ == "Return half of a number."


def test_refusing_keeps_other_errors():
    with pytest.raises(ZeroDivisionError), refusing():
        1 / 0  # noqa: B018
    with pytest.raises(RefusedValue, match="nobody"), refusing():
        raise LookupError("nobody")
