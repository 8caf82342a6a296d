"""The sessions that measure a server move what a page has drawn, and never to where it stands."""

import itertools
import random

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.sessions import PART, WHOLE, Visitor
from tests.depth import draws


class Socket:
    """A server that draws two controls and says how it was asked."""

    def __init__(self):
        self.asked, self._said = [], []

    def send(self, message):
        from streamlit.proto.BackMsg_pb2 import BackMsg

        self.asked.append(BackMsg.FromString(message).rerun_script)
        number, choice, end = ForwardMsg(), ForwardMsg(), ForwardMsg()
        number.delta.fragment_id = "part"
        number.delta.new_element.number_input.id = "a number"
        number.delta.new_element.number_input.min, number.delta.new_element.number_input.max = 10, 20
        choice.delta.new_element.selectbox.id = "a choice"
        choice.delta.new_element.selectbox.options.extend(["x", "y"])
        end.script_finished = 0
        self._said = [one.SerializeToString() for one in (number, choice, end)]

    def recv(self, timeout):
        return self._said.pop(0)


@pytest.fixture
def opened():
    visitor, socket = Visitor(1, "visits"), Socket()
    visitor.open(socket)
    return visitor, socket


def states(asked):
    return {one.id: one for one in asked.widget_states.widgets}


def test_each_click_moves_a_control_to_another_place(opened):
    visitor, socket = opened
    chance, numbers, choices = random.Random(1), [], []
    for _ in range(draws(5, 50)):
        visitor.click(socket, PART, chance)
        assert socket.asked[-1].fragment_id == "part"
        numbers.append(states(socket.asked[-1])["a number"].double_value)
        visitor.click(socket, WHOLE, chance)
        assert socket.asked[-1].fragment_id == "" and "a number" in states(socket.asked[-1])
        choices.append(states(socket.asked[-1])["a choice"].string_value)
    assert all(10 <= number <= 20 for number in numbers) and choices[:4] == ["y", "x", "y", "x"]
    assert all(one != other for one, other in itertools.pairwise(numbers))
    assert len(visitor.moved[PART].seconds) == len(numbers) and min(visitor.moved[WHOLE].size) > 0


def test_what_a_page_does_not_have_is_said(opened):
    visitor, socket = opened
    visitor._controls.clear()
    with pytest.raises(RuntimeError, match="no selectbox"):
        visitor.click(socket, WHOLE, random.Random(1))
