"""Numbers of tasks, saved by id: what comes back is what was there, and nothing else is let in."""
from __future__ import annotations

import pytest

from ai_core.saving.fields import Fields, StateError
from ai_core.scheduling.frequency import FrequencyScheduler
from ai_core.scheduling.task_numbers import ids_saved, read_numbers, saved_numbers


def test_they_are_saved_by_ascending_ids_without_removed_tasks(clock):
    scheduler = FrequencyScheduler(clock)
    tasks = [scheduler.add(lambda turn: None) for _ in range(3)]
    numbers = {tasks[2]: 2.5, tasks[1]: 7, tasks[0]: 1}
    scheduler.remove(tasks[1])
    assert saved_numbers(numbers) == [[0, 1], [2, 2.5]]
    assert ids_saved(scheduler.save_state()) == {0, 2}


def test_they_are_read_also_from_json_that_knows_only_floats():
    assert read_numbers(Fields({"n": [[0.0, 1.0], [2.0, 2.5]]}), "n", {0, 2, 3}) == {0: 1.0, 2: 2.5}


@pytest.mark.parametrize(
    "pairs",
    [None, {}, [1], [[0]], [[0, 1, 2]], [["0", 1]], [[True, 1]], [[0, float("nan")]], [[0, -1]], [[0, 11]],
     [[1, 5]], [[0.5, 5]], [[0, 5], [0, 5]]],
)
def test_what_is_no_number_of_a_task_within_limits_is_refused(pairs):
    with pytest.raises(StateError, match="'n"):
        read_numbers(Fields({"n": pairs}), "n", {0}, maximum=10)
