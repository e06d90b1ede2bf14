"""Any sequence of polls is answered as a plain dict and a loop would answer it."""
from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_core.budget import Budget
from ai_core.clock import ManualClock
from ai_core.events.event_log import EventLog
from ai_core.events.polling_station import PollingStation

SECONDS_PER_FRAME = 0.25  # a power of two: sums are exact

NOTHING = "no fallback"
TOPICS = {  # lifetime in frames, in seconds, maximum keys, fallback, traits
    "frame": (1, None, 9, NOTHING, ""),
    "batch": (1, None, 9, NOTHING, "batch"),
    "three": (3, None, 2, "fallback", "batch"),
    "half a second": (None, 0.5, 3, "fallback", ""),
    "ever": (None, None, 40, NOTHING, "batch"),  # a sixteenth of it is more than one
    "never": (0, None, 9, NOTHING, "batch"),
    "never, safe": (0, None, 9, "fallback", "")}
keys = st.tuples(st.integers(0, 2), st.integers(0, 2))
wide_keys = st.tuples(st.integers(0, 60), st.just(0))
askers = st.sampled_from([0, 1, None])
steps = st.integers(0, 3)


def commands(topics):
    """What may happen to few topics, so that they meet."""
    codes = st.sampled_from(topics)
    many = st.tuples(st.just("poll_many"), codes, st.lists(keys, min_size=2, max_size=6), askers)
    wide = st.tuples(st.just("poll_many"), st.just("ever"), st.lists(wide_keys, min_size=20, max_size=30))
    one = st.tuples(st.just("poll"), codes, keys, askers)
    return st.one_of(
        one, one, many, wide if "ever" in topics else many,
        st.tuples(st.just("frame"), st.integers(1, 2)),
        st.tuples(st.just("begin"), steps),
        st.tuples(st.just("advance"), steps),
        st.tuples(st.just("invalidate"), codes, st.one_of(st.none(), keys)),
        st.tuples(st.just("log"), st.booleans()),
        st.tuples(st.just("reload")))


topics = st.lists(st.sampled_from(sorted(TOPICS)), min_size=1, max_size=2, unique=True)
scripts = topics.flatmap(lambda codes: st.lists(commands(codes), min_size=10, max_size=40))


class Ours:
    def __init__(self):
        self.computed, self.clock = [], ManualClock(SECONDS_PER_FRAME)
        self.station = self.new_station()

    def new_station(self):
        station = PollingStation(self.clock)
        for code, (frames, seconds, most, fallback, traits) in TOPICS.items():
            arguments = {"lifetime_frames": frames} if seconds is None else {"lifetime_s": seconds}
            if fallback != NOTHING:
                arguments["fallback"] = fallback
            if "batch" in traits:
                arguments["compute_many"] = lambda keys, code=code: [self.compute(code, key) for key in keys]
            station.add_topic(
                code, lambda *key, code=code: self.compute(code, key), max_keys=most, **arguments)
        return station

    def compute(self, code, key):
        self.computed.append((code, key))
        return [code, key, self.clock.now.frame]

    def poll(self, code, key, asker):
        answer = self.station.poll_with_age(code, *key, asker=asker)
        assert self.station.clock.now.frame - (answer.age_frames or 0) >= 0
        if answer.how not in ("stale", "fallback") and not code.startswith("never"):
            counted = self.station.statistics()
            assert self.station.poll_as(asker, code, *key) == answer.value
            hits = sum(one.hits for one in self.station.statistics())
            assert hits == sum(one.hits for one in counted) + 1
        return answer

    def poll_many(self, code, keys, asker=None):
        return self.station.poll_many(code, keys, asker=asker)

    def frame(self, frames):
        self.clock.advance(frames)

    def begin(self, steps):
        self.station.begin_frame(Budget.of_steps(steps))

    def advance(self, steps):
        self.station.advance(Budget.of_steps(steps))

    def invalidate(self, code, key):
        self.station.invalidate(code, *(key or ()))

    def log(self, is_on):
        self.station.log = EventLog(5) if is_on else None

    def reload(self):
        state = json.loads(json.dumps(self.station.save_state()))
        self.station = self.new_station()
        self.station.prepare_state(state)()
        assert self.station.save_state() == state


