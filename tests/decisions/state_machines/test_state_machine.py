"""One character, one state at a time: events, guards, history, time."""
from __future__ import annotations

import math

import pytest

from ai_core.budget import Budget
from ai_core.clock import ManualClock, TimeIndex
from ai_core.decisions.state_machine import MOST_EVENTS_AT_ONCE, StateMachine
from ai_core.decisions.state_machine_definition import PREVIOUS, History, State, StateMachineDefinition, Transition
from ai_core.errors import UnknownNameError
from ai_core.faults import FaultIsolation
from ai_core.scheduling.policies import Policy
from ai_core.scheduling.scheduler import Scheduler
from ai_core.trace import Trace


def told(diary, what):
    return lambda machine: diary.append(what)


def state(diary, name, *states):
    enter, update, exit = (told(diary, f"{mark}{name}") for mark in "+=-")
    return State(name, states, enter=enter, update=update, exit=exit)


def guard(diary, **more):
    """A guard: at peace idle or on patrol, or hostile: alert or in combat."""
    definition = StateMachineDefinition(
        "guard",
        [
            state(diary, "peace", state(diary, "idle"), state(diary, "patrol")),
            state(diary, "hostile", state(diary, "alert"), state(diary, "combat"))],
        [
            Transition("noise", "peace", "hostile"),
            Transition("bored", "peace/idle", "peace/patrol", action=told(diary, "whistles")),
            Transition("see", None, "hostile/combat"),
            Transition("calm", "hostile", "peace", history=History.DEEP)])
    return StateMachine(definition, **more)


@pytest.fixture
def diary():
    return []


def test_machine_enters_initial_states_on_its_first_event(diary):
    machine = guard(diary)
    assert machine.state == ""
    assert machine.send("bored") is True
    assert diary == ["+peace", "+idle", "-idle", "whistles", "+patrol"]
    assert (machine.state, machine.previous_state) == ("peace/patrol", "peace/idle")


def test_an_event_that_leads_nowhere_from_here_changes_nothing(diary):
    machine = guard(diary)
    machine.start()
    diary.clear()
    assert machine.send("calm") is False
    assert diary == []


def test_states_exit_from_inside_out_and_enter_from_outside_in(diary):
    machine = guard(diary)
    machine.start()
    diary.clear()
    machine.send("see")
    assert diary == ["-idle", "-peace", "+hostile", "+combat"]
    assert machine.is_in("hostile")
    assert machine.is_in("hostile/combat")
    assert not machine.is_in("peace")


def test_history_leads_back_to_where_it_was(diary):
    machine = guard(diary)
    machine.send("bored")
    machine.send("see")
    machine.send("calm")
    assert machine.state == "peace/patrol"


@pytest.mark.parametrize(("history", "state"), [
    (None, "work/talk"), (History.SHALLOW, "work/dig/down"), (History.DEEP, "work/dig/up")])
def test_shallow_history_restores_one_level_and_deep_all_levels(history, state):
    machine = StateMachine(StateMachineDefinition(
        "digger", [State("work", [State("talk"), State("dig", [State("down"), State("up")])]), State("rest")],
        [
            Transition("lift", None, "work/dig/up"), Transition("tire", "work", "rest"),
            Transition("wake", "rest", "work", history=history)]))
    for event in ("lift", "tire", "wake"):
        machine.send(event)
    assert machine.state == state


def test_previous_restores_the_last_state_and_at_first_none(diary):
    machine = StateMachine(StateMachineDefinition(
        "boxer", [State("stand"), State("duck"), State("stunned")],
        [
            Transition("duck", "stand", "duck"), Transition("hit", None, "stunned"),
            Transition("recover", None, PREVIOUS)]))
    assert machine.send("recover") is False
    machine.send("duck")
    machine.send("hit")
    machine.send("recover")
    assert machine.state == "duck"


def test_first_allowed_transition_is_taken_inner_states_first():
    brave = {"bob"}
    machine = StateMachine(StateMachineDefinition(
        "soldier",
        [State("calm", [State("post")]), State("fight"), State("flee")],
        [
            Transition("enemy", "calm", "flee"),
            Transition("enemy", "calm/post", "fight", guard=lambda machine: machine.owner in brave)],
    ), owner="bob")
    machine.send("enemy")
    assert machine.state == "fight"
    coward = StateMachine(machine.definition, owner="tim")
    coward.send("enemy")
    assert coward.state == "flee"


def test_a_transition_without_target_stays_and_only_acts(diary):
    machine = StateMachine(StateMachineDefinition(
        "door", [state(diary, "shut", state(diary, "locked")), state(diary, "open")],
        [
            Transition("knock", "shut", None, action=lambda machine: diary.append((machine.event, machine.payload))),
            Transition("push", "shut", "open"),
            Transition("push", "shut/locked", None)]))
    machine.start()
    diary.clear()
    assert machine.send("knock", 3) is True
    assert diary == [("knock", 3)]
    assert (machine.event, machine.payload) == (None, None)
    assert machine.send("push") is False
    assert machine.state == "shut/locked"


