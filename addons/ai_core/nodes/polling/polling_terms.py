"""What GDScript may say about a topic: a Dictionary read into what the library takes."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from addons.ai_core.bridge.gd import GodotCallError, RefusedValue
from addons.ai_core.nodes.scheduling.scheduled import check_callable

MISTAKES = (TypeError, GodotCallError)
"""What a question may raise that is asked wrongly; see ``mistake_of``."""

TERMS = ("fallback", "lifetime_s", "many", "maximum_keys", "may_ask", "symmetric")


def topic_terms(code: str, compute: Any, kept_frames: int, terms: dict[str, Any]) -> dict[str, Any]:
    """Return what the library's ``add_topic`` takes after the code."""
    for name in terms:
        if name not in TERMS:
            raise RefusedValue(f"unknown term {name!r}; known are {', '.join(TERMS)}")
    if kept_frames < -1:
        raise RefusedValue(f"kept_frames must be -1 or more, got {kept_frames}; -1 keeps answers until invalidate()")
    found: dict[str, Any] = {"compute": compute, "lifetime_frames": None if kept_frames == -1 else kept_frames}
    if terms.get("many", False):
        found["compute"], found["compute_many"] = None, _many(code, compute)
    if "lifetime_s" in terms:
        found["lifetime_s"], found["lifetime_frames"] = terms["lifetime_s"], 1
    if "may_ask" in terms:
        found["may_ask"] = _may_ask(terms["may_ask"])
    for name, ours in (("fallback", "fallback"), ("maximum_keys", "maximum_keys"), ("symmetric", "is_symmetric")):
        if name in terms:
            found[ours] = terms[name]
    return found


def _many(code: str, compute: Any) -> Callable[[list[Any]], list[Any]]:
    def answers(keys: list[Any]) -> list[Any]:
        found = compute([list(key) for key in keys])
        if not isinstance(found, list) or len(found) != len(keys):
            raise RefusedValue(
                f"topic {code!r} computes many: its Callable must return an Array with an answer for each of the"
                f" {len(keys)} keys, got {found!r}")
        return found
    return answers


def _may_ask(may_ask: Any) -> Callable[..., bool]:
    if not callable(may_ask):
        raise RefusedValue(f"may_ask must be a Callable that takes asker and key, got {may_ask!r}")
    check_callable(may_ask, "may_ask")
    return lambda asker, *key: bool(may_ask(asker, list(key)))


def mistake_of(code: str, keys: list[Any], problem: Exception) -> Exception:
    """Return what to raise for a question that raised: what was asked wrongly, or the problem itself."""
    for key in keys:
        try:
            hash(tuple(key))
        except TypeError:
            return RefusedValue(
                f"a key of topic {code!r} must be of nodes, texts, numbers and vectors, got {list(key)!r};"
                " take the Array or Dictionary in it apart")
    if isinstance(problem, GodotCallError):
        return RefusedValue(f"topic {code!r}: {problem}; a key has a part for each argument")
    return problem
