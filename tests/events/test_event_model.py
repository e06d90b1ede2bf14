"""Any sequence of calls delivers what a plain list and a loop would deliver."""
from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_manager import EventManager

CODES = ("a", "b", "c")
SECONDS_PER_FRAME = 0.25  # a power of two: sums of delays are exact

# What a listener does while it is told: nothing, stop one, add one, send one.
reactions = st.one_of(
    st.just(("nothing",)),
    st.tuples(st.just("stop"), st.integers(0, 7)),
    st.tuples(st.just("listen"), st.sampled_from(CODES)),
    st.tuples(st.just("send"), st.sampled_from(CODES), st.integers(0, 2)),
    st.tuples(st.just("tell"), st.sampled_from(CODES)),
)
commands = st.one_of(
    st.tuples(st.just("listen"), st.sets(st.sampled_from(CODES), min_size=1), reactions),
    st.tuples(st.just("stop"), st.integers(0, 7)),
    st.tuples(st.just("send"), st.sampled_from(CODES), st.integers(0, 3)),
    st.tuples(st.just("tell"), st.sampled_from(CODES)),
    st.tuples(st.just("frame"), st.one_of(st.none(), st.integers(0, 4))),
)


class Game:
    """The rules by which both sides act; ``log`` is what was delivered."""

    def __init__(self):
        self.log = []
        self.handles = []
        self.serial = 0
        self.depth = 0

    def run(self, script):
        for name, *arguments in script:
            getattr(self, name)(*arguments)

    def listen(self, codes, reaction=("nothing",)):
        number = len(self.handles)
        self.handles.append(None)  # taken before anybody can be told
        self.handles[number] = self.add(sorted(codes), number, reaction)

    def stop(self, number):
        if number < len(self.handles):
            self.remove(self.handles[number])

    def next_serial(self):
        self.serial += 1
        return self.serial

    def react(self, number, code, serial, reaction):
        self.log.append((number, code, serial))
        if reaction[0] == "tell" and self.depth >= 2:
            return
        self.depth += 1
        getattr(self, reaction[0])(*reaction[1:])
        self.depth -= 1

    def nothing(self):
        """React not at all."""


class Ours(Game):
    def __init__(self):
        super().__init__()
        self.clock = ManualClock(SECONDS_PER_FRAME)
        self.events = EventManager(self.clock)

    def add(self, codes, number, reaction):
        return self.events.listen(
            codes, lambda event: self.react(number, event.code, event.arguments[0], reaction)
        )

    def remove(self, listening):
        listening.stop()

    def send(self, code, frames):
        self.events.send(code, self.next_serial(), delay_s=frames * SECONDS_PER_FRAME)

    def tell(self, code):
        self.events.send_now(code, self.next_serial())

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
        self.rest = []

    def add(self, codes, number, reaction):
        entry = {"codes": codes, "number": number, "reaction": reaction, "on": True}
        self.registered.append(entry)
        return entry

    def remove(self, entry):
        entry["on"] = False

    def send(self, code, frames):
        self.queue.append((self.now + frames, self.next_serial(), code))

    def tell(self, code):
        serial = self.next_serial()
        for entry in self.interested(code):
            self.call(entry, code, serial)

    def interested(self, code):
        return [one for one in self.registered if one["on"] and code in one["codes"]]

    def call(self, entry, code, serial):
        if entry["on"]:
            self.react(entry["number"], code, serial, entry["reaction"])

    def frame(self, steps):
        self.now += 1
        left = 10**9 if steps is None else steps
        sent_before = self.serial
        while left > 0:
            if self.rest:
                left -= 1
                self.call(*self.rest.pop(0))
                continue
            due = sorted(e for e in self.queue if e[0] <= self.now and e[1] <= sent_before)
            if not due:
                return
            self.queue.remove(due[0])
            _, serial, code = due[0]
            self.rest = [(entry, code, serial) for entry in self.interested(code)]
            left -= not self.rest


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.lists(commands, max_size=30))
def test_deliveries_are_those_of_a_plain_list_and_a_loop(script):
    ours, reference = Ours(), Reference()
    ours.run(script)
    reference.run(script)
    assert ours.log == reference.log
    assert ours.events.queue_length == len(reference.queue) + bool(reference.rest)
