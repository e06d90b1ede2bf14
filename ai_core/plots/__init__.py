"""Pictures of runs as SVG, without a plotting library.

``timeline`` draws a recording: which task ran in which frame, the budget, and overruns. ``heat_map`` draws an
array over the ground, such as a map layer or intensities, with paths and marks. ``curves`` draws values over
time, such as the awareness of a sensor. Each returns a ``Drawing``: ``svg()`` is its text, and a notebook shows
it as it is. Boxes, lines, dots and texts of your own can be added before.

Rejected: Matplotlib. It is ten times the size of this library, and a server does not have it.
"""
from ai_core.plots.curves import curves
from ai_core.plots.drawing import Colour, Dot, Drawing, Label, Line, Rect
from ai_core.plots.heat_map import heat_map
from ai_core.plots.timeline import timeline

__all__ = [
    "Colour",
    "Dot",
    "Drawing",
    "Label",
    "Line",
    "Rect",
    "curves",
    "heat_map",
    "timeline",
]
