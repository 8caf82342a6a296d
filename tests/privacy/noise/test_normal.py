"""Standard normal numbers against the normal law, with all of their digits, and their decisions against long digits."""

from decimal import Context, Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.privacy.noise.laplace import Draws
from core.privacy.noise.normal import (
    PLACES,
    SPARE_CANDIDATES,
    Expansion,
    _candidates,
    _kept,
    _surely_kept,
    standard_normals,
)
from core.privacy.noise.randomness import SeededSource
from tests.depth import draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM
from tests.privacy.noise.scripted import ScriptedStream

WORD = 1 << 64
WORDS = st.one_of(st.integers(0, 3), st.integers(WORD - 4, WORD - 1), st.integers(0, WORD - 1))
# So coarse that a cell says next to nothing: nearly every candidate is decided by its tossed digits.
COARSE = 3


def expansions(normals, places):
    return [normals.tossed.get(i, Expansion(cell, places)) for i, cell in enumerate(normals.cells.tolist())]


@pytest.mark.parametrize("places", [COARSE, 12, 31, 32, PLACES])
def test_sizes_and_signs_are_those_of_a_normal_number(places):
    """With the digits after the cell, which are drawn only now."""
    stream = SeededSource(1).stream()
    normals = standard_normals(draws(15_000, 40_000), stream, places)
    sizes = np.array([number.leading(130, stream) / 2**130 for number in expansions(normals, places)])
    drawn = np.where(normals.negative, -sizes, sizes)
    assert stats.kstest(drawn, stats.norm.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(sizes, stats.halfnorm.cdf).pvalue > FALSE_ALARM
    assert stats.pearsonr(sizes, normals.negative).pvalue > FALSE_ALARM


@pytest.mark.parametrize("places", [COARSE, 12])
def test_the_part_inside_a_cell_leans_to_zero_as_it_should(places):
    """A uniform place inside the cell would be the mistake of not rejecting anything; it shows in coarse cells."""
    stream = SeededSource(2).stream()
    numbers = expansions(standard_normals(draws(25_000, 60_000), stream, places), places)
    cells = np.array([number.leading(places, stream) for number in numbers])
    upper = np.array([number.leading(places + 1, stream) & 1 for number in numbers], bool)
    for cell in range(0, 3 << places, max(1, (3 << places) // 12)):
        here = (cells >= cell) & (cells < cell + max(1, (3 << places) // 12))
        ends = np.array([cells[here], cells[here] + 0.5, cells[here] + 1]) / 2**places
        below = stats.norm.cdf(ends)
        expected = (below[2] - below[1]) / (below[2] - below[0])
        deviation = (upper[here].sum() - expected.sum()) / np.sqrt((expected * (1 - expected)).sum())
        assert abs(deviation) < stats.norm.isf(FALSE_ALARM / 2)


def test_ordinary_numbers_need_no_digits_beyond_their_cells():
    assert not standard_normals(100_000, SeededSource(3).stream()).tossed


def test_many_coarse_numbers_do():
    assert len(standard_normals(1000, SeededSource(3).stream(), COARSE).tossed) > 50


@given(st.integers(0, 1 << 58), st.integers(0, (1 << 63) - 1), st.sampled_from([COARSE, 30, 31, 32, PLACES]))
def test_what_is_kept_at_once_is_kept_by_the_long_decision(cell, uniform, places):
    cell >>= PLACES - places
    if _surely_kept(np.array([cell]), np.array([uniform]), places)[0]:
        number = _kept(cell, uniform, places, None)  # without a stream: no digit may be tossed
        assert number == Expansion(cell, places)
        assert Fraction(uniform + 1, 1 << 63) <= 1 - Fraction(2 * cell + 1, 1 << 2 * places + 1)


@given(st.integers(0, 40), st.integers(0, (1 << 63) - 1), st.lists(WORDS, min_size=12, max_size=12))
def test_decisions_are_those_of_very_many_digits(cell, uniform, words):
    stream = ScriptedStream(single=list(words))
    number = _kept(cell, uniform, COARSE, stream)
    tossed = (len(words) - len(stream.single)) // 2
    place = sum(word * Fraction(1, WORD ** (i + 1)) for i, word in enumerate(words[0::2]))
    level = Fraction(uniform, 1 << 63) + sum(
        word * Fraction(1, WORD ** (i + 1) << 63) for i, word in enumerate(words[1::2])
    )
    exponent = ((cell + place) ** 2 - cell**2) / (2 * (1 << 2 * COARSE))
    context = Context(prec=150)
    likely = Fraction(context.exp(context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))))
    assert (number is not None) == (level < likely)
    if number is not None:
        assert number.places == COARSE + 64 * tossed
        assert number.digits == int((cell + place) * (1 << 64 * tossed))


@pytest.mark.parametrize("level, kept", [(0, True), (WORD - 1, False)])
def test_a_uniform_number_close_to_one_is_settled_by_more_digits(level, kept):
    """The candidate 1 + x 2^-54 with x = 2^-10 is kept with probability 1 - 2^-64 or so."""
    stream = ScriptedStream(single=[1 << 54, level])
    number = _kept(1 << PLACES, (1 << 63) - 1, PLACES, stream)
    assert (number is not None) == kept and not stream.single


def test_candidates_that_the_sampler_finished_in_python_count_for_what_they_are():
    """Whatever stands in their place among the 64-bit values, and however far out they lie."""
    draws = Draws(np.array([7, 8, -9, 10, 11] + [-1] * SPARE_CANDIDATES), {1: 1 << 70, 2: 12, 3: -4})
    sampler = SimpleNamespace(draw=lambda count, stream: draws)
    cells, negative, tossed = _candidates(5, sampler, PLACES, SeededSource(5).stream())
    assert cells.tolist() == [7, 0, 0, 11] and len(negative) == 4
    assert tossed == {1: Expansion(1 << 70, PLACES), 2: Expansion(12, PLACES)}


def test_digits_once_tossed_stay():
    stream = SeededSource(4).stream()
    number = Expansion(5, 3)
    first = number.leading(40, stream)
    assert number.leading(3, stream) == 5 and number.leading(40, stream) == first
    assert number.leading(200, stream) >> 160 == first
