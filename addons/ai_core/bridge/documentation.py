"""The editor's hover texts, made from the docstrings and ``doc=`` of a declared class."""
from __future__ import annotations

import inspect
import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from addons.ai_core.bridge.declarations import export, hook, signal
from addons.ai_core.bridge.engine_types import TYPE_NUMBERS
from addons.ai_core.bridge.registration import declared_by

CODE = re.compile("``([^`]+)``")

TYPE_NAMES = {number: getattr(kind, "__name__", "Variant") for kind, number in reversed(TYPE_NUMBERS.items())}
TYPE_NAMES.update({
    0: "Variant", 4: "String", 24: "Object", 25: "Callable", 27: "Dictionary", 28: "Array",
    29: "PackedByteArray",
})


def class_xml(cls: type) -> str:
    """Return the class reference of a declared class in the engine's XML format."""
    declared: dict[str, Any] = cls.__declared__  # type: ignore[attr-defined]
    brief, _, rest = inspect.cleandoc(cls.__doc__ or "").partition("\n")
    own = declared_by(cls)
    members = "".join(_member(one, cls.__name__) for one in own.values() if isinstance(one, export))
    signals = "".join(_signal(one, cls.__name__) for one in own.values() if isinstance(one, signal))
    methods = "".join(
        _method(one, own[one["name"]])
        for one in [*declared["methods"], *declared["hooks"]] if one["name"] in own
    )
    return (
        f"<class name={quoteattr(cls.__name__)} inherits={quoteattr(declared['parent'])}>"
        f"<brief_description>{_shown(brief)}</brief_description>"
        f"<description>{_shown(_paragraphs(rest) or brief)}</description>"
        f"<methods>{methods}</methods><members>{members}</members><signals>{signals}</signals>"
        f"<constants>{_constants(declared['constants'], own)}</constants></class>"
    )


def _shown(text: str) -> str:
    """Return text as the editor shows it: brackets are none of its tags, names in ``double`` ticks are code."""
    text = escape(text).replace("[", "\0").replace("]", "[rb]").replace("\0", "[lb]")
    return CODE.sub(r"[code]\1[/code]", text)


def _constants(constants: list[tuple[str, str, int]], own: dict[str, Any]) -> str:
    """Describe the values of enums by the properties that take them."""
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


def _member(one: export, class_name: str) -> str:
    described = one.describe(class_name)
    return (
        f"<member name={quoteattr(one.name)} type={quoteattr(_type(described))}"
        f" setter={quoteattr(described['setter'])} getter={quoteattr(described['getter'])}>"
        f"{_shown(one.doc)}</member>"
    )


def _parameters(arguments: list[dict[str, Any]]) -> str:
    return "".join(
        f"<param index=\"{index}\" name={quoteattr(one['name'])} type={quoteattr(_type(one))}/>"
        for index, one in enumerate(arguments)
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
        f"{_parameters(described['arguments'])}"
        f"<description>{_shown(_paragraphs(inspect.getdoc(function) or ''))}</description></method>"
    )
