"""The sessions that measure a server move what a page has drawn, and never to where it stands."""

import itertools
import random
import socket

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.sessions import AGE, PART, WHOLE, Line, Visitor
from tests.depth import draws


class Server:
    """A server that draws two controls and says how it was asked."""

    def __init__(self):
        self.asked, self._said, self.large = [], [], True

    def send(self, message):
        from streamlit.proto.BackMsg_pb2 import BackMsg

        self.asked.append(BackMsg.FromString(message).rerun_script)
        number, choice, where, end = ForwardMsg(), ForwardMsg(), ForwardMsg(), ForwardMsg()
        where.page_info_changed.query_string = "release=digest"
        number.delta.fragment_id = "part"
        number.hash, number.metadata.cacheable = "large", self.large
        number.delta.new_element.number_input.id = "a number"
        number.delta.new_element.number_input.min, number.delta.new_element.number_input.max = 10, 20
        choice.delta.new_element.selectbox.id = "a choice"
        choice.delta.new_element.selectbox.options.extend(["x", "y"])
        end.script_finished = 0
        self._said = [one.SerializeToString() for one in (number, choice, where, end)]

    def recv(self, timeout):
        return self._said.pop(0)


@pytest.fixture
def opened():
    visitor, server = Visitor(1, "visits"), Server()
    visitor.open(server)
    return visitor, server


def states(asked):
    return {one.id: one for one in asked.widget_states.widgets}


def test_each_click_moves_a_control_to_another_place(opened):
    visitor, server = opened
    chance, numbers, choices = random.Random(1), [], []
    for _ in range(draws(5, 50)):
        visitor.click(server, PART, chance)
        assert server.asked[-1].fragment_id == "part"
        numbers.append(states(server.asked[-1])["a number"].double_value)
        visitor.click(server, WHOLE, chance)
        assert server.asked[-1].fragment_id == "" and "a number" in states(server.asked[-1])
        choices.append(states(server.asked[-1])["a choice"].string_value)
    assert all(10 <= number <= 20 for number in numbers) and choices[:4] == ["y", "x", "y", "x"]
    assert all(one != other for one, other in itertools.pairwise(numbers))
    assert len(visitor.moved[PART].seconds) == len(numbers)


def test_it_keeps_what_browsers_keep_and_follows_the_address(opened):
    visitor, server = opened
    assert server.asked[0].query_string == "release=visits" and not server.asked[0].cached_message_hashes
    visitor.click(server, WHOLE, random.Random(1))
    assert server.asked[1].query_string == "release=digest" and list(server.asked[1].cached_message_hashes) == ["large"]
    server.large = False
    for _ in range(AGE):
        visitor.click(server, WHOLE, random.Random(1))
        visitor.click(server, PART, random.Random(1))
    assert server.asked[-2].cached_message_hashes and not server.asked[-1].cached_message_hashes


def test_what_comes_over_a_connection_is_counted():
    one, other = socket.socketpair()
    line = Line(fileno=other.detach())
    with one, line:
        one.sendall(b"x" * 100)
        assert line.recv(60) + line.recv(60) == b"x" * 100 and line.came == 100


def test_what_a_page_does_not_have_is_said(opened):
    visitor, server = opened
    visitor._controls.clear()
    with pytest.raises(RuntimeError, match="no selectbox"):
        visitor.click(server, WHOLE, random.Random(1))
