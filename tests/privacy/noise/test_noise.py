from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import opendp.prelude as opendp
import pytest

from core.errors import RequestError
from core.privacy.calibration import NoiseScale
from core.privacy.noise import noise
from core.privacy.noise.discrete_samplers import Draws
from core.privacy.noise.noise import (
    CHUNK,
    LEAST,
    MOST,
    add_noise,
    discrete_gaussian,
    discrete_laplace,
    has_room,
    rounded_l2,
    warm,
)
from core.privacy.noise.randomness import SeededSource
from core.privacy.noise.vector_noise import RoundedL2Sampler
from core.runtime import environment
from tests.depth import crossed, deep, draws
from tests.privacy.noise.goodness_of_fit import FALSE_ALARM, independence_p_value, same_law_p_value

ENDS_32 = (-(1 << 31), (1 << 31) - 1)
SAMPLERS = {"discrete_laplace": discrete_laplace, "discrete_gaussian": discrete_gaussian}


def scale(distribution, parameter):
    return SimpleNamespace(distribution=distribution, parameter=Fraction(parameter), block=None)


@pytest.mark.thorough
@pytest.mark.parametrize("opendp_scale", [deep(1.5), 4.0, deep(300.0)])
@pytest.mark.parametrize("distribution", SAMPLERS)
def test_draws_have_the_law_of_opendp(distribution, opendp_scale):
    """OpenDP cannot be seeded: this test may fail by chance, once in 1e8 runs a case."""
    opendp.enable_features("contrib")
    domain = opendp.vector_domain(opendp.atom_domain(T=int))
    if distribution == "discrete_laplace":
        rival = opendp.m.make_laplace(domain, opendp.l1_distance(T=int), scale=opendp_scale)
        ours = discrete_laplace(400_000, Fraction(opendp_scale), SeededSource(1))
    else:
        rival = opendp.m.make_gaussian(domain, opendp.l2_distance(T=float), scale=opendp_scale)
        ours = discrete_gaussian(400_000, Fraction(opendp_scale) ** 2, SeededSource(1))
    theirs = np.array(rival([0] * draws(15_000, 60_000)))
    assert same_law_p_value(ours, theirs) > FALSE_ALARM


@pytest.mark.thorough
@pytest.mark.parametrize("distribution", SAMPLERS)
def test_counters_and_calls_are_independent(distribution):
    source = SeededSource(2)
    first, second = (SAMPLERS[distribution](draws(3, 6) * CHUNK, Fraction(40), source) for _ in range(2))
    assert independence_p_value(first, second) > FALSE_ALARM
    for lag in (1, 2, 32, 63, 64, 65, 1000, CHUNK, 2 * CHUNK):
        assert independence_p_value(first[:-lag], first[lag:]) > FALSE_ALARM


@pytest.mark.parametrize("distribution", SAMPLERS)
def test_no_two_calls_give_the_same_noise(distribution):
    drawn = {SAMPLERS[distribution](64, Fraction(1000)).tobytes() for _ in range(20)}
    assert len(drawn) == 20


@pytest.mark.parametrize("distribution", SAMPLERS)
def test_seeded_noise_repeats_whatever_the_number_of_processors(distribution, monkeypatch):
    size = 3 * CHUNK + 17
    first = SAMPLERS[distribution](size, Fraction(40), SeededSource(3))
    monkeypatch.setattr(environment, "cores", lambda: 1)
    assert np.array_equal(first, SAMPLERS[distribution](size, Fraction(40), SeededSource(3)))
    assert not np.array_equal(first, SAMPLERS[distribution](size, Fraction(40), SeededSource(4)))


@pytest.mark.parametrize("distribution", SAMPLERS)
def test_noise_is_added_to_every_counter(distribution):
    table = np.arange(3 * 50_001, dtype=np.int64).reshape(3, 50_001) * 10**9
    before = table.copy()
    noisy = add_noise(table, scale(distribution, 100), SeededSource(5))
    drawn = SAMPLERS[distribution](table.shape, Fraction(100), SeededSource(5))
    assert np.array_equal(noisy - table, drawn)
    assert np.array_equal(table, before) and noisy.dtype == np.int64
    assert np.array_equal(add_noise(table.T, scale(distribution, 100), SeededSource(5)) - table.T, drawn.reshape(-1, 3))


