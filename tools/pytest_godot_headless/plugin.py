"""The half that an ordinary pytest loads: tests in ``godot_tests`` run inside one headless Godot."""
from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_godot_headless.collection import GodotFile, GodotItem
from pytest_godot_headless.engine_errors import complaints
from pytest_godot_headless.godot_process import GodotDied, GodotProcess
from pytest_godot_headless.options import (
    declare_options,
    godot_command,
    godot_folders,
    project_folder,
    silence_limit_s,
)

IS_INSIDE = "PYTEST_GODOT_HEADLESS" in os.environ
"""Inside Godot this plugin is loaded too, where it is installed; there it keeps quiet."""

SHOWN_OUTPUT = 20_000
"""How much of a dead Godot's last output is shown, in characters; the end tells most."""


class OuterHalf:
    """The tests inside Godot, as the outer pytest sees them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folders = godot_folders(config)
        self._godot: GodotProcess | None = None
        self._found: dict[Path, list[dict[str, Any]]] = {}
        self._failures: list[tuple[str, str]] = []
        self._death: GodotDied | None = None
        self._is_death_told = False
        self._outside_tests: list[str] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        collectors = yield
        if not collectors or not any(file_path.is_relative_to(folder) for folder in self._folders):
            return collectors
        file = GodotFile.from_parent(parent, path=file_path)
        file.describe = self._describe
        return [file]

    def _describe(self, file: Path) -> list[dict[str, Any]]:
        """Return the tests of one file; the first question starts Godot and collects them all."""
        if self._godot is None and self._death is None:
            try:
                self._collect()
            except pytest.UsageError as error:
                raise pytest.Collector.CollectError(str(error)) from None
        if self._death is not None:
            text = death_text(self._death) if not self._is_death_told else f"not collected: {self._death.how}"
            self._is_death_told = True
            raise pytest.Collector.CollectError(text)
        for nodeid, text in self._failures:
            if (self._config.rootpath / nodeid.split("::")[0]) == file:
                raise pytest.Collector.CollectError(text)
        return self._found.get(file, [])

    def _collect(self) -> None:
        config = self._config
        try:
            self._godot = GodotProcess(
                godot_command(config), project_folder(config), inner_arguments(config, self._folders),
                config.getini("godot_modules"), silence_limit_s(config),
            )
            while (message := self._godot.receive_collected())["kind"] != "collected":
                if message["kind"] == "collection failed":
                    self._failures.append((message["nodeid"], message["text"]))
        except GodotDied as death:
            self._death = death
            return
        self._outside_tests += complaints(self._godot.output.read_new())
        for description in message["items"]:
            file = Path(os.path.normpath(config.rootpath / description["path"]))
            self._found.setdefault(file, []).append(description)

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not isinstance(item, GodotItem):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        following = nextitem.nodeid if isinstance(nextitem, GodotItem) else None
        for report in self._reports(item, following):
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _reports(self, item: GodotItem, following: str | None) -> Generator[pytest.TestReport, None, None]:
        if self._death is not None:
            yield failed(item, f"not run: {self._death.how}")
            return
        assert self._godot is not None, "items exist only after Godot has collected them"
        try:
            for data in self._godot.run(item.nodeid, following, item.description["limit_s"]):
                if isinstance(data["longrepr"], list):  # a skip's place and reason: JSON knows no tuples
                    data["longrepr"] = tuple(data["longrepr"])
                yield self._config.hook.pytest_report_from_serializable(config=self._config, data=data)
        except GodotDied as death:
            self._death = death
            yield failed(item, death_text(death))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._godot is None:
            return
        try:
            if self._death is None:
                self._outside_tests += complaints(self._godot.output.read_new())
                self._end(self._godot)
        finally:
            self._godot.close()
        if self._outside_tests and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _end(self, godot: GodotProcess) -> None:
        try:
            status = godot.end()
        except GodotDied as death:
            self._outside_tests.append(death_text(death))
            return
        self._outside_tests += complaints(godot.output.read_new())
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            self._outside_tests.append(f"Godot ended with status {status}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._outside_tests:
            terminalreporter.section("Godot complained outside of tests", red=True)
            for text in self._outside_tests:
                terminalreporter.line(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    if not IS_INSIDE:
        declare_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    if not IS_INSIDE:
        leave_conftests_inside(early_config.pluginmanager, godot_folders(early_config))


def leave_conftests_inside(manager: Any, folders: list[Path]) -> None:
    """Keep the outer pytest from importing a conftest.py that is for Godot's Python.

    No public hook is asked before a conftest is imported, so this wraps the method of
    pytest (8 and 9) that decides from which folders they are taken.
    """
    is_considered = manager._is_in_confcutdir
    manager._is_in_confcutdir = lambda path: is_considered(path) and not any(
        path.is_relative_to(folder) for folder in folders
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "godot_errors(*texts): the engine will complain with these texts, and that is right"
    )
    if not IS_INSIDE and godot_folders(config):
        config.pluginmanager.register(OuterHalf(config), "godot_outer_half")


def inner_arguments(config: pytest.Config, folders: list[Path]) -> list[str]:
    """Return the command line of the pytest inside: the same settings, all tests in the folders."""
    arguments = [str(folder) for folder in folders if folder.is_dir()]
    arguments += ["--rootdir", str(config.rootpath), "--continue-on-collection-errors"]
    if config.inipath is not None:
        arguments += ["-c", str(config.inipath)]
    for override in config.getoption("override_ini") or ():
        arguments += ["-o", override]
    # Godot's and Python's output go to one file, in order; what each test wrote is read from there.
    arguments += ["-s", "-p", "no:cacheprovider"]
    # The extension and its nodes are there before pytest is.
    return [*arguments, "-W", "ignore:Module already imported so cannot be rewritten"]


def failed(item: GodotItem, text: str) -> pytest.TestReport:
    """Return the report of a test that Godot could not report on."""
    return pytest.TestReport(
        nodeid=item.nodeid, location=item.location, keywords={item.name: 1}, outcome="failed",
        longrepr=text, when="call",
    )


def death_text(death: GodotDied) -> str:
    """Say how Godot died, with the last it wrote.

    Of a long output both ends are shown: the test's own words come first, and stacks of C can follow that fill pages.
    """
    output = death.output.rstrip() or "(nothing)"
    if len(output) > SHOWN_OUTPUT:
        half = SHOWN_OUTPUT // 2
        output = f"{output[:half]}\n(… {len(output) - 2 * half} characters …)\n{output[-half:]}"
    return f"{death.how}\nIts last output:\n{output}"