class Reference:
    """Answers by code and key in one dict, the oldest first; walked from the start each time."""

    def __init__(self):
        self.frame_now, self.left, self.allowed_frame = 0, None, -1
        self.kept, self.waiting, self.computed = {}, [], []

    def is_fresh(self, code, key):
        if (code, key) not in self.kept:
            return False
        frames, seconds = TOPICS[code][:2]
        _, computed_at, is_valid = self.kept[code, key]
        age = self.frame_now - computed_at
        if seconds is not None:
            return is_valid and age * SECONDS_PER_FRAME < seconds
        return is_valid and (frames is None or age < frames)

    def compute(self, code, keys):
        answers = []
        for key in keys:
            self.computed.append((code, key))
            answers.append([code, key, self.frame_now])
        if TOPICS[code][0] != 0:
            for key, answer in zip(keys, answers, strict=True):
                self.kept.pop((code, key), None)
                self.kept[code, key] = (answer, self.frame_now, True)
                self.waiting = [one for one in self.waiting if one != (code, key)]
            if "batch" in TOPICS[code][4] or len(keys) == 1:
                self.drop_oldest(code)
        return answers

    def drop_oldest(self, code):
        most, here = TOPICS[code][2], [one for one in self.kept if one[0] == code]
        if len(here) > most:
            for one in here[: max(len(here) - most, most // 16)]:
                if self.kept[one][1] == self.frame_now:
                    return
                del self.kept[one]

    def allowed(self):
        return 99 if self.allowed_frame != self.frame_now else self.left

    def poll(self, code, key, asker):
        if self.is_fresh(code, key):
            answer, computed_at, _ = self.kept[code, key]
            return (answer, self.frame_now - computed_at, "cached")
        fallback = TOPICS[code][3]
        old = self.kept.get((code, key))
        if self.allowed() > 0 or (old is None and fallback == NOTHING):
            self.spend(1)
            return (self.compute(code, [key])[0], 0, "computed")
        self.wait(code, key)
        if old is not None:
            return (old[0], self.frame_now - old[1], "stale")
        return (fallback, None, "fallback")

    def spend(self, count):
        if self.left is not None and self.allowed_frame == self.frame_now:
            self.left -= count

    def wait(self, code, key):
        waiting = [one for one in self.waiting if one[0] == code]
        if TOPICS[code][0] != 0 and len(waiting) < TOPICS[code][2] and (code, key) not in waiting:
            self.waiting.append((code, key))

    def poll_many(self, code, keys, asker=None):
        values = {key: self.kept[code, key][0] for key in keys if self.is_fresh(code, key)}
        values |= self.answer_missing(code, [key for key in dict.fromkeys(keys) if key not in values])
        return [values[key] for key in keys]

    def answer_missing(self, code, missing):
        now, rest = missing[: max(0, self.allowed())], missing[max(0, self.allowed()) :]
        parts = [now] if "batch" in TOPICS[code][4] and now else [[one] for one in now]
        told = {}
        for part in parts:
            self.spend(len(part))
            told |= dict(zip(part, self.compute(code, part), strict=True))
        old = {key: self.kept[code, key][0] for key in rest if (code, key) in self.kept}
        if TOPICS[code][3] == NOTHING:
            helpless = [key for key in rest if key not in old]
            for part in [helpless] if "batch" in TOPICS[code][4] and helpless else [[one] for one in helpless]:
                self.spend(len(part))
                told |= dict(zip(part, self.compute(code, part), strict=True))
        for key in rest:
            if key not in told:
                self.wait(code, key)
                told[key] = old.get(key, TOPICS[code][3])
        return told

    def frame(self, frames):
        self.frame_now += frames

    def begin(self, steps):
        self.left = steps - self.work_off(steps)
        self.allowed_frame = self.frame_now

    def advance(self, steps):
        self.work_off(steps)

    def work_off(self, steps):
        spent = 0
        while self.waiting and spent < steps:
            code, key = self.waiting.pop(0)
            part = [key]
            while "batch" in TOPICS[code][4] and self.waiting and self.waiting[0][0] == code and (
                len(part) < steps - spent):
                part.append(self.waiting.pop(0)[1])
            part = [one for one in part if not self.is_fresh(code, one)]
            if part:
                spent += len(part)
                self.compute(code, part)
        return spent

    def invalidate(self, code, key):
        for one, (answer, computed_at, _) in list(self.kept.items()):
            if one[0] == code and key in (None, one[1]):
                self.kept[one] = (answer, computed_at, False)

    def log(self, is_on):
        """A log changes nothing."""

    def reload(self):
        self.left = None


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(scripts)
def test_polls_are_answered_as_a_plain_dict_would(script):
    ours, reference = Ours(), Reference()
    for name, *arguments in script:
        if name == "reload":  # what a frame may still compute is not saved: between frames
            ours.frame(1)
            reference.frame(1)
        assert getattr(ours, name)(*arguments) == getattr(reference, name)(*arguments), (name, arguments)
        assert ours.computed == reference.computed
        assert ours.station.waiting == len(reference.waiting)
        assert sum(row.keys for row in ours.station.statistics()) == len(reference.kept)
    ours.frame(1)
    for code in TOPICS:
        ours.station.invalidate(code)
        ours.station.poll(code, 0, 0)
    rows = ours.station.statistics()
    assert all(row.keys <= TOPICS[row.code][2] and row.waiting <= TOPICS[row.code][2] for row in rows)
    assert sum(row.computations for row in rows) == len(ours.computed)
