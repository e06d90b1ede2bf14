"""A page of the manual for each class, made from the XML that the editor shows on hover."""
from __future__ import annotations

import math
import re
from collections.abc import Iterable
from xml.etree import ElementTree

ENGINE_MANUAL = "https://docs.godotengine.org/en/stable/classes/class_{}.html"


def class_page(page: ElementTree.Element, ours: Iterable[str]) -> str:
    """Return the Markdown page of one class.

    Args:
        page: the ``<class>`` of its XML.
        ours: names of all classes that have a page.
    """
    known = set(ours)
    name, parent = page.get("name", ""), page.get("inherits", "")
    brief, text = text_of(page, "brief_description"), text_of(page, "description")
    parts = [f"# {name}", f"Inherits {_link(parent, known)}.", brief]
    parts += [text] if text != brief else []
    members = list(page.iter("member"))
    if members:
        parts += ["## Properties", *(_property(one, known) for one in members)]
    for title, methods in (
        ("Methods", [one for one in page.iter("method") if not one.get("qualifiers")]),
        ("Methods that a script may override", [one for one in page.iter("method") if one.get("qualifiers")]),
    ):
        if methods:
            parts += [f"## {title}", *(_callable(one, known) for one in methods)]
    signals = list(page.iter("signal"))
    if signals:
        parts += ["## Signals", *(_callable(one, known) for one in signals)]
    return "\n\n".join([*parts, *_enums(page)]) + "\n"


def text_of(element: ElementTree.Element, tag: str = "") -> str:
    """Return a description as Markdown."""
    return markdown((element.findtext(tag) if tag else element.text) or "")


def markdown(text: str) -> str:
    """Turn the editor's tags into Markdown; a line becomes a paragraph."""
    text = re.sub(r"\[code\](.*?)\[/code\]", r"`\1`", text)
    text = re.sub(r"\[(?:member|method|signal|enum|constant|param) ([^\]]+)\]", r"`\1`", text)
    text = re.sub(r"\[([A-Z]\w*)\]", r"`\1`", text).replace("[lb]", "[").replace("[rb]", "]")
    # Outside code a name with underscores, a star or a bracket is itself, no mark-up.
    parts = re.split(r"(`[^`]*`)", text)
    parts = [
        part if part.startswith("`") else re.sub(r"([*_\[\]])", r"\\\1", part).replace("<", "&lt;") for part in parts]
    return "\n\n".join(line.strip() for line in "".join(parts).splitlines() if line.strip())


def _link(type_name: str, known: set[str]) -> str:
    plain = type_name.partition(".")[0]
    if plain in known:
        return f"[{type_name}]({plain}.md)"
    return f"[{type_name}]({ENGINE_MANUAL.format(plain.lower())})" if plain and plain != "void" else type_name


def _property(member: ElementTree.Element, known: set[str]) -> str:
    default, hint = member.get("default"), member.get("hint", "")
    limits = limits_of(hint) if member.get("type") in {"int", "float"} else ""
    if default and "radians_as_degrees" in hint:
        default = f"{math.degrees(float(default)):.0f}°"
    shown = f" = `{default}`" if default is not None else ""
    kind = f"{_link(member.get('type', ''), known)}{shown}{limits and f', {limits}'}"
    return f"### {member.get('name')}\n\n{kind}\n\n{text_of(member)}"


def limits_of(hint: str) -> str:
    """Say what the inspector's hint "0,100,0.1,or_greater,suffix:m" means: "0 m to 100 m and more"."""
    words = hint.split(",")
    if len(words) < 2 or not re.fullmatch(r"[-\d.e+inf]+", words[0]):
        return ""
    unit = "°" if "radians_as_degrees" in words else "".join(
        f" {word.removeprefix('suffix:')}" for word in words if word.startswith("suffix:"))
    more = " and more" if "or_greater" in words else ""
    return f"in{unit}, 0 or more" if words[1] == "1e+09" else f"{words[0]} to {words[1]}{unit}{more}"


def _callable(one: ElementTree.Element, known: set[str]) -> str:
    parameters = ", ".join(_parameter(inner) for inner in one.iter("param"))
    returned = one.find("return")
    kind = "void" if returned is None else returned.get("type", "")
    result = "" if kind == "void" else f" → {_link(kind, known)}"
    return f"### {one.get('name')}\n\n`{one.get('name')}({parameters})`{result}\n\n{text_of(one, 'description')}"


def _parameter(one: ElementTree.Element) -> str:
    default = one.get("default")
    return f"{one.get('name')}: {one.get('type')}" + (f" = {default}" if default is not None else "")


def _enums(page: ElementTree.Element) -> list[str]:
    constants = list(page.iter("constant"))
    enums = dict.fromkeys(one.get("enum", "") for one in constants)
    lines = [
        f"### {enum}\n\n" + "\n".join(
            f"- `{one.get('name')}` = {one.get('value')}" for one in constants if one.get("enum") == enum
        )
        for enum in enums
    ]
    return ["## Enumerations", *lines] if lines else []
