"""What no choice of phases can change."""
from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.scheduling.phase_quality import advice_on
from ai_core.scheduling.phasing import PhaseSlot, least_peak_of
from tests.scheduling.task_sets import peak


@settings(max_examples=40)
@given(periods=st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_no_phases_go_below_the_least_peak(periods):
    peaks = [peak(list(map(PhaseSlot, periods, phases))) for phases in product(*map(range, periods))]
    assert least_peak_of(periods) <= min(peaks)
    can_help, text = advice_on(periods, max(peaks), least_peak_of(periods), is_exact=True)
    if min(peaks) < max(peaks):
        assert can_help, text
    if "cannot help" in text:
        assert min(peaks) == max(peaks) == len(periods)


@pytest.mark.parametrize("count", [1, 3, 7, 10, 49])
def test_shares_that_add_up_to_a_whole_are_not_rounded_up(count):
    assert least_peak_of([count] * count) == 1
    assert least_peak_of([count] * (count + 1)) == 2


def test_co_prime_periods_cannot_be_helped():
    can_help, text = advice_on([2, 3, 5, 7, 11], 5, 5, is_exact=True)
    assert not can_help
    assert text == (
        "Phasing cannot help: no two periods share a factor, so all 5 tasks meet once in 2310"
        " frames, whatever the phases. Periods that share a factor, such as 6, 9 and 12, can avoid each other's frames."
    )


def test_tasks_of_every_frame_meet_in_every_frame():
    assert advice_on([1, 1], 2, 2, is_exact=True) == (
        False,
        "Phasing cannot help: no two periods share a factor, so all 2 tasks meet in every frame,"
        " whatever the phases. Periods that share a factor, such as 6, 9 and 12, can avoid each other's frames.",
    )


@pytest.mark.parametrize("periods", [[], [5]])
def test_one_task_needs_no_phase(periods):
    assert advice_on(periods, len(periods), len(periods), is_exact=True) == (
        False, "At most one task runs periodically, so phases have no effect."
    )


def test_a_peak_above_the_least_may_be_lowered():
    assert advice_on([2, 2, 4], 3, 2, is_exact=True) == (
        True, "Re-phasing may lower the peak of 3; no phases go below 2."
    )


def test_a_sample_proves_nothing_about_other_frames():
    assert advice_on([2, 2, 4], 2, 2, is_exact=True) == (False, "No phases have a lower peak than 2.")
    can_help, text = advice_on([2, 2, 4], 2, 2, is_exact=False)
    assert can_help
    assert "elsewhere it may be higher" in text
