"""Hot loops are Python files, all of which the build compiles."""
from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ai_core.loops import loop_modules
from tools.build_bridge import SHARED, kernel_extensions

ROOT = Path(__file__).parents[2]
CORE = ROOT / "ai_core"


def test_the_core_and_the_build_know_every_loop():
    built = [kernel for kernel in kernel_extensions() if kernel.module != SHARED]
    assert tuple(kernel.module for kernel in built) == loop_modules()


def test_the_core_is_python_and_declarations_of_its_c_types():
    sources = {file.suffix for file in CORE.rglob("*.p*") if "__pycache__" not in file.parts}
    assert sources <= {".py", ".pxd"}


@pytest.mark.parametrize("file", sorted(CORE.rglob("*.py")), ids=lambda f: str(f.relative_to(CORE)))
def test_only_the_switch_of_loops_reads_the_environment(file):
    if file == CORE / "loops.py":
        return
    names = {
        name
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
    }
    assert "os" not in names, f"{file} imports os; take what it needs as an argument"
