"""Matching by name: what was saved finds what is there."""
from __future__ import annotations

import pytest

from ai_core.saving.fields import StateError
from ai_core.saving.matching import match_by_name


def test_names_are_found_wherever_they_stand():
    assert match_by_name("task", ["b", "a"], ["new", "a", "b"]) == [2, 1]


def test_those_of_one_name_are_told_apart_by_their_order():
    assert match_by_name("task", ["", "a", ""], ["a", "", ""]) == [1, 0, 2]


def test_a_name_that_is_missing_is_named():
    with pytest.raises(StateError, match="unknown task 'thinc'; did you mean 'think'"):
        match_by_name("task", ["thinc"], ["think"])


@pytest.mark.parametrize(("saved", "here"), [(["a", "a"], ["a"]), (["a"], ["a", "a"])])
def test_several_of_one_name_must_be_as_many(saved, here):
    with pytest.raises(StateError, match="so they cannot be matched; give each a unique name"):
        match_by_name("task", saved, here)
