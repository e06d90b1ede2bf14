"""A drawing as SVG, for a browser; pointing at a box tells what it is."""
from __future__ import annotations

from xml.sax.saxutils import escape

from tools.timeline import Box, Colour, Drawing, Words


def svg_of(drawing: Drawing) -> str:
    """Return a whole SVG document."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width}" height="{drawing.height}"'
        f' viewBox="0 0 {drawing.width} {drawing.height}" font-family="sans-serif" font-size="11">',
        f"<title>{_safe(drawing.title)}</title>",
        *map(_box, drawing.boxes), *map(_words, drawing.texts), "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _box(box: Box) -> str:
    start = (
        f'<rect x="{box.x:g}" y="{box.y:.2f}" width="{box.width:g}" height="{box.height:.2f}"'
        f' fill="{_hex(box.colour)}"'
    )
    return f"{start}><title>{_safe(box.tip)}</title></rect>" if box.tip else f"{start}/>"


def _words(words: Words) -> str:
    return (
        f'<text x="{words.x:g}" y="{words.y + 4:.2f}" fill="{_hex(words.colour)}"'
        f' text-anchor="{words.align}">{_safe(words.text)}</text>'
    )


def _safe(text: str) -> str:
    """Return text without what XML may not hold, whatever the task was named."""
    return escape("".join(one if one >= " " and not "\ud800" <= one <= "\udfff" else "?" for one in text))


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
