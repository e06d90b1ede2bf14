"""A class stands in one file, whole: no plain class exists only to be continued by one other class."""
from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("ai_core", "addons/ai_core/bridge", "addons/ai_core/editor", "addons/ai_core/nodes")
FILES = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
DECLARES_FIELDS = re.compile(r"dataclass|Protocol|NamedTuple|TypedDict|cython\.cclass|@cclass")
"""Classes in which an annotation without a value is a field, or the type of a C attribute."""

TREES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}
CLASSES = [(file, node) for file, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
NO_USE = re.compile(r'\s*(?:from|import|class)\b|\s*"?\w+"?,$|\s*__all__')


def continued_classes() -> dict[str, str]:
    """Classes named nowhere but in imports and as a base of one class, by name, and where they stand."""
    uses = Counter(
        word for file in FILES for line in file.read_text(encoding="utf-8").splitlines() if not NO_USE.match(line)
        for word in re.findall(r"\w+", line))
    derived = defaultdict(list)
    for _, node in CLASSES:
        for base in node.bases:
            derived[ast.unparse(base).split("[")[0]].append(node.name)
    return {
        node.name: f"{file.relative_to(ROOT)} is continued by {derived[node.name][0]}"
        for file, node in CLASSES
        if len(derived[node.name]) == 1 and not uses[node.name] and "abstractmethod" not in ast.unparse(node)}


def test_no_class_is_continued_in_another():
    assert continued_classes() == {}, "put its methods into that class, or make it an object of its own"


def test_no_class_has_two_methods_of_one_name():
    twice = []
    for file, owner in CLASSES:
        names = [
            one.name for one in owner.body if isinstance(one, ast.FunctionDef)
            and not any(ast.unparse(mark).endswith((".setter", "overload")) for mark in one.decorator_list)]
        twice += [f"{file.relative_to(ROOT)}: {owner.name}.{name}" for name in names if names.count(name) > 1]
    assert twice == []


def test_declared_attributes_are_set_in_their_class():
    """A mixin declares what another class sets; a whole class at most the constants that its subclasses have."""
    elsewhere = []
    for file, owner in CLASSES:
        if DECLARES_FIELDS.search(" ".join(map(ast.unparse, [*owner.decorator_list, *owner.bases]))):
            continue
        inner = list(ast.walk(owner))
        stored = {node.attr for node in inner if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
        slots = {node.value for node in inner if isinstance(node, ast.Constant)}
        elsewhere += [
            f"{file.relative_to(ROOT)}: {owner.name}.{one.target.id}" for one in owner.body
            if isinstance(one, ast.AnnAssign) and one.value is None
            and one.target.id not in stored | slots and not one.target.id.isupper()]
    assert elsewhere == [], "\n".join(elsewhere)


@pytest.mark.parametrize("part", ["ai_core", "addons"])
def test_a_class_name_stands_for_one_thing(part):
    """A node may have the name of the library's class that it stands for."""
    places = defaultdict(list)
    for file, tree in TREES.items():
        if file.relative_to(ROOT).parts[0] == part:
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(str(file.relative_to(ROOT)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
