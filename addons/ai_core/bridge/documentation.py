"""The class reference, made from docstrings and ``doc=``: the editor's hover texts and the manual's pages."""
from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from addons.ai_core.bridge.declarations import export, hook, is_always_flat, signal
from addons.ai_core.bridge.engine_types import TYPE_NUMBERS
from addons.ai_core.bridge.in_editor import is_in_editor
from addons.ai_core.bridge.registration import declared_by, declared_classes

HEADER = '<?xml version="1.0" encoding="UTF-8" ?>\n'

CODE = re.compile("``([^`]+)``")

TYPE_NAMES = {number: getattr(kind, "__name__", "Variant") for kind, number in reversed(TYPE_NUMBERS.items())}
TYPE_NAMES.update({
    0: "Variant", 4: "String", 24: "Object", 25: "Callable", 27: "Dictionary", 28: "Array",
    29: "PackedByteArray",
})


def write_reference(folder: Path, package: str) -> None:
    """Write the class reference of every class declared in ``package`` into ``folder``, as Class.xml."""
    folder.mkdir(parents=True, exist_ok=True)
    for cls in (cls for cls in declared_classes if cls.__module__.startswith(f"{package}.")):
        (folder / f"{cls.__name__}.xml").write_text(HEADER + class_xml(cls) + "\n", encoding="utf-8")


def class_xml(cls: type) -> str:
    """Return the class reference of a declared class in the engine's XML format."""
    declared: dict[str, Any] = cls.__declared__  # type: ignore[attr-defined]
    words = declared["keywords"]
    brief, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\n")
    own = declared_by(cls)
    members = "".join(_member(one, cls) for one in own.values() if isinstance(one, export))
    signals = "".join(_signal(one, cls.__name__) for one in own.values() if isinstance(one, signal))
    callables = [*declared["methods"], *declared["hooks"], *(declared["editor_methods"] if is_in_editor() else ())]
    methods = "".join(_method(one, own[one["name"]]) for one in callables if one["name"] in own)
    return (
        f"<class name={quoteattr(cls.__name__)} inherits={quoteattr(declared['parent'])}"
        f"{words and f' keywords={quoteattr(words)}'}>"
        f"<brief_description>{_shown(brief)}</brief_description>"
        f"<description>{_shown(_paragraphs(rest) or brief)}</description>"
        f"<methods>{methods}</methods><members>{members}</members><signals>{signals}</signals>"
        f"<constants>{_constants(declared['constants'], own)}</constants></class>"
    )


def _shown(text: str) -> str:
    """Return text for the editor: brackets are escaped, and names in ``double`` ticks are code."""
    text = escape(text).replace("[", "\0").replace("]", "[rb]").replace("\0", "[lb]")
    return CODE.sub(r"[code]\1[/code]", text)


def _constants(constants: list[tuple[str, str, int]], own: dict[str, Any]) -> str:
    """Describe the values of enums by their properties."""
    takes = {one.type.__name__: name for name, one in own.items() if isinstance(one, export) and one.is_enum}
    return "".join(
        f"<constant name={quoteattr(name)} value=\"{value}\" enum={quoteattr(enum)}>"
        f"{f'A value of [member {takes[enum]}].' if enum in takes else f'A value of {enum}.'}</constant>"
        for enum, name, value in constants
    )


def _paragraphs(text: str) -> str:
    return "\n".join(" ".join(block.split()) for block in text.split("\n\n")).strip()


def _type(described: dict[str, Any]) -> str:
    return described.get("class_name") or TYPE_NAMES[described["type"]]


def _member(one: export, cls: type) -> str:
    is_flat = is_always_flat(cls)
    described = one.describe(cls.__name__, is_flat=is_flat)
    default = one.default_2d if one.power and is_flat else one.default
    doc = one.doc
    if one.power and not is_flat and getattr(cls, "is_flat", False) is not False:
        doc += f" In 2D in {one.unit.replace('m', 'px', 1)}, by default {_value(one.default_2d)}."
    return (
        f"<member name={quoteattr(one.name)} type={quoteattr(_type(described))}"
        f" default={quoteattr('{}' if one.type is dict and default == () else _value(default))}"
        f" setter={quoteattr(described['setter'])} getter={quoteattr(described['getter'])}"
        f" hint={quoteattr(described.get('hint_string', ''))}>"  # for the manual
        f"{_shown(doc)}</member>"
    )


def _value(value: Any) -> str:
    """Return a value as GDScript writes it."""
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(int(value))
    if isinstance(value, str):
        sign = {"StringName": "&", "NodePath": "^"}.get(type(value).__name__, "")
        return f'{sign}"{value}"'
    return "[]" if value == () else str(value)


def _parameters(arguments: list[dict[str, Any]], defaults: tuple[Any, ...] = ()) -> str:
    missing = len(arguments) - len(defaults)
    values = [""] * missing + [f" default={quoteattr(_value(one))}" for one in defaults]
    return "".join(
        f"<param index=\"{index}\" name={quoteattr(one['name'])} type={quoteattr(_type(one))}{value}/>"
        for index, (one, value) in enumerate(zip(arguments, values, strict=True))
    )


def _signal(one: signal, class_name: str) -> str:
    described = one.describe(class_name)
    return (
        f"<signal name={quoteattr(str(one.name))}>{_parameters(described['arguments'])}"
        f"<description>{_shown(one.doc)}</description></signal>"
    )


def _method(described: dict[str, Any], function: Any) -> str:
    qualifiers = ' qualifiers="virtual"' if isinstance(function, hook) else ""
    returned = _type(described["result"]) if described["result"] else "void"
    return (
        f"<method name={quoteattr(described['name'])}{qualifiers}><return type={quoteattr(returned)}/>"
        f"{_parameters(described['arguments'], tuple(described.get('defaults', ())))}"
        f"<description>{_shown(_paragraphs(inspect.getdoc(function) or ''))}</description></method>"
    )
