"""Recording and replaying the AI of a scene, frame by frame of an AIScheduler."""
from __future__ import annotations

import platform
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import RefusedValue, report_exception, singleton
from addons.ai_core.nodes.scheduling.scheduler_lookup import check_callable
from ai_core.budget import Budget
from ai_core.recording.lines import RecordingError, read_recording
from ai_core.recording.recorder import Recorder
from ai_core.recording.replay import Difference, Replay
from ai_core.saving.fields import StateError


class SceneWatch:
    """Base of recordings and replays, which wrap each frame of an AIScheduler.

    If it fails, it reports the error and closes, and the game continues. Subclasses define ``_begin`` and ``_end`` of
    a frame, and ``_close``.

    Attributes:
        is_timed: whether the frames of a recording have time budgets; None for a replay.
    """

    is_timed: bool | None = None
    noun = ""

    def __init__(self, scheduler: Any, inputs: Any, purpose: str) -> None:
        if inputs is not None:
            check_callable(inputs, purpose)
            if not callable(inputs):
                raise RefusedValue(f"{purpose} must be a Callable, or null, got {inputs!r}")
        self._scheduler, self._inputs = scheduler, inputs
        self._is_in_frame = self._is_closing = False

    def begin_frame(self, budget: Budget) -> Budget:
        """Return the budget of the frame."""
        self._is_in_frame = True        # inputs come from scripts, which may stop the recording
        try:
            return self._begin(budget)
        except Exception as error:
            self._is_in_frame = False
            self._fail(error)
            return budget

    def end_frame(self) -> None:
        """Record or compare the frame."""
        if not self._is_in_frame:
            return
        self._is_in_frame = False
        try:
            self._end()
        except Exception as error:  # parts call scripts, lines are written to a disk
            self._fail(error)
        if self._is_closing:
            self._release()

    def close(self) -> None:
        """Stop; during a frame, at its end."""
        if self._is_in_frame:
            self._is_closing = True
        else:
            self._release()

    def _release(self) -> None:
        """Close, and release the Callable, which may hold scripts."""
        self._inputs = None
        self._close()

    def _fail(self, error: Exception) -> None:
        if self._scheduler.recorder is self:
            self._scheduler.recorder = None
        report_exception(error, f"{self.noun}, which stops here,", self._scheduler)
        self._release()


class SceneRecorder(SceneWatch):
    """Records each frame of a scheduler's AI into a file; see ``Recorder``.

    Args:
        scheduler: the AIScheduler; its budget must stay limited, or stay unlimited.
        path: path of the file.
        read_inputs: Callable that returns the external inputs at the start of each frame; None for no inputs.
        digest_every_frames: number of frames between two digests of the state of every part.

    Raises:
        RefusedValue: if the file cannot be written, or the state of a part cannot be compared.
    """

    noun = "the recording"

    def __init__(self, scheduler: Any, path: str, read_inputs: Any, digest_every_frames: int) -> None:
        super().__init__(scheduler, read_inputs, "read_inputs")
        self.is_timed = scheduler.budget > 0
        try:
            # Buffered by line, so that the recording survives a crash.
            self._file = open(_global(path), "w", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed by _close
        except OSError as error:
            raise RefusedValue(f"cannot record to '{path}': {error}") from None
        try:
            self._recorder = Recorder(
                lambda line: self._file.write(f"{line}\n"), clock=scheduler.clock, trace=scheduler.trace,
                parts=_parts_of(scheduler), name=_name_of(scheduler), is_timed=self.is_timed,
                digest_every_frames=digest_every_frames, made_with={
                    "python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine(),
                    "system": platform.system()})
        except BaseException as error:
            self._file.close()
            if not isinstance(error, StateError):
                raise
            raise RefusedValue(f"cannot record to '{path}': {error}") from None

    def _begin(self, budget: Budget) -> Budget:
        inputs = None if self._inputs is None else self._scheduler.values.plain(self._inputs(), "inputs")
        return self._recorder.begin_frame(budget, inputs)

    def _end(self) -> None:
        self._recorder.end_frame()

    def _close(self) -> None:
        if not self._file.closed:
            self._recorder.close()
            self._file.close()


class SceneReplay(SceneWatch):
    """Gives each frame of a scheduler's AI its recorded budget and inputs, and compares; see ``Replay``.

    Args:
        scheduler: the AIScheduler of the same scene, in the state in which recording began.
        path: path of the recording.
        give_inputs: Callable that takes the recorded external inputs at the start of each frame; None for no inputs.

    Raises:
        RefusedValue: if the file is not a recording, the scene has other parts, or the state of a part cannot be
            compared.
    """

    noun = "the replay"

    def __init__(self, scheduler: Any, path: str, give_inputs: Any) -> None:
        super().__init__(scheduler, give_inputs, "give_inputs")
        try:
            with open(_global(path), encoding="utf-8") as lines:
                recording = read_recording(lines, allow_cut=True)
            self._replay = Replay(recording, clock=scheduler.clock, trace=scheduler.trace, parts=_parts_of(scheduler))
        except (OSError, RecordingError, ValueError) as error:
            raise RefusedValue(f"cannot replay '{path}': {error}") from None

    def _begin(self, budget: Budget) -> Budget:
        if self._replay.is_done:
            return budget
        granted = self._replay.begin_frame()
        if self._inputs is not None:
            self._inputs(self._scheduler.values.value(self._replay.inputs, "inputs"))
        return granted

    def _end(self) -> None:
        difference = None if self._replay.is_done else self._replay.end_frame()
        if difference is not None or self._replay.is_done:
            self._release()
            if self._scheduler.recorder is self:
                self._scheduler.emit_replay_ended(difference)

    def _fail(self, error: Exception) -> None:
        is_present, frame = self._scheduler.recorder is self, self._scheduler.clock.now.frame
        super()._fail(error)
        if is_present:
            self._scheduler.emit_replay_ended(
                Difference(frame, "replay", f"stopped by {type(error).__name__}: {error}", ()))

    def _close(self) -> None:
        self._replay.close()


class _ObservedPart:
    """The present state of a part; None after its node has left the scene."""

    def __init__(self, part: Any, node: Any) -> None:
        self._part, self._node = part, node

    def observe(self) -> object:
        if not self._node.is_valid() or not self._node.is_inside_tree():
            return None
        return self._part.save_state()


def _parts_of(scheduler: Any) -> dict[str, _ObservedPart]:
    """Return the compared parts of a scene: the state of every node that is saved.

    Nodes of the game come first, because a different position explains more than its later effects.
    """
    found = sorted(scheduler.parts_of_nodes().items(), key=lambda one: (not one[0].startswith("node/"), one[0]))
    parts = {name: _ObservedPart(*part) for name, part in found}
    for name, part in parts.items():
        try:
            part.observe()
        except StateError as error:
            raise StateError(f"{name}: {error}") from error
    return parts


def _global(path: str) -> str:
    return str(singleton("ProjectSettings").globalize_path(path))


def _name_of(scheduler: Any) -> str:
    top = scheduler.get_owner()
    return str(scheduler.get_name() if top is None else top.get_scene_file_path() or top.get_name())
