"""Communities: who must stay themselves does, and what was seen once is so again."""
from __future__ import annotations

import math
import random

import pytest

from ai_core.errors import UnknownNameError
from ai_core.level_of_detail.population.categorical import Categorical
from ai_core.level_of_detail.population.community import Community
from ai_core.level_of_detail.population.distributions import Normal, PowerLaw
from ai_core.level_of_detail.population.people import CharacterDraft, NamedPerson, People, make_characters
from ai_core.level_of_detail.population.population import Population
from ai_core.saving.fields import StateError
from ai_core.snapshot import from_json, restore, take, to_json

ILSE = {"age": 61.0, "wealth": 4000.0, "job": "mayor", "hat": "red"}


def village(count=100):
    return Community(Population(count, {
        "age": Normal(40.0, 15.0), "wealth": PowerLaw(2.5, 10.0), "job": Categorical({"farmer": count}),
    }, dependences={("age", "wealth"): 0.4}))


def test_a_story_character_stays_as_they_are_through_openings():
    here, chance = village(), random.Random(1)
    here.pin("Ilse", ILSE)
    for moment in range(20):
        people = here.open(chance, moment)
        assert len(people) == here.count == 101
        assert people.facts_of("Ilse") == ILSE
        here.close(people, moment)


def test_what_a_known_person_did_is_remembered():
    here = village()
    here.pin("Ilse", ILSE)
    people = here.open(random.Random(1))
    people.columns["wealth"][people.row_of("Ilse")] += 5.0
    here.close(people)
    assert here.known["Ilse"].facts["wealth"] == 4005.0


def test_seen_person_is_met_again_until_expiry_then_anonymous():
    here, chance = village(), random.Random(2)
    before = {name: here.total(name) for name in ("age", "wealth")}
    people = here.open(chance, 10.0)
    people.remember(7, "woman at the well", until_s=80.0, facts={"carries": "two buckets"})
    seen = people.facts_of("woman at the well")
    here.close(people, 20.0)
    for moment in (30.0, 79.0):
        people = here.open(chance, moment)
        assert people.facts_of("woman at the well") == seen
        assert seen["carries"] == "two buckets"
        here.close(people, moment)
    people = here.open(chance, 80.0)
    assert people.known == {}
    here.close(people, 80.0)
    assert here.count == 100
    for name, total in before.items():
        assert here.total(name) == pytest.approx(total, rel=1e-9)


def test_time_passes_for_an_alibi_while_the_group_is_open():
    here, chance = village(), random.Random(2)
    people = here.open(chance, 10.0)
    people.remember(7, "woman at the well", until_s=70.0)
    people.remember(8, "thief", until_s=90.0)
    here.close(people, 80.0)
    assert list(here.known) == ["thief"]
    people = here.open(chance, 85.0)
    here.close(people, 95.0)
    assert here.known == {}
    assert here.population.count == here.count == 100


def test_what_is_said_of_who_is_remembered_is_true_of_them():
    here = village()
    people = here.open(random.Random(2))
    job = "keeper of the lighthouse on the northern cliff"
    people.remember(7, "Ada", facts={"age": 71, "job": job, "hat": "blue"})
    assert people.facts_of("Ada") == people.facts_of("Ada") | {"age": 71.0, "job": job, "hat": "blue"}
    assert people.columns["job"][7] == job
    here.close(people)
    assert here.known["Ada"].facts["age"] == 71.0
    people = here.open(random.Random(3))
    for wrong, error, message in (
        ({"age": math.nan, "job": "smith"}, ValueError, "fact 'age' must be a finite number, got nan"),
        ({"age": 3.0, "job": None}, TypeError, "fact 'job' must be a non-empty string, got None"),
        (["age"], TypeError, "facts must be a dict with non-empty strings as keys"),
    ):
        before = people.save_state()
        with pytest.raises(error, match=message):
            people.remember(50, "Ben", facts=wrong)
        assert people.save_state() == before


def test_a_label_that_a_game_writes_is_not_cut_off():
    here = village()
    people = here.open(random.Random(2))
    people.columns["job"][3] = "master blacksmith"
    here.close(people)
    assert here.population.properties["job"].counts == {"farmer": 99, "master blacksmith": 1}


@pytest.mark.parametrize(
    ("column", "value", "error", "message"),
    [
        ("age", math.nan, ValueError, "facts of 'Ilse' do not fit: property 'age': values must be finite, got nan$"),
        ("wealth", -3.0, ValueError, "facts of 'Ilse' do not fit: property 'wealth': .* above 0, got -3$"),
        ("job", None, TypeError, "facts of 'Ilse' do not fit: property 'job': a label must be a non-empty string"),
    ],
)
def test_mismatched_facts_are_refused_on_closing_and_lose_nobody(column, value, error, message):
    here = village()
    here.pin("Ilse", ILSE)
    people = here.open(random.Random(1))
    people.columns[column][people.row_of("Ilse")] = value
    before = here.save_state()
    with pytest.raises(error, match=message):
        here.close(people)
    assert here.save_state() == before
    people.columns[column][people.row_of("Ilse")] = ILSE[column]
    here.close(people)
    assert list(here.known) == ["Ilse"]


