"""Libraries for macOS: joining the parts of two processors, and reading what they say."""
from __future__ import annotations

import struct

import pytest

from tools.mach_o import Part, join, parts_of

ARM, INTEL = 0x0100000C, 0x01000007


def library(processor, name="@rpath/a.dylib", needs="/usr/lib/libSystem.B.dylib"):
    """Return a library's beginning: its name, what it needs, the oldest system, a signature."""
    commands = [struct.pack("<III12x", 0xD, 24 + 32, 24) + name.encode().ljust(32, b"\0"),
                struct.pack("<III12x", 0xC, 24 + 32, 24) + needs.encode().ljust(32, b"\0"),
                struct.pack("<IIIIII", 0x32, 24, 1, 11 << 16, 0, 0), struct.pack("<IIII", 0x1D, 16, 0, 0)]
    header = struct.pack("<IIIIIIII", 0xFEEDFACF, processor, 0, 6, len(commands), 0, 0, 0)
    return header + b"".join(commands) + b"code"


def test_a_universal_library_holds_a_part_for_each_processor(tmp_path):
    for name, processor in (("arm", ARM), ("intel", INTEL)):
        (tmp_path / name).write_bytes(library(processor))
    join([tmp_path / "arm", tmp_path / "intel"], tmp_path / "both")
    needs = ("/usr/lib/libSystem.B.dylib",)
    expected = [Part(processor, "@rpath/a.dylib", needs, "11.0", True) for processor in ("arm64", "x86_64")]
    assert parts_of(tmp_path / "both") == expected
    assert parts_of(tmp_path / "arm") == expected[:1]


def test_each_part_begins_at_a_page(tmp_path):
    (tmp_path / "arm").write_bytes(library(ARM))
    (tmp_path / "intel").write_bytes(library(INTEL) + b"longer" * 9000)
    join([tmp_path / "intel", tmp_path / "arm"], tmp_path / "both")
    content = (tmp_path / "both").read_bytes()
    offsets = [struct.unpack_from(">IIIII", content, 8 + 20 * index)[2] for index in range(2)]
    assert [offset % 16384 for offset in offsets] == [0, 0]
    assert content[offsets[1]:] == library(ARM)


def test_what_is_no_library_for_macos_is_refused(tmp_path):
    (tmp_path / "linux").write_bytes(b"\x7fELF" + bytes(60))
    with pytest.raises(ValueError, match="must be a 64-bit Mach-O file"):
        join([tmp_path / "linux"], tmp_path / "both")