def test_a_transition_to_itself_leaves_and_enters(diary):
    machine = StateMachine(StateMachineDefinition(
        "one", [state(diary, "a")], [Transition("again", "a", "a")]))
    machine.start()
    machine.update(1.0)
    assert machine.time_in_state_s == 1.0
    diary.clear()
    machine.send("again")
    assert diary == ["-a", "+a"]
    assert (machine.time_in_state_s, machine.previous_state) == (0.0, "")


def test_event_sent_during_a_transition_waits_until_it_ends(diary):
    def enter(machine):
        diary.append(machine.send("on", "sent"))
        diary.append("entered b")

    machine = StateMachine(StateMachineDefinition(
        "chain", [State("a"), State("b", enter=enter), State("c", enter=lambda machine: diary.append(machine.payload))],
        [Transition("go", "a", "b"), Transition("on", "b", "c")]))
    assert machine.send("go") is True
    assert diary == [None, "entered b", "sent"]
    assert machine.state == "c"


def test_waiting_events_are_settled_in_the_order_sent():
    def enter(machine):
        machine.send("second")
        machine.send("third")

    machine = StateMachine(StateMachineDefinition(
        "chain", [State("a"), State("b", enter=enter), State("c"), State("d"), State("wrong")],
        [
            Transition("go", "a", "b"), Transition("second", "b", "c"), Transition("third", "c", "d"),
            Transition("third", "b", "wrong")]))
    machine.send("go")
    assert (machine.state, machine.previous_state) == ("d", "c")


def test_circular_events_are_cut_off_and_reported():
    reports = []
    machine = StateMachine(
        StateMachineDefinition(
            "spinner",
            [State("a", enter=lambda m: m.send("go")), State("b", enter=lambda m: m.send("go"))],
            [Transition("go", "a", "b"), Transition("go", "b", "a")]),
        name="bob", faults=FaultIsolation(report=reports.append))
    machine.start()
    assert [one.name for one in reports] == ["bob: its own events"]
    assert f"more than {MOST_EVENTS_AT_ONCE} events at once" in str(reports[0].error)
    assert not machine.is_busy


def test_updates_call_active_states_from_the_outside_in(diary):
    machine = guard(diary)
    machine.update(0.5)
    assert diary == ["+peace", "+idle", "=peace", "=idle"]
    assert machine.elapsed_s == 0.5


def test_state_times_out_on_time_however_rarely_it_is_updated():
    definition = StateMachineDefinition(
        "lamp", [State("on"), State("off")],
        [Transition(None, "on", "off", after_s=2.0), Transition(None, "off", "on", guard=lambda m: m.owner["is_dark"])])
    lamp = StateMachine(definition, owner={"is_dark": False})
    lamp.update(1.0)
    lamp.update(0.5)
    assert lamp.state == "on"
    lamp.update(30.0)
    assert lamp.state == "off"
    lamp.update(0.1)
    lamp.owner["is_dark"] = True
    lamp.update(0.1)
    assert lamp.state == "on"


def test_time_of_an_outer_state_goes_on_while_inner_ones_change():
    definition = StateMachineDefinition(
        "alarm", [State("loud", [State("high"), State("low")]), State("quiet")],
        [Transition("swap", "loud/high", "loud/low"), Transition(None, "loud", "quiet", after_s=1.0)])
    machine = StateMachine(definition)
    machine.update(0.0)
    machine.update(0.75)
    machine.send("swap")
    machine.update(0.25)
    assert machine.state == "quiet"


def test_with_a_clock_the_time_of_an_event_is_exact():
    clock = ManualClock()
    machine = StateMachine(StateMachineDefinition(
        "a", [State("a"), State("b")], [Transition("go", "a", "b"), Transition(None, "b", "a", after_s=1.0)],
    ), clock=clock)
    machine.start()
    clock.advance(seconds=10.0)
    machine.send("go")
    clock.advance(seconds=0.5)
    machine.update(10.5)
    assert machine.state == "b"
    clock.advance(seconds=0.5)
    machine.update(0.5)
    assert machine.state == "a"


def test_a_scheduler_runs_it_as_work(diary):
    clock = ManualClock(0.5)
    scheduler = Scheduler(clock, policy=Policy.FREQUENCY)
    machine = guard(diary, clock=clock)
    scheduler.add(machine, period_frames=2, phase_frames=0)
    for _ in range(4):
        clock.advance()
        scheduler.advance(Budget.unlimited())
    assert diary == ["+peace", "+idle", "=peace", "=idle", "=peace", "=idle"]
    assert machine.elapsed_s == 1.0


