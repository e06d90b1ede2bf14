"""A number for each of some tasks, saved by the ids of the tasks."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ai_core.saving.fields import LARGEST, Fields
from ai_core.scheduling.task import Task

__all__ = ["ids_saved", "read_numbers", "saved_numbers"]


def saved_numbers(numbers: Mapping[Task, float]) -> list[list[float]]:
    """Return [id, number] of each task that is still there, by ascending ids."""
    return sorted([task.id, number] for task, number in numbers.items() if not task.is_removed)


def ids_saved(state: Mapping[str, Any]) -> set[int]:
    """Return the ids of the tasks in the state of a scheduler that was checked before."""
    return {int(task["id"]) for task in state["tasks"]}


def read_numbers(
    fields: Fields, name: str, ids: set[int], *, minimum: float = 0, maximum: float = LARGEST
) -> dict[int, float]:
    """Return the numbers saved under ``name``, by the ids of their tasks.

    Raises:
        StateError: if one is out of range, or not of one of these tasks, each once.
    """
    numbers: dict[int, float] = {}
    for index, pair in enumerate(fields.items(name)):
        place = f"{name}[{index}]"
        one = Fields({place: pair})
        task_id, number = one.numbers(place, count=2)
        if task_id not in ids or task_id in numbers:
            fields.refuse(place, f"must be the id of a task, each once, got {task_id:g}")
        if not minimum <= number <= maximum:
            fields.refuse(place, f"must be from {minimum:g} to {maximum:g}, got {number:g}")
        numbers[int(task_id)] = number
    return numbers