@pytest.mark.parametrize("size", [0, 1, (2, 3), (0, 4), CHUNK, CHUNK + 1])
def test_shapes(size):
    for sampler in SAMPLERS.values():
        drawn = sampler(size, Fraction(2))
        assert drawn.shape == np.zeros(size).shape and drawn.dtype == np.int64


def test_sums_beyond_64_bits_are_set_to_the_ends():
    table = np.array([MOST, LEAST, MOST - 5, LEAST + 5, 0, -1, 1] * 1000, np.int64)
    drawn = discrete_laplace(table.size, Fraction(20), SeededSource(6))
    noisy = add_noise(table, scale("discrete_laplace", 20), SeededSource(6))
    expected = [min(max(t + z, LEAST), MOST) for t, z in zip(table.tolist(), drawn.tolist(), strict=True)]
    assert noisy.tolist() == expected
    assert {LEAST, MOST} <= set(expected)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "distribution"), crossed([np.int32, np.int64], [*SAMPLERS, "rounded_l2"]))
def test_noise_over_the_table_itself_is_the_noise_beside_it(kind, distribution):
    block = 7 if distribution == "rounded_l2" else None
    noise_scale = NoiseScale(distribution, Fraction(1 << 20), block)
    table = np.random.default_rng(1).integers(-1000, 1000, (2 * CHUNK // 7 + 11, 7)).astype(kind)
    beside = add_noise(table, noise_scale, SeededSource(9))
    over = add_noise(table, noise_scale, SeededSource(9), table)
    assert over is table and over.dtype == kind and np.array_equal(over, beside)


def test_sums_beyond_32_bits_are_set_to_the_ends_of_int32():
    least, most = ENDS_32
    table = np.array([most, least, most - 5, least + 5, 0, -1] * 1000, np.int32)
    wide = add_noise(table, scale("discrete_laplace", 20), SeededSource(6))
    assert wide.dtype == np.int64 and wide.max() > most and wide.min() < least
    assert np.array_equal(add_noise(table, scale("discrete_laplace", 20), SeededSource(6), table), wide.clip(*ENDS_32))
    far = SimpleNamespace(draw=lambda count, stream: Draws(np.full(2, MOST), {1: -(2**70)}))
    noise._add_chunk(table[:2], far, None, table[:2])
    assert table[:2].tolist() == [most, least]


def test_counters_are_wide_enough_for_64_standard_deviations():
    """The widest noise that can be drawn is for 64-bit counters alone, and 32-bit ones hold what their range allows."""
    for widest in ("discrete_laplace", 1 << 56), ("discrete_gaussian", (1 << 112) - 1):
        assert has_room(np.dtype(np.int64), NoiseScale(widest[0], Fraction(widest[1])))
        assert not has_room(np.dtype(np.int32), NoiseScale(widest[0], Fraction(widest[1])))
    assert has_room(np.dtype(np.int32), NoiseScale("discrete_gaussian", Fraction((1 << 50) - (1 << 30))))
    assert not has_room(np.dtype(np.int32), NoiseScale("discrete_gaussian", Fraction((1 << 50) + 1)))


@pytest.mark.parametrize("out", [np.zeros((3, 2), np.int64), np.zeros((3, 2), np.int64).T, np.zeros((2, 3))])
def test_noise_is_written_to_nothing_else_than_a_table_of_that_shape(out):
    with pytest.raises(TypeError, match="table"):
        add_noise(np.zeros((2, 3), np.int64), scale("discrete_laplace", 1), SeededSource(1), out)


def test_noise_beyond_64_bits_is_added_before_it_is_cut():
    """Noise of 2^63 cut to 2^63 - 1 first would turn -7 into 2^63 - 8."""
    drawn = Draws(np.zeros(4, np.int64), {0: 2**63, 1: -(2**70), 3: 2**63})
    far = SimpleNamespace(draw=lambda count, stream: drawn)
    sums = np.empty(4, np.int64)
    noise._add_chunk(np.array([-7, 7, 1, 7], np.int64), far, None, sums)
    assert sums.tolist() == [2**63 - 7, LEAST, 1, MOST]


@pytest.mark.parametrize("distribution", SAMPLERS)
@pytest.mark.parametrize("parameter", [Fraction(0), Fraction(-1), Fraction(1 << 113)])
def test_scales_out_of_range_are_refused(distribution, parameter):
    with pytest.raises(RequestError, match=r"must be above 0 and (at most|below) 2\^"):
        SAMPLERS[distribution](1, parameter)


def test_the_widest_scales_can_be_drawn():
    assert np.abs(discrete_laplace(1000, Fraction(1 << 56)).astype(float)).mean() > 1 << 54
    assert np.abs(discrete_gaussian(1000, Fraction((1 << 56) - 1) ** 2).astype(float)).mean() > 1 << 54


@pytest.mark.parametrize("distribution", SAMPLERS)
def test_floats_are_refused(distribution):
    with pytest.raises(TypeError, match="fraction"):
        SAMPLERS[distribution](1, 1.5)
    with pytest.raises(TypeError, match="int64"):
        add_noise(np.zeros(3), scale(distribution, 1))


@pytest.mark.parametrize("shape, block", [((5, 4, 6), 6), ((5, 4, 6), 24), ((5, 4, 6), 120), ((7,), 7), ((0, 3), 3)])
def test_noise_for_vectors_is_added_to_the_last_axes(shape, block):
    table = np.arange(np.prod(shape), dtype=np.int64).reshape(shape) * 10**9
    before = table.copy()
    noisy = add_noise(table, NoiseScale("rounded_l2", Fraction(100), block), SeededSource(5))
    drawn = rounded_l2((table.size // block, block), Fraction(100), SeededSource(5))
    assert np.array_equal(noisy - table, drawn.reshape(shape))
    assert np.array_equal(table, before) and noisy.dtype == np.int64


@pytest.mark.parametrize("shape", [(3, 4), (12, 5), (), (6, 2)])
def test_noise_for_vectors_of_another_length_is_refused(shape):
    with pytest.raises(ValueError, match="does not fit"):
        add_noise(np.zeros(shape, np.int64), NoiseScale("rounded_l2", Fraction(1), 6), SeededSource(5))


@pytest.mark.thorough
@pytest.mark.parametrize("block", [deep(3), deep(1000), CHUNK - 1, CHUNK + 5])
def test_no_vector_is_cut_by_a_chunk(block, monkeypatch):
    """Chunks are made of whole vectors, each drawn from one stream, on any number of processors."""
    vectors = 2 * CHUNK // block + 3
    drawn = rounded_l2((vectors, block), Fraction(1000), SeededSource(3))
    source, rows = SeededSource(3), max(CHUNK // block, 1)
    sampler = RoundedL2Sampler(Fraction(1000), block)
    first, second = (sampler.draw(rows * block, source.stream()).values for _ in range(2))
    assert np.array_equal(drawn[: 2 * rows].ravel(), np.concatenate((first, second)))
    monkeypatch.setattr(environment, "cores", lambda: 1)
    assert np.array_equal(drawn, rounded_l2((vectors, block), Fraction(1000), SeededSource(3)))


def test_no_two_calls_give_the_same_vector():
    assert len({rounded_l2(3, Fraction(1000)).tobytes() for _ in range(20)}) == 20


@pytest.mark.parametrize(
    "block, parameter", [(3, Fraction(0)), (3, Fraction(-1)), (3, Fraction(1 << 56)), (1 << 25, Fraction(1))]
)
def test_noise_for_vectors_out_of_range_is_refused(block, parameter):
    with pytest.raises(RequestError, match=r"must be above 0 and at most 2\^|vectors of 1 to"):
        add_noise(np.zeros((1, block), np.int64), vector_scale(parameter, block))


def vector_scale(parameter, block):
    return SimpleNamespace(distribution="rounded_l2", parameter=parameter, block=block)


def test_the_widest_noise_for_vectors_can_be_drawn_and_is_cut_at_the_ends():
    widest = rounded_l2((50, 3), Fraction(1 << 55))
    assert np.abs(widest.astype(float)).mean() > 1 << 54
    table = np.full((50, 3), MOST - 5)
    noisy = add_noise(table, NoiseScale("rounded_l2", Fraction(1 << 55), 3), SeededSource(6))
    drawn = rounded_l2((50, 3), Fraction(1 << 55), SeededSource(6))
    expected = [min(MOST - 5 + z, MOST) for z in drawn.ravel().tolist()]
    assert noisy.ravel().tolist() == expected and MOST in expected


def test_floats_are_no_scale_of_vectors():
    with pytest.raises(TypeError, match="fraction"):
        rounded_l2(3, 1.5)


def test_unknown_noise_is_refused():
    with pytest.raises(ValueError, match="no noise called"):
        add_noise(np.zeros(3, np.int64), scale("staircase", 1))


def test_warming_up_leaves_nothing_behind():
    assert warm() is None
