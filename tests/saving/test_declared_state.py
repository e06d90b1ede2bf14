"""A declared state is saved, checked whole, and loaded; what is wrong is refused with its place."""
from __future__ import annotations

import copy
import json
import math
from collections import deque
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_core.clock import TimeIndex
from ai_core.saving.declared_state import ClockNow, DeclaredState, Hook, Part, Same, Saveable
from ai_core.saving.fields import LeftOutError, StateError
from ai_core.saving.kinds import (
    ArrayOf,
    ByName,
    Chosen,
    Columns,
    Flag,
    GameValue,
    ListOf,
    MapOf,
    Moment,
    Named,
    Number,
    OneOf,
    OneRecordOf,
    Optional,
    PackedArray,
    Point,
    Record,
    Row,
    Seconds,
    Text,
    Whole,
)
from ai_core.saving.values import SavedValues


class Wound(NamedTuple):
    place: str
    depth: float


class Scar(NamedTuple):
    since_s: float


class Page(NamedTuple):
    name: str
    tasks: list[str]
    path: np.ndarray
    wound: Wound | None


class Wallet(Saveable):
    STATE = DeclaredState(coins=Whole(0, 1000))

    def __init__(self):
        self.coins = 3


class Shield:
    def __init__(self, title):
        self.title = title


class Table:
    def __init__(self):
        self.ids, self.heat = np.array([1, 2], np.int32), np.array([0.5, math.nan])


VALUES = SavedValues()
PAGE_STATE = Record(
    Page, name=Text(), tasks=ListOf(OneOf(("sweep", "ride"))), path=ArrayOf(shape=(None, 2)),
    wound=Optional(Chosen(lambda knight: Record(Wound, place=Text(), depth=Number(0, knight.most)))))
TRAITS = {"age": Whole(), "nickname": Text()}


class Knight(Saveable):
    """A class with a field of every kind."""

    STATE = DeclaredState(
        number=Number(0, lambda knight: knight.most), far=Number(absent=math.inf), until_s=Seconds(),
        level=Whole(0, lambda knight: len(knight.ranks) - 1, at="_level"), is_awake=Flag(), title=Text(),
        rank=OneOf(lambda knight: knight.ranks), born=Moment(TimeIndex), horse=Optional(Text()),
        wounds=ListOf(Row(Wound, Text(), Number(0, 9)), make=deque),
        oath=Optional(Record(Wound, place=Text(), depth=Number())),
        friends=ListOf(Whole(), make=set), since=MapOf(Seconds(), key=Whole()), skills=MapOf(Number(0, 1)),
        counts=MapOf(Whole(), names=("hits", "misses")), home=Point(2), path=ArrayOf(shape=(None, 2)),
        flags=ArrayOf(np.bool_, shape=lambda knight: (2,)), table=Columns(
            ids=ArrayOf(np.int32, minimum=0), heat=ArrayOf(absent=math.nan)),
        memory=GameValue(), wallet=Part(), ranks=Same(),
        lord=Hook(), ids=ArrayOf(np.int32, is_ascending=True), names=ArrayOf(object),
        land=PackedArray(np.float32, shape=lambda knight: (2, 3), minimum=0, maximum=0.1, absent=math.nan),
        mark=OneRecordOf(wound=Record(Wound, place=Text(), depth=Number()), scar=Record(Scar, since_s=Seconds())),
        oldest=Chosen(lambda knight: knight.year), chests=Part(), facts=GameValue(VALUES),
        pages=ListOf(PAGE_STATE), traits=MapOf(lambda knight, name: TRAITS[name], names=("age", "nickname")),
        now=ClockNow(at="clock_now"), scores=ByName(Whole(0, 9), lambda knight: knight.games),
        spoils=ListOf(GameValue(), make=tuple),
        duels=ListOf(Row(Wound, Text(), Number()), unique=lambda wound: wound.place),
        shields=ListOf(Named(lambda knight: knight.armoury, "shield", name=lambda shield: shield.title)))

    def __init__(self):
        self.most, self.ranks, self.values, self.loads = 10.0, ("page", "squire"), SavedValues(), 0
        self.number, self.far, self.until_s, self._level, self.is_awake = 1.5, math.inf, 4.0, 1, True
        self.title, self.rank, self.born, self.horse = "Sir", "page", TimeIndex(3, 0.05), None
        self.wounds, self.oath, self.friends = deque([Wound("arm", 1.0)]), Wound("word", 2.0), {7, 3}
        self.since, self.skills, self.counts = {4: 1.0, 2: 0.5}, {"lance": 0.5}, {"hits": 1, "misses": 0}
        self.home, self.path, self.flags = (1.0, 2.0), np.zeros((0, 2)), np.array([True, False])
        self.ids = np.array([1, 4], np.int32)
        self.table, self.memory, self.wallet, self.lord_name = Table(), {"seen": (1, 2)}, Wallet(), "Arthur"
        self.pages = [
            Page("Tor", ["ride"], np.zeros((2, 2)), None),
            Page("Gil", ["ride", "sweep"], np.ones((1, 2)), Wound("", 1.0))]
        self.names, self.land = np.array(["Bors"], object), np.array([[0, 0.1, math.nan]] * 2, np.float32)
        self.mark, self.year, self.oldest, self.facts = Scar(3.0), Whole(0, 1500), 1066, (1, 2)
        self.chests, self.traits = {"oak": Wallet(), "elm": Wallet()}, {"age": 30, "nickname": "Bo"}
        self.clock_now = TimeIndex(4, 0.2)
        self.games, self.scores, self.spoils = ("dice", "chess"), [3, 4], (1, ("gold", 2))
        self.duels, self.is_fighting = [Wound("hall", 1.0), Wound("yard", 1.0)], False
        self.armoury = {name: Shield(name) for name in ("oak", "iron")}
        self.shields = [self.armoury["iron"]]

    def _check_at_rest(self):
        if self.is_fighting:
            raise RuntimeError("in a fight")

    def _save_lord(self):
        return self.lord_name

    def _prepare_lord(self, plain, place):
        return lambda: setattr(self, "lord_name", plain)

    def _check_state(self, values, refuse):
        if values.number > values.until_s:
            refuse("number", "is after until_s")

    def _finish_load(self):
        self.loads += 1


