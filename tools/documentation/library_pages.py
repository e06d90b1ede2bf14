"""The reference of the library: ``python -m tools.documentation.library_pages FOLDER`` writes a page for each package.

Names, types and defaults come from the signatures; text, units, errors, costs and sources from the docstrings.
"""
from __future__ import annotations

import enum
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import ai_core

_LONG = 72
"""Letters of the longest declaration in one line; a page has room for them at 1,400 pixels."""
_SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Cost", "Source")
_START = re.compile(rf"^({'|'.join(_SECTIONS)}):[ ]?(.*)$")
_ENTRY = re.compile(r"^(\*{0,2}\w[\w., *]*?)(?: \([^)]*\))?: (.*)$")


def main(folder: Path) -> None:
    """Write a page for ``ai_core`` and one for each of its packages, and an index."""
    folder.mkdir(parents=True, exist_ok=True)
    modules = [ai_core, *(importlib.import_module(f"ai_core.{name}") for name in [*ai_core.PACKAGES, "snapshot"])]
    rows = []
    for module in sorted(modules, key=lambda one: one.__name__):
        names = public_names(module)
        (folder / f"{module.__name__}.md").write_text(page_of(module), encoding="utf-8")
        first = _inline((inspect.getdoc(module) or "").partition("\n\n")[0])
        rows.append(f"| [{module.__name__}]({module.__name__}.md) | {len(names)} | {first} |")
    text = (
        "# Reference\n\nEvery public name of the library, with types, units, errors and costs. A name ends with its "
        "unit: `_s` is seconds, `_m` metres, `_us` microseconds, `_rad` radians. A method that takes `budget` may "
        "return before its work is done.\n\n| package | names | |\n|---|---|---|\n")
    (folder / "index.md").write_text(text + "\n".join(rows) + "\n", encoding="utf-8")


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a package offers, in the order of the alphabet."""
    return sorted((name for name in module.__all__ if name != "PACKAGES"), key=str.lower)


def page_of(module: ModuleType) -> str:
    """Return the page of a package."""
    parts = [f"# {module.__name__}", *_text(inspect.getdoc(module) or "", {})]
    home = {}
    for name in public_names(module):
        value = getattr(module, name)
        defined = getattr(value, "__module__", module.__name__)
        if inspect.isclass(value) or callable(value):
            other = _package_of(defined)
            if module is ai_core and other != "ai_core" and hasattr(sys.modules[other], name):
                home[name] = other
                continue
        parts += _class(name, value) if inspect.isclass(value) else _value(name, value)
    if home:
        links = "\n".join(f"- `{name}`: [{other}]({other}.md)" for name, other in home.items())
        parts += ["## From the packages", links]
    return "\n\n".join(part for part in parts if part) + "\n"


def _package_of(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 or (parts[1:] and parts[1] in ai_core.PACKAGES) else "ai_core"


def _class(name: str, kind: type[Any]) -> Iterator[str]:
    yield f"## {name}"
    if issubclass(kind, enum.Enum):
        yield from _text(inspect.getdoc(kind) or "", {})
        yield "\n".join(f"- `{one.name}` = `{one.value!r}`" for one in kind)
        return
    bases = [
        f"`{base.__name__}`" for base in kind.__bases__
        if base.__module__.startswith("ai_core") and base.__name__[0] != "_"]
    yield _code(f"class {name}{_signature(kind)}", f"extends {', '.join(bases)}" if bases else "")
    yield from _text(inspect.getdoc(kind) or "", _types(kind.__init__))
    for member, value in sorted(_members(kind).items()):
        yield from _member(member, value)


def _members(kind: type[Any]) -> dict[str, object]:
    """Return the public methods and properties that a class or a private base of ours defines."""
    found: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("ai_core"):
            found |= {name: value for name, value in vars(base).items() if name[0] != "_" and _is_member(value)}
    return {name: value for name, value in found.items() if _doc(value)}


def _is_member(value: object) -> bool:
    return isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)


def _doc(value: object) -> str:
    inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    return inspect.cleandoc(getattr(inner, "__doc__", "") or "")


def _member(name: str, value: object) -> Iterator[str]:
    if isinstance(value, property):
        returned = inspect.get_annotations(value.fget).get("return", "") if value.fget else ""
        yield f"### {name}"
        yield _code(f"{name}: {returned}", "can be set" if value.fset else "")
        yield from _text(_doc(value), {})
        return
    inner: Callable[..., Any] = value.__func__ if isinstance(value, classmethod | staticmethod) else value  # type: ignore[assignment]
    kind = {classmethod: "class method", staticmethod: "static method"}.get(type(value), "")
    yield f"### {name}"
    yield _code(f"{name}{_signature(inner, is_method=not isinstance(value, staticmethod))}", kind)
    yield from _text(_doc(value), _types(inner))


def _value(name: str, value: object) -> Iterator[str]:
    yield f"## {name}"
    if callable(value) and hasattr(value, "__name__"):
        yield _code(f"{name}{_signature(value)}")
        yield from _text(inspect.getdoc(value) or "", _types(value))
    elif isinstance(value, int | float | str | tuple):
        yield _code(f"{name} = {value!r}")
    else:
        yield _code(f"{name}: {value}")


def _code(text: str, note: str = "") -> str:
    """Return a declaration as code, one argument a line where it would be long; a phone shows 40 letters."""
    if len(text) > _LONG and "(" in text and not text.endswith("(…)"):
        head, _, rest = text.partition("(")
        inner, _, end = rest.rpartition(")")
        text = f"{head}(\n" + "".join(f"    {part},\n" for part in _arguments(inner)) + f"){end}"
    return f"```python\n{text}\n```" + (f"\n\n*{note}*" if note else "")


def _arguments(text: str) -> list[str]:
    """Split arguments at the commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def _signature(value: Callable[..., Any], *, is_method: bool = False) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    parameters = list(signature.parameters.values())
    if is_method and parameters:
        signature = signature.replace(parameters=parameters[1:])
    if inspect.isclass(value):
        signature = signature.replace(return_annotation=inspect.Signature.empty)
    text = re.sub(r": '([^']*)'", r": \1", str(signature))
    text = re.sub(r"-> '([^']*)'", r"-> \1", text)
    return re.sub(r"<(?:factory|object)[^>]*>", "…", text)


