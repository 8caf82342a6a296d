"""Rounded noise vectors against numerical integrals of the ideal noise."""

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from scipy.interpolate import CubicSpline

from core.privacy.calibration import rounded_l2_variance
from core.privacy.noise import vector_noise as module
from core.privacy.noise.discrete_samplers import Draws
from core.privacy.noise.randomness import SeededSource
from core.privacy.noise.vector_noise import (
    PLACES,
    SPARE_CANDIDATES,
    Expansion,
    L2Vector,
    Normals,
    RoundedL2Sampler,
    _candidates,
    _kept,
    _surely_kept,
    standard_normals,
)
from tests.depth import deep, draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, fit_p_value, independence_p_value
from tests.privacy.noise.scripted import ScriptedStream

WORD = 1 << 64
# So coarse that nearly every coordinate needs digits beyond its cell.
COARSE = 3
# Of the rule that integrates over a quarter of a unit square.
NODES = 24


def drawn(scale, block, vectors, places=PLACES, seed=1):
    """Noise vectors, int64 (vectors, block)."""
    draws = RoundedL2Sampler(Fraction(scale), block, places).draw(vectors * block, SeededSource(seed).stream())
    values = draws.values.copy()
    for index, value in draws.exact.items():
        values[index] = value
    return values.reshape(vectors, block)


def beyond(t, block):
    """P(Z_1 > t) of the ideal noise of scale 1 for t >= 0, from its length and direction, by integration over both.

    The length is a Gamma variable, the square of a direction's coordinate a Beta variable.
    """
    if block == 1:
        return np.exp(-t) / 2
    nodes, weights = np.polynomial.legendre.leggauss(120)
    span = 12 * math.sqrt(block) + 60
    total = np.zeros_like(t)
    for start, end in ((0, 0.05 * span), (0.05 * span, 0.3 * span), (0.3 * span, span)):
        lengths = t[:, None] + (start + (end - start) * (nodes + 1) / 2)
        share = special.betaincc(0.5, (block - 1) / 2, (t[:, None] / lengths) ** 2) / 2
        total += stats.gamma.pdf(lengths, block) * share @ weights * (end - start) / 2
    return total


@lru_cache
def tail(block):
    """`beyond` as a spline, in the square root of t, as it may bend sharply at zero."""
    roots = np.linspace(0, math.sqrt(8 * math.sqrt(block) + 60), 600)
    spline = CubicSpline(roots, np.log(beyond(roots**2, block)))
    return lambda t: np.exp(spline(np.sqrt(t)))


@lru_cache
def marginal(scale, block):
    """P(round(Z_1) <= z) for whole z, as a function."""
    reach = int(scale * (8 * math.sqrt(block) + 50)) + 2
    upper = tail(block)((np.arange(reach + 1) + 0.5) / scale)
    table = np.concatenate((upper[::-1], 1 - upper))  # at z = -reach-1 ... -1, 0 ... reach
    return lambda z: table[np.clip(np.asarray(z) + reach + 1, 0, 2 * reach + 1)]


