"""Generate the C table of engine functions and method hashes that the bridge is built with.

From two files that Godot dumps about itself:

- ``gdextension_interface.h`` gives ``engine_interface.h`` and ``.c``: one pointer
  ``gd_<name>`` per interface function that the bridge's sources name, and ``engine_interface_load``, which fills them.
  Godot 4.6 also dumps this header as JSON; the header is read because 4.4 and 4.5
  write it too, with the same ``@name`` and ``@since`` marks.
- ``extension_api.json`` gives ``engine_hashes.h``: ``HASH_<Class>_<method>`` for the
  methods whose hash the bridge's sources name so, which thus hold no magic numbers.

The results belong into a build folder and are never committed.
"""
from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

OLDEST_ENGINE = (4, 4)
"""Oldest Godot the bridge runs on; what it offers must be there, newer functions may be NULL."""

DEPRECATED_LATER = {"object_cast_to": (4, 7), "classdb_get_class_tag": (4, 7)}
"""What an engine deprecates that may be newer than the one at hand, whose header does not say so yet."""

HASH_NAME = re.compile(r"\bHASH_([A-Za-z0-9]+)_(\w+)")
"""How a source asks for a hash; no class of the engine has an underscore in its name."""

FUNCTION_NAME = re.compile(r"\bgd_(\w+)")
"""How a source names a function of the interface."""

DECLARATION = re.compile(
    r"@name (?P<name>\w+)\s+\*\s*@since (?P<major>\d+)\.(?P<minor>\d+)"
    r"(?P<comment>(?:(?!\*/).)*)\*/\s*typedef [^;]*?\(\*(?P<type>\w+)\)\(",
    re.DOTALL,
)


class InterfaceFunction(NamedTuple):
    """One function of the interface: its name, C type and the engine that brought it."""

    name: str
    c_type: str
    since: tuple[int, int]
    is_deprecated: bool

    @property
    def is_required(self) -> bool:
        """Deprecated functions are not: an engine may be built without them."""
        return self.since <= OLDEST_ENGINE and not self.is_deprecated


def interface_functions(header: str) -> list[InterfaceFunction]:
    """Return the functions that the text of ``gdextension_interface.h`` declares, in its order.

    Raises:
        ValueError: if a declared ``@name`` could not be read, so that none is lost in silence.
    """
    functions = [
        InterfaceFunction(
            match["name"],
            match["type"],
            (int(match["major"]), int(match["minor"])),
            "@deprecated" in match["comment"] or match["name"] in DEPRECATED_LATER,
        )
        for match in DECLARATION.finditer(header)
    ]
    named = set(re.findall(r"@name (\w+)", header))
    unread = sorted(named - {function.name for function in functions})
    if unread or not functions:
        raise ValueError(
            f"gdextension_interface.h: could not read {', '.join(unread) or 'any function'};"
            " this engine writes its header differently, so teach DECLARATION its form"
        )
    return functions


def write_function_table(header: Path, sources: Iterable[Path], folder: Path) -> None:
    """Write ``engine_interface.h`` and ``engine_interface.c`` into ``folder``.

    They hold the functions that ``sources`` name and no others, for an engine that is built without what is
    deprecated prints an error when it is asked for that.
    """
    named = {name for file in sources for name in FUNCTION_NAME.findall(file.read_text("utf-8"))}
    functions = [one for one in interface_functions(header.read_text(encoding="utf-8")) if one.name in named]
    externs = "\n".join(f"extern {f.c_type} gd_{f.name};" for f in functions)
    pointers = "\n".join(f"{f.c_type} gd_{f.name};" for f in functions)
    lookups = "\n".join(_lookup(function) for function in functions)
    (folder / "engine_interface.h").write_text(HEADER.replace("@EXTERNS@", externs), encoding="utf-8")
    (folder / "engine_interface.c").write_text(
        SOURCE.replace("@POINTERS@", pointers).replace("@LOOKUPS@", lookups), encoding="utf-8"
    )


def _lookup(function: InterfaceFunction) -> str:
    major, minor = function.since
    required = int(function.is_required)
    return f"    LOOK_UP({function.name}, {function.c_type}, {major}, {minor}, {required})"


def write_hashes(api_file: Path, sources: Iterable[Path], folder: Path) -> None:
    """Write ``engine_hashes.h`` into ``folder``, with each ``HASH_…`` that ``sources`` name.

    Hashes ought to come from the oldest supported engine: newer ones keep them as aliases,
    older ones know nothing of newer hashes. Only the engine at hand is dumped, so call by
    hash only methods whose signature is the same since ``OLDEST_ENGINE``. Where an engine
    lists aliases, they are noted beside the hash, for whoever looks into a failed lookup.

    Raises:
        ValueError: if this engine lacks one of the methods.
    """
    api = json.loads(api_file.read_text(encoding="utf-8"))
    methods = {
        (owner["name"], method["name"]): method
        for owner in [*api["builtin_classes"], *api["classes"]]
        for method in owner.get("methods", ())
    }
    lines = []
    for owner, name in methods_asked_for(sources):
        method = methods.get((owner, name), {})
        if "hash" not in method:
            raise ValueError(f"this engine has no method {owner}.{name}; correct HASH_{owner}_{name}")
        aliases = ", ".join(str(alias) for alias in method.get("hash_compatibility", ()))
        note = f"  /* also answers to {aliases} */" if aliases else ""
        lines.append(f"#define HASH_{owner}_{name} {method['hash']}LL{note}\n")
    version = api["header"]["version_full_name"]
    text = f"#pragma once\n/* Method hashes of {version}. */\n" + "".join(lines)
    (folder / "engine_hashes.h").write_text(text, encoding="utf-8")


def methods_asked_for(sources: Iterable[Path]) -> list[tuple[str, str]]:
    """Return each (class, method) that a source names as ``HASH_<Class>_<method>``, sorted."""
    return sorted({pair for file in sources for pair in HASH_NAME.findall(file.read_text("utf-8"))})


def generate(sources: Iterable[Path], folder: Path) -> None:
    """Write all generated files into ``folder``, which holds the engine's two dumps."""
    sources = list(sources)
    write_function_table(folder / "gdextension_interface.h", sources, folder)
    write_hashes(folder / "extension_api.json", sources, folder)


HEADER = """\
#pragma once
/* The engine's functions as pointers. Generated; see tools/generate_interface.py. */
#include "gdextension_interface.h"

@EXTERNS@

/* Look every function up that an engine of this version has; newer ones stay NULL.
 * Returns 1, or 0 with *missing naming a function that every supported engine must have. */
int engine_interface_load(GDExtensionInterfaceGetProcAddress get, uint32_t major,
                          uint32_t minor, const char **missing);
"""

SOURCE = """\
/* Generated; see tools/generate_interface.py. */
#include "engine_interface.h"

@POINTERS@

/* Asking an engine for a function newer than itself prints an ERROR, so age is asked first. */
#define LOOK_UP(name, type, since_major, since_minor, required)                          \\
    gd_##name = 0;                                                                       \\
    if (major > since_major || (major == since_major && minor >= since_minor)) {         \\
        gd_##name = (type)(void (*)(void))get(#name);                                    \\
    }                                                                                    \\
    if (required && !gd_##name) {                                                        \\
        if (missing) *missing = #name;                                                   \\
        return 0;                                                                        \\
    }

int engine_interface_load(GDExtensionInterfaceGetProcAddress get, uint32_t major,
                          uint32_t minor, const char **missing) {
@LOOKUPS@
    return 1;
}
"""
