from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.senses.sight.pair_loops import PairsInView

PASSES = st.lists(
    st.tuples(st.sets(st.integers(0, 30)), st.integers(1, 7), st.sets(st.integers(0, 30))), min_size=1, max_size=12)


def add(pairs: PairsInView, keys: list[int]) -> None:
    pairs.add(np.array(keys, np.int64), np.array([key / 2 for key in keys]), len(keys))


@given(passes=PASSES, needs_ray=st.booleans())
def test_pairs_are_those_of_a_plain_dict(passes: list[tuple[set[int], int, set[int]]], needs_ray: bool) -> None:
    pairs, plain = PairsInView(), dict[int, tuple[int, bool]]()
    for moment, (found, at_once, hidden) in enumerate(passes):
        pairs.begin_pass()
        add(pairs, [0, 1])      # of a pass that did not end
        pairs.begin_pass()
        keys = sorted(found)
        for first in range(0, len(keys), at_once):
            add(pairs, keys[first:first + at_once])
        pairs.end_pass(2 * moment, needs_ray)
        plain = {key: plain.get(key, (2 * moment, False)) for key in keys}
        plain = {key: (since, sensed or not needs_ray) for key, (since, sensed) in plain.items()}
        asked = [row for row, key in enumerate(keys) if key in hidden]
        if needs_ray and asked:
            pairs.note(np.array(asked, np.int64), np.array([keys[row] % 2 == 0 for row in asked]), 2 * moment + 1)
            plain.update({keys[row]: (2 * moment + 1, keys[row] % 2 == 0) for row in asked})
        assert pairs.keys.tolist() == keys
        assert len(pairs) == len(keys)
        assert pairs.intensity.tolist() == [key / 2 for key in keys]
        rows = zip(pairs.waiting_since.tolist(), pairs.is_sensed.tolist(), strict=True)
        assert dict(zip(keys, rows, strict=True)) == plain


def test_pairs_of_a_pass_ascend() -> None:
    pairs = PairsInView()
    add(pairs, [3, 5])
    with pytest.raises(ValueError, match="pairs must ascend"):
        add(pairs, [5])
