"""Any sequence of calls delivers what a plain list and a loop would deliver."""
from __future__ import annotations

import json
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event import EVERY_CODE
from ai_core.events.event_manager import EventManager

CODES = ("a", "b", "c")
SECONDS_PER_FRAME = 0.25  # a power of two: sums of delays are exact

codes = st.sampled_from(CODES)
places = st.one_of(st.none(), st.integers(-3, 3))
# delay, deadline after it, priority, position, is it sticky or has it a receipt
terms = st.tuples(
    st.integers(0, 3), st.one_of(st.none(), st.integers(0, 2)), st.integers(-1, 1), places,
    st.sampled_from(["", "sticky", "receipt"]))
plain_terms = st.just((0, None, 0, None, ""))
# once, only odd events, where the listener stands, priority, held weakly
interests = st.tuples(st.booleans(), st.booleans(), places, st.integers(-1, 1), st.booleans())
plain_interest = st.just((False, False, None, 0, False)) | st.just((False, False, None, 0, True))

# What a listener does while it is told: nothing, stop one, add one, send one.
reactions = st.one_of(
    st.just(("nothing",)),
    st.tuples(st.just("stop"), st.integers(0, 7)),
    st.tuples(st.just("listen"), st.tuples(codes), plain_interest),
    st.tuples(st.just("send"), codes, terms),
    st.tuples(st.just("tell"), codes, plain_terms))
listened = st.one_of(st.sets(codes, min_size=1).map(sorted), st.just([EVERY_CODE]))
commands = st.one_of(
    st.tuples(st.just("listen"), listened, plain_interest | interests, reactions),
    st.tuples(st.just("stop"), st.integers(0, 7)),
    st.tuples(st.just("free"), st.integers(0, 7)),
    st.tuples(st.just("send"), codes, plain_terms | terms),
    st.tuples(st.just("tell"), codes, plain_terms | terms),
    st.tuples(st.just("clear"), codes),
    st.tuples(st.just("reload")),
    st.tuples(st.just("frame"), st.one_of(st.none(), st.integers(0, 4))))


class Game:
    """The rules by which both sides act; ``log`` is what was delivered."""

    def __init__(self):
        self.log = []
        self.handles = []
        self.receipts = {}
        self.serial = 0
        self.depth = 0

    def run(self, script):
        for name, *arguments in script:
            getattr(self, name)(*arguments)

    def listen(self, codes, interest, reaction=("nothing",)):
        number = len(self.handles)
        self.handles.append(None)  # taken before anybody can be told
        self.add(list(codes), number, interest, reaction)

    def stop(self, number):
        if number < len(self.handles) and self.handles[number] is not None:
            self.remove(self.handles[number])

    def next_serial(self):
        self.serial += 1
        return self.serial

    def react(self, number, code, serial, reaction):
        self.log.append((number, code, serial))
        if reaction[0] in ("tell", "listen") and self.depth >= 2:
            return
        self.depth += 1
        getattr(self, reaction[0])(*reaction[1:])
        self.depth -= 1

    def nothing(self):
        """React not at all."""


class Ear:
    """Somebody who hears; who is held weakly lives no longer than the game keeps him."""

    def __init__(self, game, number, reaction):
        self.game, self.number, self.reaction = game, number, reaction

    def hear(self, event):
        serial, = event.arguments
        if event.receipt is not None:
            self.game.receipts[serial] = event.receipt
        self.game.react(self.number, event.code, serial, self.reaction)


class Ours(Game):
    def __init__(self):
        super().__init__()
        self.ears = {}
        self.clock = ManualClock(SECONDS_PER_FRAME)
        self.late = []
        self.events = EventManager(self.clock, when_late=lambda event, by: self.late.append((event.arguments[0], by)))

    def add(self, codes, number, interest, reaction):
        once, only_odd, place, priority, weak = interest
        ear = self.ears[number] = Ear(self, number, reaction)
        self.handles[number] = self.events.listen(
            codes, ear.hear, name=str(number), once=once, weak=weak,
            where=(lambda event: event.arguments[0] % 2) if only_odd else None,
            near=None if place is None else ((place, 0), 1.5), priority=priority)

    def remove(self, listening):
        listening.stop()

    def free(self, number):
        self.ears.pop(number, None)

    def send(self, code, terms):
        delay, margin, priority, place, traits = terms
        self.events.send(
            code, self.next_serial(), delay_s=delay * SECONDS_PER_FRAME, priority=priority,
            is_sticky=traits == "sticky", wants_receipt=traits == "receipt",
            deadline_s=None if margin is None else (delay + margin) * SECONDS_PER_FRAME,
            position=None if place is None else (place, 0))

    def tell(self, code, terms):
        *_, place, traits = terms
        position = None if place is None else (place, 0)
        self.events.send_now(code, self.next_serial(), position=position, is_sticky=traits == "sticky",
                             wants_receipt=traits == "receipt")

    def clear(self, code):
        self.events.clear_sticky(code)

    def reload(self):
        self.events.prepare_state(json.loads(json.dumps(self.events.save_state())))()

    def frame(self, steps):
        self.clock.advance()
        self.events.advance(Budget.unlimited() if steps is None else Budget.of_steps(steps))


