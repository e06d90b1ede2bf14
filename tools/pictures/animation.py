"""Frames as an animated PNG of 255 colours: ``python -m tools.pictures.animation RAW WIDTH HEIGHT MS OUT``.

A frame holds only the rectangle that changed, and in it only the pixels that changed; the rest is transparent.
"""
from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_COLOURS = 255
_TRANSPARENT = 255
_BITS = 5
"""Bits of each channel by which colours are counted: 32,768 kinds; one bit more takes eight times as long."""

Frames = NDArray[np.uint8]


def main(raw: Path, width: int, height: int, frame_ms: int, out: Path) -> None:
    """Turn a file of RGB frames, one after the other, into an APNG."""
    pixels = np.frombuffer(raw.read_bytes(), np.uint8).reshape(-1, height, width, 3)
    palette, frames = indexed(pixels)
    out.write_bytes(apng(palette, frames, frame_ms))
    print(f"{out}: {len(frames)} frames, {out.stat().st_size / 1e3:.0f} kB")


def indexed(pixels: Frames) -> tuple[Frames, Frames]:
    """Return the commonest colours, shape (255, 3), and for each pixel the number of the nearest."""
    shift = 8 - _BITS
    kinds = pixels.astype(np.uint16) >> shift
    kinds = (kinds[..., 0] << 2 * _BITS) | (kinds[..., 1] << _BITS) | kinds[..., 2]
    counts = np.bincount(kinds.ravel(), minlength=1 << 3 * _BITS)
    numbers = np.arange(len(counts))
    colours = np.stack([numbers >> 2 * _BITS, numbers >> _BITS, numbers], axis=1) & ((1 << _BITS) - 1)
    colours = colours * 255 // ((1 << _BITS) - 1)
    common = np.argsort(-counts, kind="stable")[:_COLOURS]
    nearest = np.zeros(len(counts), np.uint8)
    for used in np.array_split(np.flatnonzero(counts), 64):
        distance = ((colours[used][:, None] - colours[common][None]) ** 2).sum(axis=2)
        nearest[used] = distance.argmin(axis=1)
    return colours[common].astype(np.uint8), nearest[kinds]


def apng(palette: Frames, frames: Frames, frame_ms: int) -> bytes:
    """Return an animated PNG that repeats without end.

    Args:
        palette: shape (255, 3), RGB.
        frames: shape (n, height, width), numbers of colours.
        frame_ms: duration of a frame (ms).
    """
    count, height, width = frames.shape
    table = np.zeros((256, 3), np.uint8)
    table[: len(palette)] = palette
    parts = [
        b"\x89PNG\r\n\x1a\n", _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        _chunk(b"acTL", struct.pack(">II", count, 0)), _chunk(b"PLTE", table.tobytes()),
        _chunk(b"tRNS", bytes([255] * _TRANSPARENT + [0]))]
    number = 0
    for index, frame in enumerate(frames):
        top, left, part = (0, 0, frame) if index == 0 else _change(frames[index - 1], frame)
        rows, columns = part.shape
        parts.append(_chunk(b"fcTL", struct.pack(
            ">IIIIIHHBB", number, columns, rows, left, top, frame_ms, 1000, 0, 0 if index == 0 else 1)))
        number += 1
        data = zlib.compress(np.pad(part, ((0, 0), (1, 0))).tobytes(), 9)     # filter 0 before each row
        if index == 0:
            parts.append(_chunk(b"IDAT", data))
        else:
            parts.append(_chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
    return b"".join([*parts, _chunk(b"IEND", b"")])


def _change(before: Frames, after: Frames) -> tuple[int, int, Frames]:
    """Return the corner of the smallest rectangle that changed, and its pixels: transparent where nothing changed."""
    changed = before != after
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    if not len(rows):
        return 0, 0, np.full((1, 1), _TRANSPARENT, np.uint8)
    place = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
    return int(rows[0]), int(columns[0]), np.where(changed[place], after[place], _TRANSPARENT).astype(np.uint8)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5]))
