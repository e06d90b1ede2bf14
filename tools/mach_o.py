"""Libraries for macOS: one file for both processors, and what a file says of itself."""
from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_FAT_MAGIC = 0xCAFEBABE
_THIN_MAGIC = 0xFEEDFACF  # 64 bits, little endian
PROCESSORS = {0x01000007: "x86_64", 0x0100000C: "arm64"}
# Pages of arm64; a part that begins between two is refused by the system.
_ALIGN_BITS = 14
_LOAD_DYLIB, _ID_DYLIB, _CODE_SIGNATURE, _BUILD_VERSION = 0xC, 0xD, 0x1D, 0x32


class Part(NamedTuple):
    """What the part for one processor says of itself."""

    processor: str
    install_name: str
    needs: tuple[str, ...]
    oldest_system: str
    is_signed: bool


def join(parts: Sequence[Path], universal: Path) -> None:
    """Write one library that holds the given ones, each for another processor."""
    contents = [part.read_bytes() for part in parts]
    header, body, offset = struct.pack(">II", _FAT_MAGIC, len(contents)), b"", _aligned(8 + 20 * len(contents))
    start = offset
    for content in contents:
        magic, processor, kind = struct.unpack_from("<III", content)
        if magic != _THIN_MAGIC:
            raise ValueError(f"a part must be a 64-bit Mach-O file, got one that begins with {magic:#x}")
        header += struct.pack(">IIIII", processor, kind, offset, len(content), _ALIGN_BITS)
        body += b"\0" * (offset - start - len(body)) + content
        offset = _aligned(offset + len(content))
    universal.write_bytes(header.ljust(start, b"\0") + body)


def parts_of(library: Path) -> list[Part]:
    """Return what each processor's part of a library says, from its load commands.

    Raises:
        ValueError: if it is no 64-bit Mach-O file.
    """
    content = library.read_bytes()
    magic, count = struct.unpack_from(">II", content)
    if magic != _FAT_MAGIC:
        return [_read(content)]
    places = [struct.unpack_from(">IIIII", content, 8 + 20 * index)[2:4] for index in range(count)]
    return [_read(content[offset:offset + size]) for offset, size in places]


def _read(content: bytes) -> Part:
    magic, processor, _, _, count = struct.unpack_from("<IIIII", content)
    if magic != _THIN_MAGIC:
        raise ValueError(f"a library for macOS must be a 64-bit Mach-O file, got one that begins with {magic:#x}")
    install_name, needs, oldest, is_signed, at = "", [], "", False, 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", content, at)
        kind = command & 0xFFFF
        if kind in (_LOAD_DYLIB, _ID_DYLIB):
            [begin] = struct.unpack_from("<I", content, at + 8)
            name = content[at + begin:at + size].partition(b"\0")[0].decode()
            if kind == _ID_DYLIB:
                install_name = name
            else:
                needs.append(name)
        elif kind == _BUILD_VERSION:
            [version] = struct.unpack_from("<I", content, at + 12)
            oldest = f"{version >> 16}.{version >> 8 & 255}"
        is_signed = is_signed or kind == _CODE_SIGNATURE
        at += size
    return Part(PROCESSORS.get(processor, hex(processor)), install_name, tuple(needs), oldest, is_signed)


def _aligned(offset: int) -> int:
    page = 1 << _ALIGN_BITS
    return (offset + page - 1) // page * page
