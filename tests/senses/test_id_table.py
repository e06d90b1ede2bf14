"""Ids: small, ascending, and never mistaken for one another."""
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.errors import UnknownNameError
from ai_core.senses.id_table import GENERATIONS, SLOT_BITS, IdTable


def test_the_first_ids_count_up_from_zero_and_rows_double():
    table = IdTable("sensor")
    assert [table.add() for _ in range(20)] == list(range(20))
    assert table.capacity == 32


def test_a_removed_id_is_refused_although_its_row_is_used_again():
    table = IdTable("sensor")
    old = table.add()
    table.remove(old)
    new = table.add()
    assert (table.slot(new), new > old) == (0, True)
    with pytest.raises(UnknownNameError, match="unknown sensor id 0; it was removed"):
        table.slot(old)


@pytest.mark.parametrize("wrong", [99, 7, 5 << SLOT_BITS])
def test_ids_that_were_never_given_out_are_refused(wrong):
    table = IdTable("source")
    table.add()
    with pytest.raises(UnknownNameError, match="unknown source id"):
        table.slot(wrong)
    with pytest.raises(UnknownNameError, match="unknown source id"):
        table.slots([0, wrong])


@pytest.mark.parametrize("wrong", ["0", 0.0, True, None])
def test_ids_of_another_type_are_refused(wrong):
    table = IdTable("source")
    table.add()
    with pytest.raises(TypeError, match="must be an integer"):
        table.slot(wrong)


@pytest.mark.parametrize("wrong", [-1, -5])
def test_negative_ids_are_refused(wrong):
    table = IdTable("source")
    table.add()
    with pytest.raises(UnknownNameError):
        table.slots(np.array([wrong]))


def test_overused_row_is_retired_so_that_no_id_repeats():
    table = IdTable("sensor")
    seen = set()
    for _ in range(GENERATIONS + 3):
        new = table.add()
        assert new not in seen
        assert new < 2**31
        seen.add(new)
        table.remove(new)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=80))
def test_the_table_knows_exactly_what_was_added_and_not_removed(steps):
    table, alive = IdTable("sensor"), []
    for is_adding, which in steps:
        if is_adding or not alive:
            alive.append(table.add())
        else:
            table.remove(alive.pop(which % len(alive)))
    assert table.ids.tolist() == sorted(alive)
    assert len(table) == len(alive)
    assert table.by_slot[table.slots(alive)].tolist() == alive


def test_what_is_renamed_keeps_its_id_and_its_place_in_the_order():
    table = IdTable("sensor")
    first, second = table.add("Bob"), table.add("Ann")
    table.rename(first, "Carl")
    assert list(table.names.items()) == [(first, "Carl"), (second, "Ann")]
    with pytest.raises(TypeError, match="name must be a string"):
        table.rename(first, 3)
    table.remove(first)
    with pytest.raises(UnknownNameError):
        table.rename(first, "Bob")
