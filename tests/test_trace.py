"""Trace hooks: who is told what?"""
from __future__ import annotations

from types import SimpleNamespace

import pytest

from ai_core.trace import HOOK_NAMES, Trace


def call(hooks, *arguments):
    for hook in hooks:
        hook(*arguments)


def test_nobody_listens_at_first():
    trace = Trace()
    assert [getattr(trace, name) for name in HOOK_NAMES] == [()] * len(HOOK_NAMES)


def test_a_listener_is_told_only_what_it_has_methods_for():
    trace, told = Trace(), []
    trace.listen(SimpleNamespace(before_task=lambda *what: told.append(what)))
    call(trace.before_task, "think", 1)
    call(trace.after_task, "think", 1, 20.0)
    assert told == [("think", 1)]


def test_listeners_are_told_in_the_order_they_came():
    trace, told = Trace(), []
    for name in "ab":
        trace.listen(SimpleNamespace(sensed=lambda name=name: told.append(name)))
    call(trace.sensed)
    assert told == ["a", "b"]


def test_who_stops_listening_is_told_nothing_more():
    trace, told = Trace(), []
    listeners = [SimpleNamespace(sensed=lambda name=name: told.append(name)) for name in "ab"]
    for listener in listeners:
        trace.listen(listener)
    trace.unlisten(listeners[0])
    call(trace.sensed)
    assert told == ["b"]


def test_a_listener_without_a_known_method_is_refused():
    with pytest.raises(ValueError, match="has no hook method; define at least one of"):
        Trace().listen(SimpleNamespace(before_tusk=print))


def test_nobody_listens_twice():
    trace, listener = Trace(), SimpleNamespace(sensed=print)
    trace.listen(listener)
    with pytest.raises(ValueError, match="is already listening"):
        trace.listen(listener)


def test_who_does_not_listen_cannot_stop():
    with pytest.raises(ValueError, match="is not listening"):
        Trace().unlisten(object())
