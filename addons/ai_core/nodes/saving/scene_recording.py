"""Recording and replaying the AI of a scene, frame by frame of an AIScheduler."""
from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from addons.ai_core.bridge.gd import RefusedValue, report_exception, singleton
from addons.ai_core.nodes.scheduling.scheduler_lookup import check_callable
from ai_core.budget import Budget
from ai_core.recording.lines import RecordingError, read_recording
from ai_core.recording.recorder import Recorder
from ai_core.recording.recording import Recording
from ai_core.recording.replay import Difference, Replay
from ai_core.saving.fields import StateError

UNREADABLE = (OSError, UnicodeDecodeError, RecordingError)


class SceneWatch(ABC):
    """Wraps each frame of an AIScheduler. If it fails, it reports the error and closes; the game continues."""

    is_timed: bool | None = None
    noun = ""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._is_in_frame = self._is_closing = False

    def begin_frame(self, budget: Budget) -> Budget:
        """Return the budget of the frame."""
        try:
            granted = self._begin(budget)
        except Exception as error:  # inputs come from scripts
            self._fail(error)
            return budget
        self._is_in_frame = True
        return granted

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
            self._close()

    def close(self) -> None:
        """Stop; during a frame, at its end."""
        if self._is_in_frame:
            self._is_closing = True
        else:
            self._close()

    def _fail(self, error: Exception) -> None:
        if self._scheduler.recorder is self:
            self._scheduler.recorder = None
        report_exception(error, f"{self.noun}, which stops here,", self._scheduler)
        self._close()

    @abstractmethod
    def _begin(self, budget: Budget) -> Budget: ...

    @abstractmethod
    def _end(self) -> None: ...

    @abstractmethod
    def _close(self) -> None: ...


class SceneRecorder(SceneWatch):
    """Records each frame of a scheduler's AI; see ``Recorder``.

    Args:
        scheduler: the AIScheduler; its budget must stay limited, or stay unlimited.
        write: called with each line, without its line end.
        read_inputs: called at the start of each frame; returns the external inputs.
        digest_every_frames: number of frames between two digests of the state of every part.

    Raises:
        StateError: if the state of a part cannot be compared.
    """

    noun = "the recording"

    def __init__(
        self, scheduler: Any, write: Callable[[str], object], *,
        read_inputs: Callable[[], Any] | None = None, digest_every_frames: int = 1,
    ) -> None:
        super().__init__(scheduler)
        self.is_timed = scheduler.budget > 0
        self._read_inputs = read_inputs
        self._recorder = Recorder(
            write, clock=scheduler.clock, trace=scheduler.trace, parts=_parts_of(scheduler), name=_name_of(scheduler),
            is_timed=self.is_timed, made_with=_made_with(), digest_every_frames=digest_every_frames)

    def _begin(self, budget: Budget) -> Budget:
        inputs = None
        if self._read_inputs is not None:
            inputs = self._scheduler.values.plain(self._read_inputs(), "inputs")
        return self._recorder.begin_frame(budget, inputs)

    def _end(self) -> None:
        self._recorder.end_frame()

    def _close(self) -> None:
        self._recorder.close()


class SceneReplay(SceneWatch):
    """Gives each frame of a scheduler's AI its recorded budget and inputs, and compares; see ``Replay``.

    Args:
        scheduler: the AIScheduler of the same scene, in the state in which recording began.
        recording: the recording.
        give_inputs: called at the start of each frame with the recorded external inputs.

    Raises:
        ValueError: if the scene has other parts.
        StateError: if the state of a part cannot be compared.
    """

    noun = "the replay"

    def __init__(
        self, scheduler: Any, recording: Recording, *, give_inputs: Callable[[Any], object] | None = None
    ) -> None:
        super().__init__(scheduler)
        self._give_inputs = give_inputs
        self._replay = Replay(recording, clock=scheduler.clock, trace=scheduler.trace, parts=_parts_of(scheduler))

    def _begin(self, budget: Budget) -> Budget:
        if self._replay.is_over:
            return budget
        granted = self._replay.begin_frame()
        if self._give_inputs is not None:
            self._give_inputs(self._scheduler.values.value(self._replay.inputs, "inputs"))
        return granted

    def _end(self) -> None:
        difference = None if self._replay.is_over else self._replay.end_frame()
        if difference is not None or self._replay.is_over:
            self._close()
            self._emit_end(difference)

    def _emit_end(self, difference: Difference | None) -> None:
        if self._scheduler.recorder is self:
            self._scheduler.emit_replay_ended(difference)

    def _close(self) -> None:
        self._replay.close()


class _FileRecorder(SceneRecorder):
    def __init__(self, scheduler: Any, path: str, **settings: Any) -> None:
        # Buffered by line, so that the recording survives a crash.
        self._file = open(path, "w", encoding="utf-8", buffering=1)  # noqa: SIM115 - closed with the recording
        try:
            super().__init__(scheduler, lambda line: self._file.write(f"{line}\n"), **settings)
        except BaseException:
            self._file.close()
            raise

    def _close(self) -> None:
        if not self._file.closed:
            super()._close()
            self._file.close()


def recorder_to(scheduler: Any, path: str, read_inputs: Any, digest_every_frames: int) -> SceneRecorder:
    """Return a recorder that writes to a file; raise RefusedValue with the reason if it cannot."""
    _check(read_inputs, "read_inputs")
    try:
        return _FileRecorder(
            scheduler, _global(path), read_inputs=read_inputs, digest_every_frames=digest_every_frames)
    except (OSError, StateError) as error:
        raise RefusedValue(f"cannot record to '{path}': {error}") from None


def replay_from(scheduler: Any, path: str, give_inputs: Any) -> SceneReplay:
    """Return a replay of a file; raise RefusedValue with the reason if it cannot."""
    _check(give_inputs, "give_inputs")
    try:
        with open(_global(path), encoding="utf-8") as lines:
            recording = read_recording(lines, allow_cut=True)
        return SceneReplay(scheduler, recording, give_inputs=give_inputs)
    except (*UNREADABLE, StateError, ValueError) as error:
        raise RefusedValue(f"cannot replay '{path}': {error}") from None


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


def _check(function: Any, purpose: str) -> None:
    if function is not None:
        check_callable(function, purpose)
        if not callable(function):
            raise RefusedValue(f"{purpose} must be a Callable, or null, got {function!r}")


def _global(path: str) -> str:
    return str(singleton("ProjectSettings").globalize_path(path))


def _name_of(scheduler: Any) -> str:
    top = scheduler.get_owner()
    return str(scheduler.get_name() if top is None else top.get_scene_file_path() or top.get_name())


def _made_with() -> dict[str, str]:
    return {
        "python": platform.python_version(), "numpy": np.__version__,
        "machine": platform.machine(), "system": platform.system(),
    }
