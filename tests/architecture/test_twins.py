"""A kernel and its twin: the same functions with the same arguments, and all are listed."""
from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import ai_core.decisions.habits.built_in_habits  # noqa: F401  so that its twins are known
from ai_core.loops import loop_modules
from ai_core.twins import INTERPRETED, KERNELS
from tools.build_bridge import SHARED, kernel_extensions

ROOT = Path(__file__).parents[2]
CORE = ROOT / "ai_core"
CLASSES_OF_KERNEL = {
    "_habit_ticking": (
        "HabitContext", "HabitTicking", "HabitTurns", "PlaceFields", "PopulationSlot", "RoundRobin", "TickMember",
        "ValueCheck",
        "ValueIs", "ValueWrite", "ValuesAre"),
}
INTERFACE_OF = {"_habit_ticking": "ai_core.decisions.habits.habit_place"}
"""Kernels that are classes, of twins in several files, and where these say their interface."""
SOURCES = sorted(CORE.rglob("_*.pyx"))
each_kernel = pytest.mark.parametrize("source", SOURCES, ids=lambda f: f.stem)


def twin_tree(source):
    twin = source.with_name(source.stem.removeprefix("_") + ".py")
    return ast.parse(twin.read_text(encoding="utf-8"))


def decorated(tree):
    """Arguments by name of the functions that say they have a kernel."""
    return {
        node.name: [argument.arg for argument in node.args.args]
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and [ast.unparse(one) for one in node.decorator_list] == ["twin"]
    }


def kernel_classes(source):
    """Names of the classes that a .pyx, with what it includes, shows to Python."""
    text = source.read_text(encoding="utf-8")
    for included in re.findall(r'^include "([\w./]+\.pxi)"$', text, re.MULTILINE):
        text += (source.parent / included).read_text(encoding="utf-8")
    return re.findall(r"^cdef class ([A-Z]\w+)[:(]", text, re.MULTILINE)


def kernel_functions(text):
    """Arguments by name of the functions that a .pyx shows to Python."""
    found = {}
    for name, arguments in re.findall(r"^def (\w+)\(([^)]*)\):", text, re.MULTILINE):
        if not name.startswith("_"):
            found[name] = [one.split()[-1] for one in arguments.split(",") if one.strip()]
    return found


@each_kernel
def test_kernel_has_functions_and_arguments_of_its_twin(source):
    functions = kernel_functions(source.read_text(encoding="utf-8"))
    assert functions or source.stem in CLASSES_OF_KERNEL
    assert functions == decorated(twin_tree(source))


@pytest.mark.parametrize("name", CLASSES_OF_KERNEL)
def test_kernel_has_classes_and_members_of_its_twins(name):
    source = next(one for one in SOURCES if one.stem == name)
    interpreted = {key.rpartition(".")[2]: one for key, one in INTERPRETED.items() if isinstance(one, type)}
    assert sorted(kernel_classes(source)) == sorted(CLASSES_OF_KERNEL[name])
    for twin in CLASSES_OF_KERNEL[name]:
        module = ".".join(source.relative_to(ROOT).with_suffix("").parts)
        kernel = getattr(pytest.importorskip(module), twin)
        offered = {one for one in dir(interpreted[twin]) if not one.startswith("_")}
        assert offered <= set(dir(kernel)), f"{twin} in C lacks {sorted(offered - set(dir(kernel)))}"


@each_kernel
def test_the_stub_of_a_kernel_says_the_same(source):
    stub = ast.parse(source.with_suffix(".pyi").read_text(encoding="utf-8"))
    declared = {
        node.name: [argument.arg for argument in node.args.args]
        for node in stub.body if isinstance(node, ast.FunctionDef)
    }
    assert declared == decorated(twin_tree(source))


@each_kernel
def test_kernel_and_twin_are_of_one_interface(source):
    number = re.search(r"^INTERFACE = (\d+)$", source.read_text(encoding="utf-8"), re.MULTILINE).group(1)
    if source.stem in INTERFACE_OF:
        assert str(importlib.import_module(INTERFACE_OF[source.stem]).INTERFACE) == number
        return
    values = [
        ast.unparse(node.value) for node in twin_tree(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "INTERFACE"
    ]
    assert values == [number]


def test_the_core_and_the_build_know_every_kernel():
    names = [".".join(source.relative_to(ROOT).with_suffix("").parts) for source in SOURCES]
    assert list(KERNELS) == names
    built = [kernel for kernel in kernel_extensions() if kernel.module != SHARED]
    assert [kernel.module for kernel in built if kernel.source.suffix == ".pyx"] == names
    assert tuple(kernel.module for kernel in built if kernel.source.suffix == ".py") == loop_modules()


@pytest.mark.parametrize("file", sorted(CORE.rglob("*.py")), ids=lambda f: str(f.relative_to(CORE)))
def test_only_the_switch_of_kernels_reads_the_environment(file):
    if file == CORE / "loops.py":
        return
    names = {
        name
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
    }
    assert "os" not in names, f"{file} imports os; take what it needs as an argument"