def test_mismatched_facts_on_expiry_lose_nobody():
    here = village()
    here.pin("Ann", ILSE, until_s=5.0)
    here.pin("Ilse", ILSE, until_s=5.0)
    here.known["Ilse"] = NamedPerson("Ilse", {**ILSE, "wealth": -1.0}, 5.0)
    with pytest.raises(ValueError, match="facts of 'Ilse' do not fit"):
        here.release_expired(6.0)
    assert (sorted(here.known), here.population.count) == (["Ann", "Ilse"], 100)


def test_a_wrong_value_is_told_with_its_property_and_row():
    here = village()
    people = here.open(random.Random(1))
    people.remember(2, "Ann")
    people.columns["age"][4] = math.inf
    with pytest.raises(ValueError, match="property 'age': values must be finite, got inf in row 4"):
        here.close(people)
    people.columns["age"] = people.columns["age"][:-1]
    with pytest.raises(ValueError, match="every property needs a value for each of the people, got"):
        here.close(people)


def test_a_closed_community_holds_no_more_for_more_people():
    sizes = []
    for count in (1_000, 1_000_000):
        here = village(count)
        here.pin("Ilse", ILSE)
        sizes.append(len(to_json(take({"it": here}))))
    assert sizes[1] - sizes[0] < 10


def test_parts_move_known_people_home_and_bring_them_back():
    here, chance = village(), random.Random(3)
    here.pin("Ilse", ILSE)
    here.pin("Jon", {**ILSE, "home": 2})
    total = here.total("wealth")
    parts = here.split([50, 2, 50], chance, place=lambda person: person.facts.get("home", 0))
    assert [(one.count, list(one.known)) for one in parts] == [(50, ["Ilse"]), (2, []), (50, ["Jon"])]
    together = Community.merged(parts)
    assert together.count == 102
    assert sorted(together.known) == ["Ilse", "Jon"]
    assert together.total("wealth") == pytest.approx(total, rel=1e-9)
    assert [list(one.known) for one in here.split([1, 101], chance)] == [["Ilse"], ["Jon"]]


def test_a_game_may_make_its_own_characters():
    here = village(4)
    people = here.open(random.Random(4))

    def make(draft: CharacterDraft):
        drunk = draft.time_of_day_s > 22 * 3600 and draft.district["has_inn"]
        draft.people.columns["age"][:] = 30.0
        return [("drunk" if drunk else "awake", wealth) for wealth in draft.people.columns["wealth"].tolist()]

    made = make_characters(
        people, make, random.Random(5), district={"has_inn": True}, time_of_day_s=23 * 3600
    )
    assert [one[0] for one in made] == ["drunk"] * 4
    here.close(people)
    assert here.total("age") == 120
    with pytest.raises(ValueError, match="a character for each of 4 people, got 0"):
        make_characters(people, lambda draft: [], random.Random(5))


def test_misuse_is_told_at_the_call():
    here = village()
    here.pin("Ilse", ILSE)
    with pytest.raises(ValueError, match="already has a person 'Ilse'"):
        here.pin("Ilse", ILSE)
    with pytest.raises(ValueError, match="must have every property; 'wealth' is missing"):
        here.pin("Jon", {"age": 3.0, "job": "farmer"})
    with pytest.raises(ValueError, match=r"facts of 'Jon' do not fit: property 'age': values must be finite, got nan$"):
        here.pin("Jon", {**ILSE, "age": math.nan})
    for wrong in (3, "", None):
        with pytest.raises(TypeError, match="name must be a non-empty string, got"):
            here.pin(wrong, ILSE)
    with pytest.raises(TypeError, match="facts must be a dict"):
        here.pin("Jon", 3)
    with pytest.raises(ValueError, match=r"'facts\.hat' must be plain data"):
        here.pin("Jon", {**ILSE, "hat": object()})
    with pytest.raises(ValueError, match=r"property 'age': values must be from -1e\+100 to 1e\+100, got 1e\+200$"):
        here.pin("Jon", {**ILSE, "age": 1e200})
    with pytest.raises(ValueError, match=r"until_s must be at most 1e\+12, got .*; omit it for no limit"):
        here.pin("Jon", ILSE, until_s=1e13)    # a save could not be loaded
    with pytest.raises(ValueError, match="until_s must be a finite number, got nan"):
        here.pin("Jon", ILSE, until_s=math.nan)


