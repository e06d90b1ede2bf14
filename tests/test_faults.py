"""Faults: reported, tried again, quarantined, released."""
from __future__ import annotations

import logging
import traceback
import weakref

import pytest

from ai_core.faults import Failures, FaultIsolation


def raised(message="boom"):
    try:
        raise RuntimeError(message)
    except RuntimeError as error:
        return error


def test_a_fault_says_who_when_and_where():
    reports = []
    FaultIsolation(report=reports.append).failed("key", "think", 7, raised())
    (fault,) = reports
    assert (fault.name, fault.frame, fault.failures_in_a_row) == ("think", 7, 1)
    assert "in raised" in "".join(traceback.format_exception(fault.error))


def test_the_third_failure_in_a_row_is_one_too_many():
    faults = FaultIsolation(report=lambda fault: None)
    states = [faults.failed("key", "think", 0, raised()).is_quarantined for _ in range(3)]
    assert states == [False, False, True]
    assert faults.is_quarantined("key")
    assert faults.counts == {"failures": 3, "quarantined": 1}


def test_a_success_between_failures_starts_the_count_anew():
    faults = FaultIsolation(quarantine_after=2, report=lambda fault: None)
    for _ in range(5):
        faults.failed("key", "think", 0, raised())
        faults.succeeded("key")
    assert not faults.is_quarantined("key")


def test_released_work_has_all_its_tries_again():
    faults = FaultIsolation(quarantine_after=2, report=lambda fault: None)
    for _ in range(2):
        faults.failed("key", "think", 0, raised())
    assert faults.has_quarantined
    faults.release("key")
    assert not faults.has_quarantined
    assert not faults.failed("key", "think", 0, raised()).is_quarantined


def test_failures_are_counted_for_each_work_alone():
    faults = FaultIsolation(quarantine_after=2, report=lambda fault: None)
    for key in "abc":
        faults.failed(key, key, 0, raised())
    assert faults.counts["quarantined"] == 0


def test_what_is_forgotten_leaves_nothing_behind():
    faults = FaultIsolation(quarantine_after=1, report=lambda fault: None)
    faults.failed("key", "think", 0, raised())
    faults.forget("key")
    assert faults.counts == {"failures": 1, "quarantined": 0}


def test_without_a_report_the_log_gets_the_traceback(caplog):
    with caplog.at_level(logging.ERROR, logger="ai_core"):
        FaultIsolation(quarantine_after=1).failed("key", "think", 7, raised())
    assert "think failed in frame 7 (1 in a row); quarantined until released" in caplog.text
    assert "RuntimeError: boom" in caplog.text


def test_a_broken_report_does_not_hide_the_fault(caplog):
    def broken(fault):
        raise OSError("disk full")

    FaultIsolation(report=broken).failed("key", "think", 7, raised())
    assert "disk full" in caplog.text
    assert "RuntimeError: boom" in caplog.text


def test_in_tests_faults_come_through():
    faults = FaultIsolation(reraise=True)
    with pytest.raises(RuntimeError, match="boom"):
        faults.failed("key", "think", 0, raised())


@pytest.mark.parametrize("count", [0, -1, True, 1.5])
def test_a_count_that_is_none_is_refused(count):
    with pytest.raises((ValueError, TypeError), match="quarantine_after must be"):
        FaultIsolation(quarantine_after=count)


def test_a_report_must_be_callable():
    with pytest.raises(TypeError, match="report must be a callable or None"):
        FaultIsolation(report="log")


def test_counts_under_names_are_saved_and_under_objects_are_not():
    faults, key = FaultIsolation(report=lambda fault: None), object()
    for name in ("door", "door", "gate", "gate", "gate", key):
        faults.failed(name, str(name), 0, raised())
    other = FaultIsolation(report=lambda fault: None)
    other.failed("well", "well", 0, raised())
    other.prepare_state(faults.save_state())()
    assert [other.failures_of(name) for name in ("door", "gate", "well", key)] == [
        (2, False), (3, True), (0, False), (0, False)
    ]
    assert other.counts == {"failures": 6, "quarantined": 1}


class Owner:
    """Owns work."""


def test_records_go_with_the_owner_of_the_work():
    faults = FaultIsolation(quarantine_after=2, report=lambda fault: None)
    owner, other = Owner(), Owner()
    for _ in range(2):
        faults.failed((owner, "think"), "think", 0, raised())
    faults.put_failures((owner, "move"), Failures(1, False))
    faults.failed((other, "think"), "think", 0, raised())
    assert faults.is_quarantined((owner, "think"))
    assert not faults.run((owner, "think"), "think", 0, lambda: None)
    assert faults.failures_of((owner, "move")) == Failures(1, False)
    gone = weakref.ref(owner)
    del owner
    assert gone() is None
    assert (faults.has_quarantined, faults.counts["quarantined"]) == (False, 0)
    assert faults.failures_of((other, "think")) == Failures(1, False)
    faults.succeeded((other, "think"))
    assert not faults.has_failing


def test_a_fault_has_the_key_by_which_it_is_released():
    class Owner:
        pass

    owner, reports = Owner(), []
    faults = FaultIsolation(report=reports.append)
    for key in ((owner, "open"), owner, "door"):
        faults.failed(key, "think", 0, raised())
        assert reports[-1].key is key


def test_keys_of_plain_values_are_kept():
    faults = FaultIsolation(quarantine_after=1, report=lambda fault: None)
    for key in (("door", 1), (1, 2), ()):
        faults.failed(key, "think", 0, raised())
        assert faults.is_quarantined(key)
        faults.forget(key)
    assert not faults.has_failing


def test_an_owner_outlives_its_isolation():
    faults, owner = FaultIsolation(report=lambda fault: None), Owner()
    faults.failed((owner, "think"), "think", 0, raised())
    gone = weakref.ref(faults)
    del faults
    assert gone() is None
    del owner


def test_many_owners_that_failed_are_freed_at_once():
    faults, owners = FaultIsolation(quarantine_after=1, report=lambda fault: None), [Owner() for _ in range(5000)]
    for owner in owners:
        faults.failed((owner, "think"), "think", 0, raised())
    owner = owners.pop()
    owners.clear()
    assert faults.counts["quarantined"] == 1
    assert faults.is_quarantined((owner, "think"))


def test_methods_as_keys_are_kept():
    class Thinker:
        def think(self):
            raise ValueError

    faults, thinker = FaultIsolation(report=lambda fault: None), Thinker()
    ran = [faults.run((thinker.think, "x"), "think", 0, thinker.think) for _ in range(4)]
    assert ran == [False] * 4
    assert faults.is_quarantined((thinker.think, "x"))
