"""A kernel and its twin: the same functions with the same arguments, and all are listed."""
from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ai_core.twins import KERNELS
from tools.build_bridge import kernel_extensions

ROOT = Path(__file__).parents[2]
CORE = ROOT / "ai_core"
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


def kernel_functions(text):
    """Arguments by name of the functions that a .pyx shows to Python."""
    found = {}
    for name, arguments in re.findall(r"^def (\w+)\(([^)]*)\):", text, re.MULTILINE):
        if not name.startswith("_"):
            found[name] = [one.split()[-1] for one in arguments.split(",") if one.strip()]
    return found


@each_kernel
def test_a_kernel_has_the_functions_of_its_twin_with_the_same_arguments(source):
    functions = kernel_functions(source.read_text(encoding="utf-8"))
    assert functions
    assert functions == decorated(twin_tree(source))


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
    values = [
        ast.unparse(node.value) for node in twin_tree(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "INTERFACE"
    ]
    assert values == [number]


def test_the_core_and_the_build_know_every_kernel():
    names = [".".join(source.relative_to(ROOT).with_suffix("").parts) for source in SOURCES]
    assert list(KERNELS) == names
    assert [kernel.module for kernel in kernel_extensions()] == names


@pytest.mark.parametrize("file", sorted(CORE.rglob("*.py")), ids=lambda f: str(f.relative_to(CORE)))
def test_only_the_switch_of_kernels_reads_the_environment(file):
    if file == CORE / "twins.py":
        return
    names = {
        name
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
    }
    assert "os" not in names, f"{file} imports os; take what it needs as an argument"