def test_misuse_of_open_people_is_told_at_the_call():
    here = village()
    here.pin("Ilse", ILSE)
    people = here.open(random.Random(1))
    with pytest.raises(ValueError, match="row must be at most 100"):
        people.remember(101, "x")
    with pytest.raises(ValueError, match="row 0 is named 'Ilse'"):
        people.remember(0, "Jon")
    with pytest.raises(ValueError, match="until_s must be a finite number"):
        people.remember(3, "Jon", until_s=math.nan)
    with pytest.raises(UnknownNameError, match="unknown person 'Jon'"):
        people.forget("Jon")
    people.forget("Ilse")
    here.close(people)
    assert here.known == {}
    with pytest.raises(TypeError, match="people must be the People that open"):
        here.close([])


def test_facts_may_be_whatever_can_be_saved():
    here, other = village(), village()
    here.pin("Ilse", {**ILSE, "home": (3.0, 4.0), "keys": {"gate", "mill"}})
    restore(from_json(to_json(take({"it": here}))), {"it": other})
    assert other.known["Ilse"].facts == {**ILSE, "home": (3.0, 4.0), "keys": {"gate", "mill"}}
    people = here.open(random.Random(1))
    loaded = People.from_state(from_json(to_json({"it": people.save_state()}))["it"], here.population)
    assert loaded.facts_of("Ilse") == people.facts_of("Ilse")


def test_a_moment_that_is_no_time_is_refused_and_changes_nothing():
    here = village()
    here.pin("Ilse", ILSE, until_s=5.0)
    with pytest.raises(ValueError, match="now_s must be a finite number, got nan"):
        here.open(random.Random(1), math.nan)
    with pytest.raises(ValueError, match="now_s must be a finite number, got nan"):
        here.close(here.open(random.Random(1)), math.nan)
    assert list(here.known) == ["Ilse"]


def test_what_cannot_be_taken_together_or_apart_is_told():
    with pytest.raises(TypeError, match="population must be a Population"):
        Community(100)
    with pytest.raises(ValueError, match="parts must have at least one community"):
        Community.merged([])
    one, other = village(), village()
    one.pin("Ilse", ILSE)
    other.pin("Ilse", ILSE)
    with pytest.raises(ValueError, match="two parts have a person 'Ilse'"):
        Community.merged([one, other])
    with pytest.raises(ValueError, match="has no room for 'Ilse'"):
        one.split([0, 101], random.Random(1), place=lambda person: 0)


def test_loaded_it_goes_on_as_if_nothing_had_happened():
    first, second = village(), village(3)
    first.pin("Ilse", ILSE)
    first.pin("Jon", ILSE, until_s=5.0)
    restore(from_json(to_json(take({"it": first}))), {"it": second})
    assert second.save_state() == first.save_state()
    one, other = (here.open(random.Random(1), 2.0) for here in (first, second))
    one.remember(9, "seen", until_s=3.0)
    loaded = People.from_state(from_json(to_json({"people": one.save_state()}))["people"], second.population)
    assert loaded.save_state() == one.save_state()
    assert len(other) == len(one)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"known": [{"name": "x", "facts": {}, "until_s": None}]}, "is missing"),
        ({"known": [{"name": "x", "facts": 3, "until_s": None}]}, r"'known\[0\]' does not fit: facts must be a dict"),
        ({"population": {}}, "'population.count' is missing"),
    ],
)
def test_a_damaged_save_is_refused(change, message):
    here = village()
    before = here.save_state()
    with pytest.raises(StateError, match=message):
        here.prepare_state({**before, **change})
    assert here.save_state() == before


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda state: state["columns"]["age"].pop(), "'columns' must all have the same length"),
        (lambda state: state["known"].pop("Jon"), "'rows' must have the people of 'known'"),
        (lambda state: state["until_s"].clear(), "'until_s' must have the people of 'known'"),
        (lambda state: state["known"].update(Jon=3), "'known.Jon' facts must be a dict"),
        (lambda state: [state[one].update({"": state[one].pop("Jon")}) for one in ("known", "rows", "until_s")],
         "name must be a non-empty string"),
        (lambda state: state["rows"].update(Jon=5), "'rows.Jon' must be below 5"),
        (lambda state: state["rows"].update(Jon=0), "'rows.Jon' must be below 5 and the row of no other"),
    ],
)
def test_damaged_people_are_refused(damage, message):
    here = village(3)
    here.pin("Ilse", ILSE)
    here.pin("Jon", ILSE)
    people = here.open(random.Random(1))
    before = people.save_state()
    state = people.save_state()
    damage(state)
    with pytest.raises(StateError, match=message):
        People.from_state(state, here.population)
    with pytest.raises(StateError, match=message):
        people.prepare_state(state)
    assert people.save_state() == before
