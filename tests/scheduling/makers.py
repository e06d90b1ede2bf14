"""Schedulers of each policy, made as by a class."""
from __future__ import annotations

from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler


def frequency(clock, **settings):
    return Scheduler(clock, policy=Policy.FREQUENCY, **settings)


def load_balancing(clock, **settings):
    return Scheduler(clock, policy=Policy.LOAD_BALANCING, **settings)


def priority(clock, **settings):
    return Scheduler(clock, policy=Policy.PRIORITY, **settings)


def requested_time(clock, **settings):
    return Scheduler(clock, policy=Policy.REQUESTED_TIME, **settings)