class Reference(Game):
    """A list of registrations and a list of events, walked from the start each time."""

    def __init__(self):
        super().__init__()
        self.now = 0
        self.registered = []
        self.queue = []
        self.sticky = {}
        self.late = []

    def add(self, codes, number, interest, reaction):
        entry = {"codes": codes, "number": number, "interest": interest, "reaction": reaction, "on": True,
                 "gone": False}
        self.registered.append(entry)
        for event in list(self.sticky.values()):
            if self.hears(entry, event["code"]):
                self.call(entry, event)
        self.handles[number] = entry

    def remove(self, entry):
        entry["on"] = False

    def free(self, number):
        for entry in self.registered:
            if entry["number"] == number and entry["interest"][4]:
                entry["gone"] = True

    def event(self, code, terms):
        delay, margin, priority, place, traits = terms
        due = self.now + delay
        return {
            "serial": self.next_serial(), "code": code, "due": due, "place": place,
            "sticky": traits == "sticky", "receipt": traits == "receipt",
            "deadline": math.inf if margin is None else due + margin, "priority": priority, "rest": None}

    def send(self, code, terms):
        self.queue.append(self.event(code, terms))

    def tell(self, code, terms):
        event = self.event(code, (0, None, 0, *terms[3:]))
        for entry in self.interested(event):
            self.call(entry, event)

    def clear(self, code):
        self.sticky.pop(code, None)

    def reload(self):
        """Change nothing, as loading what was just saved should."""

    def hears(self, entry, code):
        return entry["on"] and (code in entry["codes"] or entry["codes"] == [EVERY_CODE])

    def interested(self, event):
        if event["sticky"]:
            self.sticky.pop(event["code"], None)
            self.sticky[event["code"]] = event
        found = [one for one in self.registered if self.hears(one, event["code"])]
        return sorted(found, key=lambda one: (-one["interest"][3], one["number"]))

    def call(self, entry, event):
        once, only_odd, place, _, _ = entry["interest"]
        if entry["gone"]:  # noticed when somebody wants to tell it
            entry["on"] = False
        is_far = place is not None and (event["place"] is None or abs(place - event["place"]) > 1.5)
        if entry["on"] and not is_far and (event["serial"] % 2 or not only_odd):
            entry["on"] = not once
            if event["receipt"]:
                self.receipts.setdefault(event["serial"], [])
            self.react(entry["number"], event["code"], event["serial"], entry["reaction"])
            if event["receipt"]:
                self.receipts[event["serial"]].append(str(entry["number"]))

    def frame(self, steps):
        self.now += 1
        left = 10**9 if steps is None else steps
        sent_before = self.serial
        while left > 0:
            due = [e for e in self.queue if e["due"] <= self.now and e["serial"] <= sent_before]
            if not due:
                return
            event = min(due, key=lambda e: (-e["priority"], e["deadline"], e["due"], e["serial"]))
            left -= 1
            if event["rest"] is None:
                event["rest"] = self.interested(event)
            if event["rest"]:
                self.call(event["rest"].pop(0), event)
            if not event["rest"]:
                self.queue.remove(event)
                if self.now > event["deadline"]:
                    self.late.append((event["serial"], (self.now - event["deadline"]) * SECONDS_PER_FRAME))


@settings(max_examples=80, deadline=None, derandomize=True, database=None)
@given(st.lists(commands, max_size=30))
def test_deliveries_are_those_of_a_plain_list_and_a_loop(script):
    ours, reference = Ours(), Reference()
    ours.run(script)
    reference.run(script)
    assert ours.log == reference.log
    assert ours.late == reference.late
    receipts = {serial: [one.name for one in receipt.deliveries] for serial, receipt in ours.receipts.items()}
    assert receipts == reference.receipts
    assert ours.events.counts.delivered == len(reference.log)
    assert ours.events.queue_length == len(reference.queue)
