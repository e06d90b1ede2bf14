"""A class stands in one file, whole: no plain class exists only to be continued by one other class."""
from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("ai_core", "addons/ai_core/bridge", "addons/ai_core/editor", "addons/ai_core/nodes")
FILES = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
DECLARES_FIELDS = re.compile(r"dataclass|Protocol|NamedTuple|TypedDict|cython\.cclass|@cclass")
"""Classes in which an annotation without a value is a field, or the type of a C attribute."""


def continued_classes() -> dict[str, str]:
    """Classes named nowhere but in imports and as a base of one class, by name, and where they stand."""
    texts = {file: file.read_text(encoding="utf-8") for file in FILES}
    defined, derived = {}, defaultdict(list)
    for file, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                defined.setdefault(node.name, (file, node))
                for base in node.bases:
                    derived[ast.unparse(base).split("[")[0]].append(node.name)
    found = {}
    for name, (file, node) in defined.items():
        is_abstract = any("abstractmethod" in ast.unparse(one) for one in node.body)
        if len(derived[name]) != 1 or is_abstract:
            continue
        uses = sum(
            bool(re.search(rf"\b{name}\b", line)) and not re.match(r"\s*(from|import|class)\b", line)
            and not re.match(r'\s*"?\w+"?,$|\s*__all__', line)
            for text in texts.values() for line in text.splitlines())
        if not uses:
            found[name] = f"{file.relative_to(ROOT)} is continued by {derived[name][0]}"
    return found


def test_no_class_is_continued_in_another():
    assert continued_classes() == {}, "put its methods into that class, or make it an object of its own"


def test_no_class_has_two_methods_of_one_name():
    twice = []
    for file in FILES:
        for owner in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(owner, ast.ClassDef):
                names = [
                    one.name for one in owner.body if isinstance(one, ast.FunctionDef)
                    and not any(ast.unparse(mark).endswith((".setter", "overload")) for mark in one.decorator_list)]
                twice += [f"{file.relative_to(ROOT)}: {owner.name}.{name}" for name in names if names.count(name) > 1]
    assert twice == []


def test_declared_attributes_are_set_in_their_class():
    """A mixin declares what another class sets; a whole class at most the constants that its subclasses have."""
    elsewhere = []
    for file in FILES:
        for owner in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(owner, ast.ClassDef) or DECLARES_FIELDS.search(
                    " ".join(map(ast.unparse, [*owner.decorator_list, *owner.bases]))):
                continue
            stored = {
                node.attr for node in ast.walk(owner)
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
            slots = {one.value for node in owner.body for one in ast.walk(node) if isinstance(one, ast.Constant)}
            elsewhere += [
                f"{file.relative_to(ROOT)}: {owner.name}.{one.target.id}" for one in owner.body
                if isinstance(one, ast.AnnAssign) and one.value is None
                and one.target.id not in stored | slots and not one.target.id.isupper()]
    assert elsewhere == [], "\n".join(elsewhere)
