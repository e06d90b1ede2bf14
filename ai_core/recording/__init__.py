"""What happened, frame by frame, so that it can happen again and be compared.

Choose ``Recorder`` to write down a run: inputs, who ran and how many steps it
took, and a digest of every part in every frame. Choose ``Replay`` to run it
again: it hands out the same inputs and the same steps, and names the first
frame and part that differ. ``Recording`` is what lies between, JSON lines.

Both hear of work, events, sensations and habits through a ``Trace``; what has
no recorder pays nothing. See docs/determinism.md for what has to match.

Rejected: storing the state of every frame. A digest names the first frame and
part for a hundredth of the size; a snapshot keeps states.
"""
from ai_core.recording.digest import QUANTUM, digest_of
from ai_core.recording.lines import RecordingError, read_recording
from ai_core.recording.recorder import Recorder
from ai_core.recording.recording import FrameRecord, Header, Recording
from ai_core.recording.replay import Difference, Replay

__all__ = [
    "QUANTUM",
    "Difference",
    "FrameRecord",
    "Header",
    "Recorder",
    "Recording",
    "RecordingError",
    "Replay",
    "digest_of",
    "read_recording",
]