def test_every_kind_comes_back_as_it_was():
    first, second = Knight(), Knight()
    first.number, first.far, first._level, first.rank, first.horse = 2.0, 7.5, 0, "squire", "Gringolet"
    first.wounds.append(Wound("leg", 2.0))
    first.friends, first.path, first.wallet.coins = {1}, np.arange(4.0).reshape(2, 2), 9
    first.names, first.land = np.array(["Kay", "Percival"], object), np.zeros((2, 3), np.float32)
    first.pages = [first.pages[1], first.pages[0], first.pages[1]]
    first.mark, first.oldest, first.chests["elm"].coins = Wound("eye", 0.5), 7, 5
    first.table.ids, first.lord_name = np.array([5, 6], np.int32), "Mark"
    first.scores, first.spoils, first.shields = [0, 1], ({1}, "ring"), [first.armoury["oak"]]
    second.games = ("chess", "dice")
    saved = json.loads(json.dumps(first.save_state(), allow_nan=False))
    wallet, table, chest = second.wallet, second.table, second.chests["elm"]
    second.prepare_state(saved)()
    assert second.save_state() == first.save_state() == saved
    assert (second.scores, second.spoils, second.shields) == ([1, 0], ({1}, "ring"), [second.armoury["oak"]])
    assert (second.wounds, second.friends, second.since) == (first.wounds, {1}, {4: 1.0, 2: 0.5})
    assert type(second.wounds) is deque
    assert isinstance(second.wounds[0], Wound)
    assert (second.path.shape, second.table.heat.dtype, second.memory) == ((2, 2), np.float64, {"seen": (1, 2)})
    assert second.table is table
    assert (second.names.tolist(), second.land.tolist()) == (["Kay", "Percival"], [[0.0] * 3] * 2)
    assert [one.path.tolist() for one in second.pages] == [[[1, 1]], [[0, 0], [0, 0]], [[1, 1]]]
    assert [(one.name, one.tasks, one.wound) for one in second.pages[:2]] == [
        ("Gil", ["ride", "sweep"], Wound("", 1.0)), ("Tor", ["ride"], None)]
    assert (second.mark, second.oldest, second.facts) == (Wound("eye", 0.5), 7, (1, 2))
    assert (second.chests["elm"] is chest, chest.coins) == (True, 5)
    assert (second.wallet is wallet, wallet.coins, second.lord_name, second.loads) == (True, 9, "Mark", 1)


def packed(numbers):
    return PackedArray(np.float32).save(np.array(numbers, np.float32), None)