def _types(value: object) -> dict[str, str]:
    try:
        return {name: str(kind) for name, kind in inspect.get_annotations(value).items()}  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return {}


def _text(doc: str, types: dict[str, str]) -> Iterator[str]:
    """Turn a docstring into Markdown: text, lists of arguments with types, a line each for cost and source."""
    section, block = "", []
    for line in [*doc.splitlines(), "Cost:"]:
        if found := _START.match(line):
            yield from _section(section, block, types)
            section, block = found.group(1), [found.group(2)] if found.group(2) else []
        else:
            block.append(line)


def _section(section: str, lines: list[str], types: dict[str, str]) -> Iterator[str]:
    if section in ("", "Returns", "Yields", "Cost", "Source"):
        text = "\n".join(lines).strip()
        if text:
            prose, examples = _without_examples(inspect.cleandoc(text))
            yield (f"**{section}**: " if section else "") + _inline(prose)
            if examples:
                yield f"```pycon\n{examples}\n```"
        return
    entries: list[list[str]] = []
    prose = []
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    for line in lines:
        found = _ENTRY.match(line[margin:]) if line.strip() else None
        if found and len(line) - len(line.lstrip()) == margin:
            entries.append([found.group(1), found.group(2)])
        elif (line.strip() and margin and len(line) - len(line.lstrip()) < margin) or not entries:
            prose.append(line)
        elif line.strip():
            entries[-1][1] += " " + line.strip()
    rows = []
    for name, text in entries:
        kind = types.get(name.lstrip("*"), "")
        typed = f"{name}: {kind}" if kind and section == "Args" else name
        rows.append(f"- `{typed}`: {_inline(text)}")
    if rows:
        yield f"**{'Arguments' if section == 'Args' else section}**"
        yield "\n".join(rows)
    if rest := "\n".join(prose).strip():
        yield _inline(rest)


def _without_examples(text: str) -> tuple[str, str]:
    """Return text and the doctest examples in it."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    return "\n".join(lines[:start]).strip(), "\n".join(lines[start:]).strip()


def _inline(text: str) -> str:
    """Turn the mark-up of docstrings into Markdown, where a list begins after an empty line."""
    text = re.sub(r"(?m)^(?!- |  )(.+)\n(?=- )", r"\1\n\n", text)
    parts = re.split(r"(``[^`]+``)", text)
    return "".join(
        f"`{part.strip('`')}`" if part.startswith("``") else re.sub(r"([_<|])", r"\\\1", part).replace("*", r"\*")
        for part in parts)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
