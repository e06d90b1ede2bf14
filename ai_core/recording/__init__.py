"""Recording and replay of runs, frame by frame.

``Recorder`` records a run: the inputs and task runs with their steps in every frame, and digests of
the parts. ``Replay`` repeats the run with the same inputs and steps, and reports the first frame and
part that differ. A ``Recording`` is stored as JSON lines.

Both receive task runs, events, sensations and habits through a ``Trace``; without a recorder this
costs nothing. See docs/concepts/determinism.md for the requirements of a replay.

Rejected: storing the state of every frame. A digest identifies the first different frame and part at
a hundredth of the size; a snapshot stores states.
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