def test_stop_leaves_all_states_and_the_next_event_starts_over(diary):
    machine = guard(diary)
    machine.send("see")
    diary.clear()
    machine.stop()
    assert diary == ["-combat", "-hostile"]
    assert (machine.state, machine.previous_state) == ("", "")
    machine.stop()
    machine.send("noise")
    assert diary[2:] == ["+peace", "+idle", "-idle", "-peace", "+hostile", "+alert"]


def test_stop_inside_a_callback_waits_until_events_are_settled(diary):
    def enter(machine):
        machine.stop()
        machine.send("on")

    machine = StateMachine(StateMachineDefinition(
        "x", [State("a"), State("b", enter=enter), state(diary, "c")],
        [Transition("go", "a", "b"), Transition("on", "b", "c")]))
    machine.send("go")
    assert diary == ["+c", "-c"]
    assert machine.state == ""


def test_the_trace_is_told_each_state_that_begins_and_why(diary):
    told_states = []

    class Listener:
        def state_entered(self, *what):
            told_states.append(what)

    trace, clock = Trace(), ManualClock()
    trace.listen(Listener())
    machine = guard(diary, name="bob", trace=trace, clock=clock)
    machine.start()
    clock.advance(seconds=2.0)
    machine.send("see")
    assert told_states == [
        ("bob", "peace", "start", TimeIndex(0, 0.0)), ("bob", "peace/idle", "start", TimeIndex(0, 0.0)),
        ("bob", "hostile", "see", TimeIndex(1, 2.0)), ("bob", "hostile/combat", "see", TimeIndex(1, 2.0))]


def test_raising_hook_is_raised_when_the_machine_is_consistent(diary):
    class Broken:
        def state_entered(self, *what):
            raise RuntimeError("broken tool")

    trace = Trace()
    trace.listen(Broken())
    machine = guard(diary, trace=trace)
    with pytest.raises(RuntimeError, match="broken tool"):
        machine.start()
    assert machine.state == "peace/idle"
    assert not machine.is_busy


@pytest.mark.parametrize(
    ("event", "error", "says"),
    [
        ("nois", UnknownNameError, "unknown event of 'guard' 'nois'; did you mean 'noise'?"),
        (None, TypeError, "an event of 'guard' must be a string, got None"),
        (["noise"], TypeError, "must be a string")])
def test_unknown_events_are_refused_before_after_and_inside(diary, event, error, says):
    machine = guard(diary)
    for _ in range(2):
        with pytest.raises(error) as raised:
            machine.send(event)
        assert says in str(raised.value)
        machine.start()


@pytest.mark.parametrize("elapsed_s", [math.nan, math.inf, -0.1, True, "1"])
def test_time_must_be_a_time(diary, elapsed_s):
    with pytest.raises((TypeError, ValueError), match="elapsed_s must be"):
        guard(diary).update(elapsed_s)


def test_misuse_is_told_at_the_call(diary):
    machine = guard(diary)
    with pytest.raises(TypeError, match="definition must be a StateMachineDefinition"):
        StateMachine("guard")
    with pytest.raises(TypeError, match=r"call update\(elapsed_s\)"):
        machine.advance(0.1)
    with pytest.raises(UnknownNameError, match="unknown state of 'guard' 'peac'; did you mean 'peace'"):
        machine.is_in("peac")


def test_updating_or_saving_from_inside_a_callback_is_an_error():
    errors = []

    def enter(machine):
        for call in (lambda: machine.update(0.1), machine.save_state, lambda: machine.prepare_state({})):
            with pytest.raises(RuntimeError) as raised:
                call()
            errors.append(str(raised.value))

    StateMachine(StateMachineDefinition("x", [State("a", enter=enter)])).start()
    assert "updated from inside one of its own callbacks" in errors[0]
    assert all("save and load between two frames" in one for one in errors[1:])


def test_the_text_shows_what_is_active_since_when_and_why(diary):
    machine = guard(diary, name="bob")
    assert machine.to_text().splitlines()[0] == "bob: in no state; it begins with start, send or update"
    machine.send("noise")
    machine.update(1.5)
    assert machine.to_text().splitlines() == [
        "bob", "  peace", "    idle", "    patrol",
        "* hostile", "  * alert: for 1.50 s, noise; waits for see, calm", "    combat"]


def test_ten_thousand_machines_share_one_definition(diary):
    first = guard(diary)
    crowd = [StateMachine(first.definition) for _ in range(100)]
    for machine in crowd[::2]:
        machine.send("see")
    assert [machine.state for machine in crowd[:3]] == ["hostile/combat", "", "hostile/combat"]
