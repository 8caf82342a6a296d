"""Lesson: averaging recovers a secret from fresh noise within the stated error, and gains nothing from a release.

Lesson: noise of the mean of R rows, with a risk δ and without.
"""

import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lab.noise_lessons import (
    BITS,
    FILES,
    MOST,
    ROWS,
    ask,
    exact_files,
    noise_of_rows,
    possible_exactly,
    reachable,
    textbook_files,
    textbook_laplace,
)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1"])
def test_the_average_recovers_the_secret_within_the_stated_error(epsilon):
    """At 5,000 answers the average is all but normal; beyond six standard errors it is once in 5e8."""
    for draw in range(8):
        asked = ask(37, epsilon, MOST, draw)
        assert abs(asked.averages[-1] - 37) < 6 * asked.error
    assert ask(37, epsilon, MOST).error == pytest.approx(ask(37, epsilon, MOST // 4).error / 2)


def test_the_stated_error_is_the_real_one():
    """The spread of 400 averages of 100 answers: within a fifth of the stated one, seven of its standard errors."""
    last = [ask(37, "0.5", 100, draw).averages[-1] for draw in range(400)]
    assert np.std(last) == pytest.approx(ask(37, "0.5", 100).error, rel=0.2)


def test_from_the_stated_question_on_the_rounded_average_is_the_secret():
    asked = ask(37, "0.5", MOST)
    first = asked.found_from
    assert 1 < first < MOST
    assert (np.rint(asked.averages[first - 1 :]) == 37).all() and np.rint(asked.averages[first - 2]) != 37


def test_the_secret_that_is_not_found_is_not_claimed():
    asked = ask(37, "0.1", 1)
    assert asked.answers[0] != 37 and asked.found_from is None


def test_whoever_asks_more_often_gets_the_same_answers_and_more_and_pays_for_each():
    few, many = ask(37, "0.5", 10), ask(37, "0.5", 1000)
    assert (many.answers[:10] == few.answers).all() and many.released == few.released
    assert (few.spent, many.spent) == (Fraction(5), Fraction(500))


def test_without_delta_noise_grows_like_the_root_and_with_delta_not_at_all():
    found = noise_of_rows("1", "0.000001")
    assert found.pure == pytest.approx(np.sqrt(2 * np.array(ROWS)), rel=0.01)
    assert found.with_delta == pytest.approx(np.full(len(ROWS), 4.225), rel=0.01)
    assert found.gain(1000) == pytest.approx(10.6, rel=0.01)


def test_with_very_few_rows_delta_gains_nothing():
    found = noise_of_rows("1", "0.000001")
    assert found.gain(4) < 1 < found.gain(10) and found.pays_from == 10


def test_a_smaller_delta_costs_a_little():
    assert 1 < noise_of_rows("1", "0.000000001").with_delta[-1] / noise_of_rows("1", "0.000001").with_delta[-1] < 1.5


LOSSES = ("0.1", "0.5", "1", "2")


@pytest.mark.parametrize("epsilon", LOSSES)
@pytest.mark.parametrize("truth", [0, 1])
def test_the_attack_is_never_wrong(truth, epsilon):
    files = textbook_files(truth, epsilon)
    assert len(files.outputs) == FILES and files.possible[:, truth].all()


@given(st.integers(1, 2**53 - 1), st.sampled_from((0.0, 1.0, -7.0, 1000.0)), st.floats(0.01, 50.0))
def test_whatever_comes_out_is_found_reachable(step, value, scale):
    assert reachable(value + textbook_laplace(step / 2**53, scale), value, scale)


@pytest.mark.parametrize("epsilon", LOSSES)
def test_most_textbook_files_give_the_count_away(epsilon):
    for truth in (0, 1):
        files = textbook_files(truth, epsilon)
        assert files.share > 0.5 and files.certain_after(10) > 0.999
        assert files.certain_after(1) == pytest.approx(files.share)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 10.0])
@pytest.mark.parametrize("bits", [4, 9])
def test_on_a_small_grid_it_agrees_with_trying_everything(bits, scale):
    """Every output that any of the 2^bits numbers can lead to, under 0 and under 1, and their nearest neighbours."""
    outputs = {
        value: {value - sign * (scale * math.log(j / 2**bits)) for j in range(1, 2**bits + 1) for sign in (1.0, -1.0)}
        for value in (0.0, 1.0)
    }
    seen = outputs[0.0] | outputs[1.0]
    for output in seen | {math.nextafter(output, math.inf) for output in seen}:
        for value in (0.0, 1.0):
            assert reachable(output, value, scale, bits) == (output in outputs[value])


def test_on_the_real_grid_no_number_nearby_was_overlooked():
    draw = random.Random(5)
    for _ in range(40):
        output = draw.uniform(-4.0, 4.0)
        for value in (0.0, 1.0):
            if not reachable(output, value, 1.0):
                middle = round(2**BITS * math.exp(-abs(output - value)))
                sign = math.copysign(1.0, output - value)
                tried = range(max(1, middle - 500), min(2**BITS, middle + 500) + 1)
                assert all(value - sign * math.log(j / 2**BITS) != output for j in tried)


def test_the_attacked_noise_is_laplace_noise():
    """Its quartiles are those of the law, ± b ln 2; so it is no straw man."""
    assert textbook_laplace(0.75, 2.0) == -textbook_laplace(0.25, 2.0) == pytest.approx(2.0 * math.log(2.0))
    outputs = textbook_files(0, "1").outputs
    inside = (abs(outputs) < math.log(2.0)).mean()
    assert abs(inside - 0.5) < 6 * 0.5 / math.sqrt(FILES)


@pytest.mark.parametrize("epsilon", LOSSES)
@pytest.mark.parametrize("truth", [0, 1])
def test_against_exact_noise_the_attack_finds_nothing(truth, epsilon):
    files = exact_files(truth, epsilon)
    assert files.possible.all() and files.share == 0 and files.certain_after(10) == 0


def test_whole_numbers_are_possible_and_others_are_not():
    assert possible_exactly(-3.0, 1.0) and not possible_exactly(0.5, 1.0)


def test_no_mechanism_can_reach_the_bad_noise():
    """Only lessons and the app say its name; import-linter keeps the layers below from importing any."""
    core = Path(__file__).parents[2] / "core"
    naming = {path.relative_to(core).parts[0] for path in core.rglob("*.py") if "textbook_" in path.read_text()}
    assert naming == {"lab", "ui"}
