"""macOS: what is built for it, read on this machine, for there is nothing here that runs it."""
from __future__ import annotations

import pytest

from tools import build_bridge, zig
from tools.mach_o import parts_of
from tools.preparation import build_for
from tools.targets import TARGETS

TARGET = TARGETS["macos.universal"]
pytestmark = [
    pytest.mark.skipif(not zig.is_there(), reason="zig is not in the cache: dev.py build --target macos.universal"),
    pytest.mark.timeout(1200),
]


@pytest.fixture(scope="module")
def libraries(prepared):
    build_for(TARGET, prepared)
    return [file for file in build_bridge.library_folder(TARGET).rglob("*") if file.suffix in {".so", ".dylib"}]


def test_every_library_serves_both_processors_from_macos_11(libraries):
    for library in libraries:
        parts = [(part.processor, part.oldest_system) for part in parts_of(library)]
        assert parts == [("arm64", "11.0"), ("x86_64", "11.0")], library


def test_libraries_need_the_system_alone_and_are_signed(libraries):
    for library in libraries:
        arm, intel = parts_of(library)
        assert arm.needs == intel.needs == ("/usr/lib/libSystem.B.dylib",), library
        assert arm.is_signed, f"{library}: arm64 starts nothing that is not signed, ad hoc at least"
        assert arm.install_name.startswith("@rpath/")


def test_loader_bridge_and_all_loops_are_there(libraries):
    names = {file.name for file in libraries}
    wanted = {kernel.name + TARGET.suffix for kernel in build_bridge.kernel_extensions(TARGET)}
    assert names == {TARGET.loader, "_bridge.abi3.so", *wanted}
    assert b"ai_core_entry" in build_bridge.loader_file(TARGET).read_bytes()
