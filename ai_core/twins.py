"""Selection between compiled kernels and their Python twins.

A hot spot may have two forms with the same functions: a kernel in C, built
from ``_name.pyx``, and its twin ``name.py`` in Python and NumPy. Both give the
same results to the last bit and differ in speed only. The kernel is used if it
was built; ``AI_CORE_PURE_PYTHON=1`` in the environment, read once at import,
disables all kernels.
"""
from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from ai_core.loops import SWITCH, compiled_loops, is_switched_off

__all__ = ["INTERPRETED", "KERNELS", "SWITCH", "compiled", "kernel_of", "twin", "twin_class"]

KERNELS = (
    "ai_core.decisions.habits._habit_ticking",
)
"""All kernel modules; build tools and tests use this list."""

INTERPRETED: dict[str, Callable[..., Any]] = {}
"""By full name, the Python form of every function of a twin imported so far, in use or not."""

Kind = TypeVar("Kind")
Function = TypeVar("Function", bound=Callable[..., Any])


def compiled() -> tuple[str, ...]:
    """Return the names of the compiled modules in use; empty if everything is interpreted."""
    return compiled_loops() + tuple(name for name in KERNELS if not is_switched_off and _loaded(name) is not None)


def twin(function: Function) -> Function:
    """Decorate a function or a class of a twin: return its kernel if it was built.

    The kernel for ``package/name.py`` is the object of the same name in
    ``package/_name``. A kernel built from other sources (with another ``INTERFACE``
    than the twin) is not used, and a warning is logged.
    """
    INTERPRETED[f"{function.__module__}.{function.__name__}"] = function
    kernel = None if is_switched_off else kernel_of(function)
    return function if kernel is None else kernel


def twin_class(kernel: str, interface: int) -> Callable[[type[Kind]], type[Kind]]:
    """Decorate a class of a twin: return the class of the same name in a kernel if it was built.

    Args:
        kernel: full name of the C module; several Python files may share a module.
        interface: interface number of the twin; a kernel with another number is not
            used, and a warning is logged.
    """

    def chosen(interpreted: type[Kind]) -> type[Kind]:
        INTERPRETED[f"{interpreted.__module__}.{interpreted.__name__}"] = interpreted
        module = None if is_switched_off else _loaded(kernel)
        if module is None:
            return interpreted
        if interface != module.INTERFACE:
            _say_once(f"{kernel} was built from other sources")
            return interpreted
        in_c: type[Kind] = getattr(module, interpreted.__name__)
        return in_c

    return chosen


def kernel_of(function: Function) -> Function | None:
    """Return the kernel of a twin's function, or None if it is not built."""
    package, _, name = function.__module__.rpartition(".")
    module = _loaded(f"{package}._{name}")
    if module is None:
        return None
    names = getattr(function, "__globals__", None) or vars(sys.modules[function.__module__])  # a class has none
    if names["INTERFACE"] != module.INTERFACE:
        _say_once(f"{module.__name__} was built from other sources")
        return None
    kernel: Function = getattr(module, function.__name__)
    return kernel


@functools.cache
def _loaded(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return None  # not built, which is a supported setup
    except ImportError as error:
        _say_once(f"{name} cannot be loaded ({error})")
        return None


@functools.cache
def _say_once(what: str) -> None:
    logging.getLogger("ai_core").warning(
        "%s; its Python twin is used, which is slower: build it again, or set %s=1", what, SWITCH
    )
