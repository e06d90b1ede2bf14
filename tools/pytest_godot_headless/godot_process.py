"""One headless Godot with pytest inside: start it, talk to it, tell how it died."""
from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_godot_headless.channel import Channel, ChannelClosed, Message
from pytest_godot_headless.engine_errors import EngineOutput

ENDING_LIMIT_S = 90.0
"""How long Godot may take to end when it is done or dead (s), which needs under one; longer means it hangs."""

LAST_WORDS_LIMIT_S = 20.0
"""How long a hanging Godot may take to tell where it hangs (s); it needs under one, if others let it."""

STARTING_LIMIT_S = 60.0
"""How long Godot may take at least until its tests are collected (s): one that starts reads and
compiles everything, which on a cold machine outlasts a short limit that is meant for tests.
"""

FRAMES_PER_SECOND = 60
"""Game time per frame, whatever the real time: frames cost nothing and deltas are exact."""


class GodotDied(RuntimeError):
    """Godot is gone; the message says how, ``output`` holds the last it wrote."""

    def __init__(self, how: str, output: str) -> None:
        super().__init__(how)
        self.how, self.output = how, output


class GodotProcess:
    """A Godot that serves tests until ``end``.

    Args:
        command: command line that starts Godot.
        project: folder with project.godot.
        arguments: for the pytest inside.
        modules: names of modules that declare node classes, imported when Godot starts.
        limit_s: longest silence (s); while it starts at least ``STARTING_LIMIT_S``.
    """

    def __init__(
        self, command: Sequence[str], project: Path, arguments: Sequence[str], modules: Sequence[str], limit_s: float
    ) -> None:
        self._limit_s = limit_s
        self._starting_limit_s = max(limit_s, STARTING_LIMIT_S)
        self._folder = tempfile.TemporaryDirectory(prefix="pytest_godot_")
        self._output_file = Path(self._folder.name) / "output"
        self.output = EngineOutput(self._output_file)
        self._output_file.touch()
        list_extensions(project)
        token = secrets.token_hex(16)
        with socket.create_server(("127.0.0.1", 0)) as server:
            settings = {
                "port": server.getsockname()[1], "token": token, "output": str(self._output_file),
                "arguments": list(arguments), "modules": ["pytest_godot_headless.inside", *modules],
            }
            self._process = self._start(command, project, settings)
            self._channel = self._accept(server, token)

    def _start(self, command: Sequence[str], project: Path, settings: dict[str, Any]) -> subprocess.Popen[bytes]:
        script = Path(__file__).with_name("run_pytest.gd")
        # Python's faulthandler tells where it crashed; Godot's handler starts a program for every line of its
        # stack, which on a busy machine outlasts the limit, and a crash is then taken for a hang.
        options = ["--headless", "--disable-crash-handler", "--fixed-fps", str(FRAMES_PER_SECOND),
                   "--path", str(project), "-s", str(script)]
        environment = dict(os.environ)
        environment["PYTEST_GODOT_HEADLESS"] = json.dumps(settings)
        environment["AI_CORE_MODULES"] = ",".join(settings["modules"])
        environment["XDG_DATA_HOME"] = self._folder.name    # user:// is empty, and no other run writes to it
        with self._output_file.open("ab") as output:
            return subprocess.Popen(
                [*command, *options], env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )

    def _accept(self, server: socket.socket, token: str) -> Channel:
        server.settimeout(0.05)
        deadline = time.monotonic() + self._starting_limit_s
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise self._death("before pytest started in it")
            with suppress(TimeoutError):
                channel = Channel(server.accept()[0])
                if channel.receive(self._starting_limit_s).get("token") == token:
                    return channel
                channel.close()
        raise self._hang("before pytest started in it", self._starting_limit_s)

    def receive_collected(self) -> Message:
        """Return Godot's next message while it collects tests.

        Raises:
            GodotDied: as ``receive`` does.
        """
        return self.receive("while collecting tests", self._starting_limit_s)

    def receive(self, doing: str, limit_s: float | None = None) -> Message:
        """Return Godot's next message.

        Args:
            doing: what it is busy with, for the message of a death.
            limit_s: longest silence (s); None is the usual one.

        Raises:
            GodotDied: if it crashed, ended or kept silent for too long.
        """
        limit_s = limit_s or self._limit_s
        try:
            return self._channel.receive(limit_s)
        except TimeoutError:
            raise self._hang(doing, limit_s) from None
        except ChannelClosed:
            raise self._death(doing) from None

    def run(self, nodeid: str, following: str | None, limit_s: float | None) -> Iterator[dict[str, Any]]:
        """Run one test and yield its reports as data.

        Args:
            nodeid: the test.
            following: the one that comes after it, which decides what fixtures it keeps.
            limit_s: how long it may take (s); None is the usual silence.

        Raises:
            GodotDied: if Godot does not survive the test.
        """
        doing = f"while running {nodeid}"
        try:
            self._channel.send("run", nodeid=nodeid, next=following)
        except ChannelClosed:
            raise self._death(doing) from None
        while (message := self.receive(doing, limit_s))["kind"] != "done":
            if message["kind"] == "report":
                yield message["data"]
        self.output.read_new()  # it is in the reports; what comes later is no test's

    def end(self) -> int:
        """Let Godot end and return its exit status.

        Raises:
            GodotDied: if it does not end by itself.
        """
        with suppress(ChannelClosed):
            self._channel.send("end")
        try:
            return self._process.wait(ENDING_LIMIT_S)
        except subprocess.TimeoutExpired:
            raise self._hang("while ending", ENDING_LIMIT_S) from None
        finally:
            self._kill()

    def close(self) -> None:
        """Remove what was written; after this nothing can be asked any more."""
        self._kill()
        self._folder.cleanup()

    def _hang(self, doing: str, limit_s: float) -> GodotDied:
        if hasattr(os, "killpg"):  # pytest's faulthandler answers with Python's stack
            os.killpg(self._process.pid, signal.SIGABRT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LAST_WORDS_LIMIT_S)
        self._kill()
        return GodotDied(f"Godot gave no sign of life for {limit_s:g} s {doing}", self.output.read_new())

    def _death(self, doing: str) -> GodotDied:
        try:
            status = self._process.wait(ENDING_LIMIT_S)
        except subprocess.TimeoutExpired:
            return self._hang(doing, ENDING_LIMIT_S)
        finally:
            self._kill()
        how = f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"
        return GodotDied(f"Godot {how} {doing}", self.output.read_new())

    def _kill(self) -> None:
        """End the process we started, with its children."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()
        self._process.wait()


def list_extensions(project: Path) -> None:
    """Write the project's list of extensions if there is none.

    Without it a first headless start aborts (a bug of the engine).
    """
    file = project / ".godot" / "extension_list.cfg"
    if file.exists():
        return
    found = sorted(path.relative_to(project).as_posix() for path in project.glob("addons/*/*.gdextension"))
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"res://{path}\n" for path in found))