@lru_cache
def plane(scale, reach):
    """P(round(Z) = (i, j)) for vectors of two, |i|, |j| <= reach, by Gauss-Legendre in quarters of unit squares."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    halves = np.arange(-2 * reach - 1, 2 * reach + 1) / 2
    points = (halves[:, None] + (nodes + 1) / 4).ravel()
    mass = np.exp(-np.hypot(points[:, None], points) / scale) / (2 * math.pi * scale**2)
    quarters = np.einsum("aibj,i,j->ab", mass.reshape(len(halves), NODES, len(halves), NODES), weights / 4, weights / 4)
    return quarters.reshape(2 * reach + 1, 2, 2 * reach + 1, 2).sum(axis=(1, 3))


@pytest.mark.few(1)
@pytest.mark.parametrize("scale", [deep(0.4), 2.5, deep(30)])
@pytest.mark.parametrize("block", [1, 2, deep(3), 50])
@pytest.mark.parametrize("places", [PLACES, COARSE])
def test_one_counter_has_the_rounded_marginal(places, block, scale):
    vectors = (draws(8_000, 100_000) if places == PLACES else draws(400, 6_000)) // math.isqrt(block)
    values = drawn(scale, block, vectors, places)
    assert fit_p_value(values[:, 0], marginal(scale, block), cells=60) > FALSE_ALARM
    assert fit_p_value(values[:, -1], marginal(scale, block), cells=60) > FALSE_ALARM


@pytest.mark.thorough
def test_vectors_of_one_are_rounded_laplace():
    def cdf(z):
        return stats.laplace.cdf(np.asarray(z, float) + 0.5, scale=3)

    assert fit_p_value(drawn(3, 1, draws(12_000, 200_000)).ravel(), cdf) > FALSE_ALARM


@pytest.mark.thorough
@pytest.mark.parametrize("places", [PLACES, COARSE])
def test_vectors_of_two_have_the_rounded_joint_law(places):
    """Coordinates share a length: with coarse numbers it gets its digits once, for both."""
    scale, reach = 0.8, 4
    expected = plane(scale, reach)
    values = drawn(Fraction(4, 5), 2, draws(20_000, 100_000) if places == PLACES else draws(1_500, 10_000), places)
    inside = np.abs(values).max(axis=1) <= reach
    cells = (values[inside] + reach) @ [2 * reach + 1, 1]
    counts = np.append(np.bincount(cells, minlength=expected.size), (~inside).sum())
    wanted = np.append(expected.ravel(), 1 - expected.sum()) * len(values)
    rare = wanted < 10
    rare[-1] = True
    observed = np.append(counts[~rare], counts[rare].sum())
    assert stats.chisquare(observed, np.append(wanted[~rare], wanted[rare].sum())).pvalue > FALSE_ALARM


@pytest.mark.few(1)
@pytest.mark.parametrize("scale", [Fraction(10**6, 3), Fraction(1 << 44), Fraction(1 << 52)])
@pytest.mark.parametrize("block", [2, 5, 64])
def test_length_and_direction(block, scale):
    """Up to scales at which every coordinate needs digits beyond its cell."""
    values = drawn(scale, block, draws(1_500, 12_000) if scale < 1 << 40 else draws(250, 1_500))
    lengths = np.sqrt((values.astype(float) ** 2).sum(axis=1))
    assert stats.kstest(lengths / float(scale), stats.gamma(block).cdf).pvalue > FALSE_ALARM
    directions = values / lengths[:, None]
    ordinary = np.random.default_rng(0).normal(size=block)
    for axis in (np.eye(block)[0], np.eye(block)[-1], np.ones(block), ordinary):
        along = directions @ (axis / np.linalg.norm(axis))
        assert stats.kstest((along + 1) / 2, stats.beta((block - 1) / 2, (block - 1) / 2).cdf).pvalue > FALSE_ALARM
        assert stats.spearmanr(along, lengths).pvalue > FALSE_ALARM
        assert stats.spearmanr(along**2, lengths).pvalue > FALSE_ALARM


@pytest.mark.thorough
def test_vectors_are_independent_and_their_counters_are_not():
    values = drawn(1000, 2, draws(30_000, 60_000))
    assert independence_p_value(values[:-1, 0], values[1:, 0]) > FALSE_ALARM
    assert independence_p_value(values[:-1, 1], values[1:, 0]) > FALSE_ALARM
    sizes = np.abs(values)
    assert stats.spearmanr(sizes[:, 0], sizes[:, 1]).pvalue < FALSE_ALARM
    assert stats.spearmanr(sizes[:-1, 0], sizes[1:, 1]).pvalue > FALSE_ALARM


@pytest.mark.few(1)
@pytest.mark.parametrize("block, length", [(1, 3), (2, 5)])
@pytest.mark.parametrize("scale", [0.7, 2.0, 9.0])
def test_the_loss_of_the_rounded_noise_is_at_most_length_over_scale(block, length, scale):
    """By exact integration: no table is more than e^(length/scale) times as likely for a neighbour, and some nearly."""
    reach = int((15 if block == 1 else 5) * scale) + length
    if block == 1:
        law = np.diff(marginal(scale, 1)(np.arange(-reach - 1, reach + 1)))
        shifts = [(length,), (1,)]
    else:
        law, shifts = plane(scale, reach), [(3, 4), (5, 0), (-4, 3), (0, 1)]
    for shift in shifts:
        here = tuple(slice(max(s, 0), law.shape[0] + min(s, 0)) for s in shift)
        there = tuple(slice(max(-s, 0), law.shape[0] + min(-s, 0)) for s in shift)
        losses = np.log(law[here] / law[there])
        bound = math.hypot(*shift) / scale
        assert losses.max() <= bound * (1 + 1e-4)
        assert losses.max() > bound * 0.95


@pytest.mark.parametrize("scale", [Fraction(1, 20), Fraction(3, 10), Fraction(1), Fraction(5, 2), Fraction(7)])
@pytest.mark.parametrize("block", [1, 2, 3, 50])
def test_variance_against_the_law(block, scale):
    cdf = marginal(float(scale), block)
    z = np.arange(0, int(scale * (8 * math.sqrt(block) + 50)) + 1)
    expected = 2 * float((2 * z + 1) @ cdf(-z - 1))
    assert rounded_l2_variance(scale, block) == pytest.approx(expected, rel=2e-6, abs=1e-13)


def test_variance_of_large_and_of_vanishing_noise():
    assert rounded_l2_variance(Fraction(1000), 255) == 256e6 + 1 / 12
    assert rounded_l2_variance(Fraction(1, 10**6), 3) == 0
    assert rounded_l2_variance(Fraction(1, 10**400), 1) == 0
    # Two formulas meet here, whatever the length.
    for block in (1, 4, 99, 999, 10**5):
        below, above = (math.sqrt(variance / (block + 1)) for variance in (99.99, 100.01))
        exact, plain = (rounded_l2_variance(Fraction(b), block) for b in (below, above))
        assert exact - 99.99 == pytest.approx(plain - 100.01, abs=2e-4)


CELLS = st.one_of(st.integers(0, 100), st.integers(0, 1 << 50), st.integers(0, 1 << 57))
RADII = st.one_of(st.lists(cells, min_size=2, max_size=6) for cells in (CELLS, st.integers(0, 100)))
SCALES = st.builds(
    lambda n, d, e: Fraction(n, d) * Fraction(2) ** e, st.integers(1, 999), st.integers(1, 999), st.integers(-50, 56)
)


@given(RADII, CELLS, CELLS, SCALES)
def test_bounds_hold_for_all_digits_that_may_follow(radius, cell, other, scale):
    """The inequality of the module, at both of its ends, in whole numbers."""
    largest = max(cell, other)
    factor, width, bits = RoundedL2Sampler(scale, len(radius) - 1)._bounds(radius, largest)
    if bits:
        assert factor < 1 << 63 and 1 <= bits <= 62 and width < 1 << 62
        low = factor * cell >> 64
        unit = scale**2 * Fraction(4) ** (bits - 2 * PLACES)  # of squared sizes, in squared units of 2^-f
        assert low**2 <= unit * sum(y**2 for y in radius) * cell**2
        assert unit * sum((y + 1) ** 2 for y in radius) * (cell + 1) ** 2 <= (low + width) ** 2
    else:
        assert scale**2 * sum((y + 1) ** 2 for y in radius) >= 1 << 4 * PLACES - 4


@given(RADII, CELLS, SCALES, st.booleans())
def test_what_the_compiled_loop_decides_is_what_any_further_digits_give(radius, cell, scale, negative):
    block = len(radius) - 1
    sampler = RoundedL2Sampler(scale, block)
    normals = Normals(np.array([cell] * block), np.array([negative] * block), {})
    values, decided = sampler._decide(np.array([radius]), normals)
    if decided[0, 0]:
        for word in (0, WORD - 1):
            length = [Expansion((y << 64) + word, PLACES + 64) for y in radius]
            stream = ScriptedStream(single=[word] * 3)
            exact = module.Length(scale, length, PLACES + 64, stream)
            size = exact.rounded_product(Expansion((cell << 64) + word, PLACES + 64))
            assert values[0, 0] == (-size if negative else size)


def test_nearly_everything_is_decided_by_the_compiled_loop():
    for scale, share in ((Fraction(1, 9), 0), (Fraction(1 << 20), 0), (Fraction(1 << 40), 0.02)):
        draws = RoundedL2Sampler(scale, 100).draw(20_000, SeededSource(5).stream())
        assert len(draws.exact) <= share * 20_000


@pytest.mark.parametrize(
    "words, expected",
    [
        ([0, 0, 0], 0),  # 1 times a little less than 1/2
        ([WORD - 1, 0, WORD - 1], 1),  # a little more than 1 times next to 1/2
        ([0, 0, WORD - 1, 0, 0, 0], 0),  # undecided once more, then less
        ([0, 0, WORD - 1, WORD - 1, 0, WORD - 1], 1),  # undecided once more, then more
    ],
)
def test_a_near_tie_is_settled_by_more_digits_of_the_same_numbers(words, expected):
    stream = ScriptedStream(single=list(words))
    radius = [Expansion(1 << PLACES, PLACES), Expansion(0, PLACES)]
    length = module.Length(Fraction(1), radius, PLACES, stream)
    direction = Expansion((1 << PLACES - 1) - 1, PLACES)
    assert length.rounded_product(direction) == expected
    assert not stream.single
    assert direction.digits == ((1 << PLACES - 1) - 1 << 64 * (len(words) // 3)) + sum(
        word << 64 * (len(words) // 3 - 1 - i) for i, word in enumerate(words[2::3])
    )


def test_a_vector_has_one_length_whichever_coordinates_need_more_of_it():
    stream = ScriptedStream(single=[0, 0, WORD - 1, 7, 0, WORD - 1])
    radius = [Expansion(1 << PLACES, PLACES), Expansion(0, PLACES)]
    length = module.Length(Fraction(1), radius, PLACES, stream)
    near_half = (1 << PLACES - 1) - 1
    length.rounded_product(Expansion(near_half, PLACES))  # twice 64 digits more of each number
    digits = [number.digits for number in radius]
    assert stream.single == []
    stream.single = [0, 5]
    assert length.rounded_product(Expansion(near_half, PLACES)) == 0  # one word: its own
    assert stream.single == [5] and [number.digits for number in radius] == digits


def test_near_ties_leave_the_compiled_loop():
    normals = Normals(np.array([(1 << PLACES - 1) - 1]), np.array([True]), {})
    _, decided = RoundedL2Sampler(Fraction(1), 1)._decide(np.array([[1 << PLACES, 0]]), normals)
    assert not decided.any()


def test_numbers_with_tossed_digits_are_used_with_them(monkeypatch):
    """Whichever numbers have been looked at beyond their cells, what was decided without that stays."""
    stream = SeededSource(6).stream()
    radii, numbers = standard_normals(7 * 5, stream), standard_normals(7 * 4, stream)
    sampler = RoundedL2Sampler(Fraction(1000), 4)

    def tossed(normals, indices):
        known = {i: Expansion((int(normals.cells[i]) << 64) + 12345 * i, PLACES + 64) for i in indices}
        cells = normals.cells.copy()
        cells[list(indices)] = 0
        return Normals(cells, normals.negative, known)

    def draw(*normals):
        queue = list(normals)
        monkeypatch.setattr(module, "standard_normals", lambda *_: queue.pop(0))
        draws = sampler.draw(28, SeededSource(7).stream())
        values = draws.values.copy()
        values[list(draws.exact)] = list(draws.exact.values())
        return values.tolist(), draws.exact

    plain, none = draw(radii, numbers)
    assert not none
    values, exact = draw(tossed(radii, [0, 12, 34]), tossed(numbers, [9, 13]))
    assert values == plain
    assert set(exact) == {0, 1, 2, 3, 8, 9, 10, 11, 24, 25, 26, 27, 13}


@pytest.mark.parametrize("places", [3, 54])
def test_more_digits_give_bounds_inside_those_of_fewer(places):
    for seed in range(20):
        vector = L2Vector(Fraction(7, 3), 4, SeededSource(seed).stream(), places)
        deep = vector.bounds(3)
        for extra in (0, 1, 2):
            low, high = vector.bounds(extra)
            for least, most, lower, upper in zip(low, high, *deep, strict=True):
                assert least <= lower < upper <= most
                assert upper - lower < (most - least) / 2**50
        assert deep == vector.bounds(3)


@pytest.mark.few(1)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_lengths_are_gamma_and_directions_even(size):
    source = SeededSource(11)
    drawn = [L2Vector(Fraction(5, 2), size, source.stream()).bounds(0) for _ in range(draws(300, 1500))]
    vectors = np.array([[float(a + b) / 2 for a, b in zip(*bounds, strict=True)] for bounds in drawn])
    lengths = np.linalg.norm(vectors, axis=1)
    assert stats.kstest(lengths, stats.gamma(size, scale=2.5).cdf).pvalue > FALSE_ALARM
    # The square of a direction's coordinate is a Beta variable; its sign is fair and independent.
    if size > 1:
        assert stats.kstest((vectors[:, 0] / lengths) ** 2, stats.beta(0.5, (size - 1) / 2).cdf).pvalue > FALSE_ALARM
    assert stats.binomtest(int((vectors[:, -1] > 0).sum()), len(vectors)).pvalue > FALSE_ALARM


WORDS = st.one_of(st.integers(0, 3), st.integers(WORD - 4, WORD - 1), st.integers(0, WORD - 1))
# So coarse that a cell says next to nothing: nearly every candidate is decided by its tossed digits.


def expansions(normals, places):
    return [normals.tossed.get(i, Expansion(cell, places)) for i, cell in enumerate(normals.cells.tolist())]


@pytest.mark.few(2)
@pytest.mark.parametrize("places", [COARSE, 12, 31, 32, PLACES])
def test_sizes_and_signs_are_those_of_a_normal_number(places):
    """With the digits after the cell, which are drawn only now."""
    stream = SeededSource(1).stream()
    normals = standard_normals(draws(6_000, 40_000), stream, places)
    sizes = np.array([number.leading(130, stream) / 2**130 for number in expansions(normals, places)])
    drawn = np.where(normals.negative, -sizes, sizes)
    assert stats.kstest(drawn, stats.norm.cdf).pvalue > FALSE_ALARM
    assert stats.kstest(sizes, stats.halfnorm.cdf).pvalue > FALSE_ALARM
    assert stats.pearsonr(sizes, normals.negative).pvalue > FALSE_ALARM


@pytest.mark.thorough
@pytest.mark.parametrize("places", [COARSE, 12])
def test_the_part_inside_a_cell_leans_to_zero_as_it_should(places):
    """A uniform place inside the cell would be the mistake of not rejecting anything; it shows in coarse cells."""
    stream = SeededSource(2).stream()
    numbers = expansions(standard_normals(draws(12_000, 60_000), stream, places), places)
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
