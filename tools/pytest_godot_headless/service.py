"""Pytest's plugin inside Godot: tell what there is, run what is asked for, report, judge.

Judging: a test fails that lets the engine complain (unless it said so before) or that
leaves nodes behind.
"""
from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_godot_headless import fixtures
from pytest_godot_headless.channel import ChannelClosed, connect
from pytest_godot_headless.engine_errors import EngineOutput, ExpectedErrors, complaints
from pytest_godot_headless.inside import current_runner
from pytest_godot_headless.leaks import NodeCensus, free_left_over, leak_report, take_census
from pytest_godot_headless.options import declare_options

CENSUS = pytest.StashKey[NodeCensus]()
COMPLAINTS = pytest.StashKey[list[str]]()


class Service:
    """One run of pytest inside Godot, led from outside."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._channel = connect(settings["port"], settings["token"])
        self._output = EngineOutput(Path(settings["output"]))
        self._config: Any = None

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        declare_options(parser)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self._config = config
        config.pluginmanager.register(fixtures, "godot_fixtures")
        # The outer pytest shows the results; a second picture of them would only be in the way.
        config.pluginmanager.unregister(name="terminalreporter")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._channel.send("collection failed", nodeid=report.nodeid, text=report.longreprtext)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._channel.send("collected", items=[described(item) for item in session.items])
        if self._config.pluginmanager.hasplugin("timeout"):
            for item in session.items:  # its alarm would go off in whatever the engine calls next
                item.add_marker(pytest.mark.timeout(0), append=False)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        while True:
            try:
                message = self._channel.receive()
            except ChannelClosed:
                return True
            if message["kind"] == "end":
                return True
            self._output.read_new()  # what the engine says between tests is nobody's fault in here
            item = items[message["nodeid"]]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=items.get(message["next"]))
            self._channel.send("done")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._channel.send("report", data=data)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        expected = item.stash[fixtures.EXPECTED] = ExpectedErrors()
        item.stash[COMPLAINTS] = []
        for mark in item.iter_markers("godot_errors"):
            for text in mark.args:
                expected.expect(text)
        item.stash[CENSUS] = _census()
        try:
            return (yield)
        finally:
            self._take_output(item, "setup")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        try:
            result = yield
        finally:
            self._take_output(item, "call")
        self._judge(item)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        was_judged = len(item.stash[COMPLAINTS])
        try:
            result = yield
        finally:
            current_runner().wait_for("process", 1)  # queue_free takes effect at a frame's end
            self._take_output(item, "teardown")
        late = item.stash[COMPLAINTS][was_judged:]
        problems = item.stash[fixtures.EXPECTED].undeclared(late)
        leaks = leak_report(item.stash[CENSUS], _census())
        free_left_over(_root(), item.stash[CENSUS])
        if problems or leaks:
            pytest.fail("\n".join([*problems, *filter(None, [leaks])]), pytrace=False)
        return result

    def _take_output(self, item: pytest.Item, when: str) -> None:
        text = self._output.read_new()
        if text:
            item.add_report_section(when, "Godot", text)
        item.stash[COMPLAINTS] += complaints(text)

    def _judge(self, item: pytest.Item) -> None:
        problems = item.stash[fixtures.EXPECTED].problems(item.stash[COMPLAINTS])
        if problems:
            pytest.fail("\n".join(problems), pytrace=False)


def _census() -> NodeCensus:
    from _bridge import singleton

    return take_census(_root(), singleton("Performance"))


def _root() -> Any:
    return current_runner().get_tree().get_root()


def described(item: pytest.Item) -> dict[str, Any]:
    """Return what the outer half needs to stand in for a test."""
    chain = item.listchain()
    limit = item.get_closest_marker("timeout")
    below_file = next(index for index, node in enumerate(chain) if isinstance(node, pytest.File)) + 1
    return {
        "nodeid": item.nodeid,
        # Below the root, for Godot may see that under another name: in wine, in a container.
        "path": Path(os.path.relpath(item.path, item.config.rootpath)).as_posix(),
        "names": [node.name for node in chain[below_file:]],
        "location": item.location,
        "limit_s": float(limit.args[0]) if limit is not None and limit.args else None,
        "markers": sorted({mark.name for mark in item.iter_markers()}),
    }