@pytest.mark.parametrize(("place", "value", "message"), [
    (("version",), 2, "'version' is 2, and this ai_core reads up to 1; update ai_core to load it"),
    (("number",), 11, "'number' must be at most 10, got 11.0"),
    (("number",), 5, "'number' is after until_s"),
    (("number",), None, "'number' must be a finite number, got None"),
    (("level",), 2, "'level' must be at most 1, got 2"),
    (("level",), True, "'level' must be an integer, got True"),
    (("is_awake",), 1, "'is_awake' must be true or false, got 1"),
    (("title",), 3, "'title' must be a string, got 3"),
    (("rank",), "king", "'rank' must be 'page' or 'squire', got 'king'"),
    (("born",), [1], "'born' must be a list of 2 items, got a list of 1"),
    (("born", 0), -1, "'born[0]' must be at least 0, got -1"),
    (("wounds", 0, 1), 10, "'wounds[0][1]' must be at most 9, got 10.0"),
    (("oath", "depth"), "deep", "'oath.depth' must be a finite number, got 'deep'"),
    (("since", 1, 0), 4, "'since[1][0]' occurs twice: 4"),
    (("skills", "lance"), 2, "'skills.lance' must be at most 1, got 2.0"),
    (("counts",), {"hits": 1}, "'counts.misses' is missing"),
    (("counts",), {"hits": 1, "misses": 0, "bets": 1},
     "'counts.bets' is an unknown field; known fields: 'hits', 'misses'"),
    (("home",), [1, 2, 3], "'home' must be a list of 2 items, got a list of 3"),
    (("path",), [[1, 2], [3]], "'path' must be a list of 2 items, got a list of 1"),
    (("path",), [[1, "x"]], "'path[1]' must be a finite number, got 'x'"),
    (("flags",), [True, 1], "'flags' must hold true and false, got 1"),
    (("flags",), [True, None], "'flags' must hold true and false, got None"),
    (("names",), ["Bors", ""], "'names' must hold non-empty strings, got ''"),
    (("land",), 3, "'land' must be a string, got 3"),
    (("land",), "AAAA", "'land' must be packed numbers: "),
    (("land",), packed([0] * 5), "'land' must hold 2 × 3 numbers"),
    (("land",), packed([0] * 100_000), "'land' must hold 2 × 3 numbers"),
    (("land",), packed([0] * 5 + [0.2]), "'land' must hold numbers of 0 to 0.1, got 0.2"),
    (("land",), packed([0] * 5 + [math.inf]), "'land' must hold numbers of 0 to 0.1, got inf"),
    (("mark", "since_s"), "x", "'mark.since_s' must be a finite number"),
    (("mark", "kind"), "wound", "'mark.place' is missing"),
    (("mark",), {"kind": "burn"}, "'mark.kind' must be 'wound' or 'scar', got 'burn'"),
    (("mark",), {}, "'mark.kind' is missing"),
    (("pages", 1, "tasks", 0), "fly", "'pages[1].tasks[0]' must be 'sweep' or 'ride', got 'fly'"),
    (("pages", 1, "path"), [[1, None]], "'pages[1].path[1]' must be a finite number, got None"),
    (("pages", 1, "wound", "depth"), 11.0, "'pages[1].wound.depth' must be at most 10, got 11.0"),
    (("oldest",), 2000, "'oldest' must be at most 1500"),
    (("chests", "elm", "coins"), -1, "'chests.elm': 'coins' must be at least 0, got -1"),
    (("chests",), {}, "'chests.oak' is missing"),
    (("traits", "age"), "old", "'traits.age' must be an integer, got 'old'"),
    (("table", "ids"), [1], "'table.heat' must have 1 rows as the columns before it, got 2"),
    (("table", "ids"), [1, 2**40], "'table.ids[1]' must be at most 2147483647, got 1099511627776"),
    (("ids",), [4, 4], "'ids' must be ascending without repeats"),
    (("ranks",), ["page"], "'ranks' must be ['page', 'squire'] as in the present object, got a list of 1"),
    (("wallet", "coins"), -1, "'wallet': 'coins' must be at least 0, got -1"),
    (("memory",), {"!": "named", "of": "x"}, "'memory': unknown object 'x'"),
    (("now",), [1], "'now' must be a list of 2 items, got a list of 1"),
    (("scores", "chess"), 10, "'scores.chess' must be at most 9, got 10"),
    (("scores",), {"dice": 1}, "'scores.chess' is missing"),
    (("spoils",), {}, "'spoils' must be a list, got {}"),
    (("duels", 1, 0), "hall", "'duels[1]' occurs twice: a list of 2"),
    (("shields", 0), "paper", "'shields[0]': unknown shield 'paper'; known: 'iron', 'oak'; add it before loading"),
])
def test_what_is_wrong_is_refused_with_its_place(place, value, message):
    knight = Knight()
    saved = knight.save_state()
    inner = saved
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    before = copy.deepcopy(knight.save_state())
    with pytest.raises(StateError) as caught:
        knight.prepare_state(saved)
    assert str(caught.value).startswith(message)
    assert knight.save_state() == before


