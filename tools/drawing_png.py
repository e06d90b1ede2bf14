"""A drawing as PNG, without a library: rectangles, and letters of 3 by 5 dots.

Rejected: drawing the SVG with a library. It would be the only use of one.
"""
from __future__ import annotations

import struct
import zlib

from ai_core.plots.drawing import Colour, Drawing, Label, Rect

DOT_PX = 2
LETTER_PX = 4 * DOT_PX

# Five rows from the top, each three dots as an octal digit: 4 is left, 2 middle, 1 right.
LETTERS = {
    "A": "25755", "B": "65656", "C": "34443", "D": "65556", "E": "74647", "F": "74644", "G": "34553", "H": "55755",
    "I": "72227", "J": "11152", "K": "55655", "L": "44447", "M": "57755", "N": "65555", "O": "25552", "P": "65644",
    "Q": "25573", "R": "65655", "S": "34216", "T": "72222", "U": "55557", "V": "55552", "W": "55775", "X": "55255",
    "Y": "55222", "Z": "71247", "0": "75557", "1": "26227", "2": "61247", "3": "61216", "4": "55711", "5": "74616",
    "6": "34757", "7": "71222", "8": "75757", "9": "75716", " ": "00000", ".": "00002", ",": "00024", ":": "02020",
    "-": "00700", "_": "00007", "/": "11244", "(": "12221", ")": "42224", "%": "51245", "+": "02720", "=": "07070",
    "'": "22000", "?": "61202", "#": "57575", "µ": "05564", ">": "42124", "<": "12421", "*": "05250", "!": "22202",
    "[": "64446", "]": "31113",
}


def png_of(drawing: Drawing) -> bytes:
    """Return a whole PNG file."""
    canvas = _Canvas(drawing.width, drawing.height)
    for box in drawing.boxes:
        canvas.fill(box)
    for words in drawing.texts:
        canvas.write(words)
    return canvas.png()


class _Canvas:
    """Rows of pixels, three bytes each."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._rows = [bytearray(3 * width) for _ in range(height)]

    def fill(self, box: Rect) -> None:
        """Fill a rectangle; what lies outside is left out, and one that is there is seen."""
        left, top = max(0, round(box.x)), max(0, round(box.y))
        right = min(self._width, max(left + 1, round(box.x + box.width)))
        bottom = min(self._height, max(top + 1, round(box.y + box.height)))
        if box.height > 0 and right > left:
            self._paint(left, top, right, bottom, box.colour)

    def write(self, words: Label) -> None:
        """Write a text in capitals."""
        width = len(words.text) * LETTER_PX - DOT_PX
        x = round(words.x) - {"start": 0, "middle": width // 2, "end": width}[words.align]
        y = round(words.y) - 5 * DOT_PX // 2
        for number, letter in enumerate(words.text):
            rows = LETTERS.get(letter if letter == "µ" else letter.upper(), LETTERS["?"])
            self._letter(x + number * LETTER_PX, y, rows, words.colour)

    def png(self) -> bytes:
        """Return the file."""
        header = struct.pack(">IIBBBBB", self._width, self._height, 8, 2, 0, 0, 0)
        pixels = zlib.compress(b"".join(b"\0" + row for row in self._rows), 9)
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")

    def _letter(self, x: int, y: int, rows: str, colour: Colour) -> None:
        for row, dots in enumerate(rows):
            for column in range(3):
                left, top = x + column * DOT_PX, y + row * DOT_PX
                if int(dots, 8) & (4 >> column) and left >= 0 and top >= 0:
                    right, bottom = min(self._width, left + DOT_PX), min(self._height, top + DOT_PX)
                    self._paint(left, top, right, bottom, colour)

    def _paint(self, left: int, top: int, right: int, bottom: int, colour: Colour) -> None:
        if right > left:
            line = bytes(colour) * (right - left)
            for row in self._rows[top:bottom]:
                row[3 * left : 3 * right] = line


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
