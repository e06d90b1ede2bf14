"""Messages between the outer and the inner half of pytest_godot_headless."""
from __future__ import annotations

import socket

import pytest
from pytest_godot_headless.channel import Channel, ChannelClosed


@pytest.fixture
def ends():
    sockets = socket.socketpair()
    yield [Channel(one) for one in sockets]
    for one in sockets:
        one.close()


def test_messages_arrive_whole_and_in_order(ends):
    here, there = ends
    here.send("run", nodeid="a.py::test_ä")
    here.send("end")
    assert there.receive(1) == {"kind": "run", "nodeid": "a.py::test_ä"}
    assert there.receive(1) == {"kind": "end"}


def test_a_message_larger_than_one_read_is_put_together(ends):
    here, there = ends
    here.send("report", data="x" * 150_000)
    assert len(there.receive(1)["data"]) == 150_000


def test_silence_ends_the_wait(ends):
    with pytest.raises(TimeoutError):
        ends[0].receive(0.01)


def test_an_end_that_is_gone_is_noticed_by_who_listens(ends):
    ends[0].close()
    with pytest.raises(ChannelClosed):
        ends[1].receive(1)


def test_an_end_that_is_gone_is_noticed_by_who_speaks(ends):
    ends[0].close()
    with pytest.raises(ChannelClosed):
        ends[1].send("run")