def test_a_row_of_an_object_that_is_left_out_is_left_out():
    class Present(Text):
        def read(self, plain, place, owner):
            if plain not in owner:
                raise LeftOutError(place)
            return plain

    plain = [["a", 1], ["b", 2], ["a", 3], ["c", 4]]
    assert MapOf(Whole(), key=Present()).read(plain[1:], "ages", {"a", "c"}) == {"a": 3, "c": 4}
    assert MapOf(Present(), key=Whole()).read([[1, "a"], [2, "b"]], "names", {"a"}) == {1: "a"}
    with pytest.raises(StateError, match="occurs twice"):
        MapOf(Whole(), key=Present()).read(plain, "ages", {"a", "c"})


@pytest.mark.parametrize(("kind", "settings", "value"), [
    (Text, (), "old"), (OneOf, (("old", "new"),), "old"), (Whole, (), 7), (Number, (), 7.0), (Seconds, (), 7.0),
    (Flag, (), True),
])
def test_read_of_a_kind_of_ones_own_is_called_in_lists(kind, settings, value):
    class Own(kind):
        def read(self, plain, place, owner):
            raise StateError(f"{place!r}: is outdated")

    class Written(kind):
        def save(self, value, owner):
            return [value]

    with pytest.raises(StateError, match=r"'values\[0\]': is outdated"):
        ListOf(Own(*settings)).read([value], "values", None)
    assert ListOf(Written(*settings)).save([value], None) == [[value]]
    assert Row(tuple, Written(*settings)).save([value], None) == [[value]]


def test_missing_and_unknown_fields_are_refused():
    saved = Wallet().save_state()
    with pytest.raises(StateError, match=r"^'coins' is missing"):
        Wallet().prepare_state({"version": 1})
    with pytest.raises(StateError, match=r"^'gems' is an unknown field; known fields: 'version', 'coins'"):
        Wallet().prepare_state({**saved, "gems": 1})
    with pytest.raises(StateError, match=r"^the state must be a dict, got 3"):
        Wallet().prepare_state(3)


def test_object_that_is_not_at_rest_is_neither_saved_nor_loaded():
    knight = Knight()
    saved = knight.save_state()
    knight.is_fighting = True
    for call in (knight.save_state, lambda: knight.prepare_state(saved)):
        with pytest.raises(RuntimeError, match="in a fight"):
            call()


rubbish = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), st.text(max_size=3),
    st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2))


def places_of(plain, place=()):
    """Places of all values inside plain data."""
    yield place
    if isinstance(plain, dict | list):
        for key, one in plain.items() if isinstance(plain, dict) else enumerate(plain):
            yield from places_of(one, (*place, key))


@given(st.data())
def test_damage_is_refused_or_loads_as_something_that_saves(data):
    knight = Knight()
    saved = knight.save_state()
    place = data.draw(st.sampled_from([one for one in places_of(saved) if one]))
    inner = saved
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = data.draw(rubbish)
    before = copy.deepcopy(knight.save_state())
    try:
        load = knight.prepare_state(saved)
    except StateError:
        assert knight.save_state() == before
        return
    load()
    knight.prepare_state(json.loads(json.dumps(knight.save_state(), allow_nan=False)))


def test_empty_tables_and_lists_of_records_come_back():
    knight, other = Knight(), Knight()
    knight.pages = []
    other.prepare_state(json.loads(json.dumps(knight.save_state())))()
    assert (other.pages, other.save_state()) == ([], knight.save_state())


def test_object_of_a_class_without_a_record_is_refused():
    knight = Knight()
    knight.mark = 3
    with pytest.raises(TypeError, match="objects of int cannot be saved; use those of Wound, Scar"):
        knight.save_state()
