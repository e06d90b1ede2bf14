"""Every file says what is public, and everything public says what it is."""
from __future__ import annotations

import ast
import importlib
from itertools import zip_longest
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "ai_core"
FILES = sorted(CORE.rglob("*.py"))
each_file = pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(CORE)))


def assigned_name(node: ast.stmt) -> str | None:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def public_names(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if assigned_name(node) == "__all__":
            return ast.literal_eval(node.value)
    return None


def described(tree: ast.Module) -> dict[str, bool]:
    """Names defined at the top of a file, and whether a docstring describes each."""
    found = {}
    for node, after in zip_longest(tree.body, tree.body[1:]):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found[node.name] = ast.get_docstring(node) is not None
        elif name := assigned_name(node):
            found[name] = (
                isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            )
    return found


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@each_file
def test_a_file_says_what_it_is(file):
    assert ast.get_docstring(parsed(file)), f"{file} has no docstring"


@each_file
def test_a_file_lists_its_public_names(file):
    names = public_names(parsed(file))
    assert names is not None, f"{file} has no __all__"
    assert len(set(names)) == len(names), f"{file}: a name is listed twice"


@each_file
def test_public_names_have_docstrings(file):
    tree = parsed(file)
    known = described(tree)
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ai_core.")
        for alias in node.names
    }
    for name in public_names(tree) or []:
        if name in imported:
            continue  # described where it is defined
        assert name in known, f"{file}: __all__ lists {name}, which the file does not define"
        assert known[name], f"{file}: {name} is public and has no docstring"


@pytest.mark.parametrize("door", sorted(CORE.rglob("__init__.py")), ids=lambda f: f.parent.name)
def test_what_a_front_door_offers_is_there(door):
    package = importlib.import_module(".".join(door.parent.relative_to(CORE.parent).parts))
    assert [name for name in package.__all__ if not hasattr(package, name)] == []


def documented_in_bases(file, owner):
    """Names of methods that bases of a class in its file document: ``help()`` shows their docstrings."""
    names = {ast.unparse(base) for base in owner.bases}
    bases = [base for base in parsed(file).body if isinstance(base, ast.ClassDef) and base.name in names]
    own = {
        method.name for base in bases
        for method in base.body if isinstance(method, ast.FunctionDef) and ast.get_docstring(method) is not None}
    return own.union(*(documented_in_bases(file, base) for base in bases))


@each_file
def test_public_methods_have_docstrings(file):
    bare = [
        f"{file}:{method.lineno}: {owner.name}.{method.name}"
        for owner in parsed(file).body
        if isinstance(owner, ast.ClassDef) and not owner.name.startswith("_")
        for method in owner.body
        if isinstance(method, ast.FunctionDef)
        and not method.name.startswith("_")
        and ast.get_docstring(method) is None
        and not any(ast.unparse(d).endswith((".setter", "override", "cython.cfunc")) for d in method.decorator_list)
        and method.name not in documented_in_bases(file, owner)
    ]
    assert not bare, "\n".join(bare)
