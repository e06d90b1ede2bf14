"""The C tables the bridge is built with, from what an engine dumps about itself."""
from __future__ import annotations

import json

import pytest

from tools.generate_interface import interface_functions, methods_asked_for, write_function_table, write_hashes

HEADER = """
/**
 * @name get_godot_version
 * @since 4.1
 * @deprecated in Godot 4.5. Use `get_godot_version2` instead.
 *
 * Gets the version.
 */
typedef void (*GDExtensionInterfaceGetGodotVersion)(GDExtensionGodotVersion *r_version);

/**
 * @name mem_alloc
 * @since 4.1
 *
 * @return A pointer.
 */
typedef void *(*GDExtensionInterfaceMemAlloc)(size_t p_bytes);

/**
 * @name newest_thing
 * @since 4.6
 */
typedef GDExtensionBool (*GDExtensionInterfaceNewestThing)(GDExtensionConstObjectPtr p_object);
"""

API = {
    "header": {"version_full_name": "Godot Engine v4.6.3"},
    "builtin_classes": [{"name": "Array", "methods": [{"name": "size", "hash": 11}]}],
    "classes": [{"name": "Node", "methods": [
        {"name": "get_path", "hash": 22, "hash_compatibility": [7, 8]},
        {"name": "_ready", "is_virtual": True},
    ]}],
}


def write_api(folder):
    file = folder / "extension_api.json"
    file.write_text(json.dumps(API))
    return file


def source(folder, text):
    file = folder / "methods.pxi"
    file.write_text(text)
    return file


def test_each_function_is_read_with_type_and_introducing_engine():
    functions = interface_functions(HEADER)
    assert [(one.name, one.c_type, one.since) for one in functions] == [
        ("get_godot_version", "GDExtensionInterfaceGetGodotVersion", (4, 1)),
        ("mem_alloc", "GDExtensionInterfaceMemAlloc", (4, 1)),
        ("newest_thing", "GDExtensionInterfaceNewestThing", (4, 6)),
    ]


def test_only_what_the_oldest_engine_has_and_keeps_is_required():
    assert [one.name for one in interface_functions(HEADER) if one.is_required] == ["mem_alloc"]


def test_what_a_later_engine_deprecates_is_not_required():
    header = HEADER.replace("mem_alloc", "object_cast_to")
    assert [one.name for one in interface_functions(header) if one.is_required] == []


def test_a_function_that_cannot_be_read_is_named_and_not_lost():
    broken = HEADER.replace("@since 4.6", "@from 4.6")
    with pytest.raises(ValueError, match="could not read newest_thing"):
        interface_functions(broken)


def test_newer_function_is_looked_up_only_in_engines_with_it(tmp_path):
    header = tmp_path / "gdextension_interface.h"
    header.write_text(HEADER)
    asked = source(tmp_path, "gd_newest_thing(NULL); gd_mem_alloc(8)")
    write_function_table(header, [asked], tmp_path)
    table = (tmp_path / "engine_interface.c").read_text()
    assert "get_godot_version" not in table, "no source names it"
    assert "LOOK_UP(newest_thing, GDExtensionInterfaceNewestThing, 4, 6, 0)" in table
    assert "extern GDExtensionInterfaceMemAlloc gd_mem_alloc;" in (tmp_path / "engine_interface.h").read_text()


def test_hashes_are_written_only_for_names_used_by_the_sources(tmp_path):
    asked = source(tmp_path, "need(HASH_Node_get_path); need(HASH_Node_get_path)")
    write_hashes(write_api(tmp_path), [asked], tmp_path)
    defined = [line for line in (tmp_path / "engine_hashes.h").read_text().splitlines() if "#define" in line]
    assert defined == ["#define HASH_Node_get_path 22LL  /* also answers to 7, 8 */"]


def test_a_method_of_a_builtin_type_has_a_hash_too(tmp_path):
    assert methods_asked_for([source(tmp_path, "HASH_Array_size")]) == [("Array", "size")]
    write_hashes(write_api(tmp_path), [tmp_path / "methods.pxi"], tmp_path)
    assert "#define HASH_Array_size 11LL\n" in (tmp_path / "engine_hashes.h").read_text()


@pytest.mark.parametrize("name", ["Node_get_paht", "Node__ready"])
def test_a_method_without_a_hash_is_refused_by_name(tmp_path, name):
    asked = source(tmp_path, f"HASH_{name}")
    with pytest.raises(ValueError, match=f"no method .*correct HASH_{name}"):
        write_hashes(write_api(tmp_path), [asked], tmp_path)
