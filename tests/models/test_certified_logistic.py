"""The rounded minimiser against scikit-learn and mpmath, and the bounds of its gradient against exact arithmetic."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from core.models import certified_logistic as module
from core.models import certified_softmax
from core.models.certified_logistic import GRID_BITS, UNIT_BITS, logistic_weights, rounded_minimiser
from core.models.certified_softmax import Softmax, rounded_softmax
from core.privacy.noise.randomness import SeededSource
from core.privacy.noise.vector_noise import L2Vector
from tests.depth import deep


def unit_vectors(records: int, size: int, seed: int = 0) -> np.ndarray:
    """Records times labels, in units, of length 1 at most."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(records, size)) + np.eye(size)[0]
    vectors /= np.maximum(1.0, np.linalg.norm(vectors, axis=1))[:, None]
    return np.trunc(vectors * (1 << UNIT_BITS) * (1 - 1e-9)).astype(np.int64)


def nothing(size: int):
    return lambda level: ([Fraction(0)] * size, [Fraction(0)] * size)


def test_weights_are_within_their_bound():
    margins = np.concatenate([np.linspace(-45, 45, 1501), np.array([0.0, 1e-300, -1e300, 1e300, 5e-324])])
    with mpmath.workprec(150):
        for margin, weight in zip(margins.tolist(), logistic_weights(margins).tolist(), strict=True):
            exact = 1 / (1 + mpmath.exp(mpmath.mpf(margin)))
            assert abs(mpmath.mpf(weight) - exact) <= mpmath.mpf(module.WEIGHT_ERROR)


@pytest.mark.parametrize("level", [1, 3])
def test_weights_in_whole_numbers_are_within_two_units(level):
    digits = module.digits_of(level)
    with mpmath.workprec(digits + 100):
        for margin in (0.0, 1e-9, -0.3, 7.0, -39.5, 100.0, -150.0, 1e6, -1e6):
            whole = int(mpmath.mpf(margin) * 2 ** (digits + UNIT_BITS))
            exact = 2**digits / (1 + mpmath.exp(mpmath.mpf(whole) / 2 ** (digits + UNIT_BITS)))
            assert abs(module._weight(whole, digits) - exact) <= 2


@pytest.mark.parametrize(("records", "size"), [(1, 1), (255, 3), (257, 3), deep(4000, 7)])
def test_the_gradient_is_as_close_as_it_says(records, size):
    objective = module._Logistic(unit_vectors(records, size), Fraction(3))
    zero = [Fraction(0)] * size
    random = np.random.default_rng(1)
    for spread in (0.0, 1.0, 30.0):
        place = [Fraction(value) for value in random.normal(0, spread, size).tolist()]
        rough, error = objective.gradient(place, zero, 0)
        fine, finer = objective.gradient([cut(value) for value in place], zero, 4)
        moved = Fraction(records + 3, 1 << 190)
        distance = sum((a - b) ** 2 for a, b in zip(rough, fine, strict=True))
        assert distance <= (error + finer + moved) ** 2
        assert error < records * 2.0**-44 * (1 + spread)


def test_the_bound_allows_for_products_that_cancel():
    """Margins near zero of long coefficients: their rounding is most of the error, and far above that of a weight."""
    lengths = (1 << UNIT_BITS - 1) + np.random.default_rng(2).integers(0, 10**6, (400, 1))
    vectors = np.repeat(lengths, 2, axis=1)
    objective = module._Logistic(vectors, Fraction(1))
    place = [Fraction(1e9 + 1 / 3), Fraction(-1e9 + 1 / 7)]
    rough, error = objective.gradient(place, [Fraction(0)] * 2, 0)
    fine, finer = objective.gradient(place, [Fraction(0)] * 2, 4)
    distance = sum((a - b) ** 2 for a, b in zip(rough, fine, strict=True))
    assert (100 * 400 * module.WEIGHT_ERROR) ** 2 < distance <= (error + finer) ** 2


def cut(value: Fraction) -> Fraction:
    return Fraction(round(value * (1 << 256)), 1 << 256)


@pytest.mark.parametrize("curvature", [Fraction(1, 2), Fraction(40)])
def test_without_noise_it_is_what_scikit_learn_finds(curvature):
    vectors = unit_vectors(500, 4)
    found = np.array(rounded_minimiser(vectors, curvature, nothing(4))) / 2.0**GRID_BITS
    labels = np.where(np.arange(500) % 2, 1, -1)
    reference = LogisticRegression(C=1 / float(curvature), fit_intercept=False, tol=1e-12, solver="newton-cholesky")
    reference.fit(vectors / 2.0**UNIT_BITS * labels[:, None], labels)
    assert np.abs(found - reference.coef_[0]).max() <= 0.5 / 2**GRID_BITS + 1e-9


def test_one_record_in_one_dimension_against_mpmath():
    unit = 1 << UNIT_BITS
    for curvature, slope in ((Fraction(1, 50), Fraction(1, 3)), (Fraction(7), Fraction(-20))):
        found = rounded_minimiser(np.array([[unit]]), curvature, lambda level, b=slope: ([b], [b]))
        with mpmath.workprec(200):
            k, b = (mpmath.mpf(value.numerator) / value.denominator for value in (curvature, slope))
            slope_at = lambda f, k=k, b=b: k * f + b - 1 / (1 + mpmath.exp(f))  # noqa: E731
            exact = mpmath.findroot(slope_at, (-30, 30), solver="anderson")
            assert found == [int(mpmath.floor(exact * 2**GRID_BITS + mpmath.mpf(1) / 2))]


def test_no_records_leave_the_linear_term_alone():
    found = rounded_minimiser(np.empty((0, 2), np.int64), Fraction(4), lambda level: ([1, -2], [1, -2]))
    assert found == [-(1 << GRID_BITS - 2), 1 << GRID_BITS - 1]


@pytest.mark.thorough
def test_coarse_digits_are_extended_until_the_rounding_is_decided():
    """Noise of which hardly anything is known at first gives what all its digits give."""
    vectors = unit_vectors(300, 3)
    for seed in range(5):
        noise = L2Vector(Fraction(2), 3, SeededSource(seed).stream(), places=3)
        asked = []

        def bounds(level, noise=noise, asked=asked):
            asked.append(level)
            return noise.bounds(level)

        found = rounded_minimiser(vectors, Fraction(2), bounds)
        assert max(asked) >= 1
        assert found == rounded_minimiser(vectors, Fraction(2), lambda level, noise=noise: noise.bounds(level + 4))


def test_a_place_next_to_a_tie_goes_where_it_belongs():
    """f* is a 2^-70th part from half-way between two grid points, which double precision cannot tell."""
    half = Fraction(2 * 12345 + 1, 2 << GRID_BITS)
    for side in (-1, 1):
        slope = -3 * (half + side * Fraction(1, 1 << 70))
        found = rounded_minimiser(np.empty((0, 1), np.int64), Fraction(3), lambda level, b=slope: ([b], [b]))
        assert found == [12345 + (side > 0)]
    # The same with a record, whose weight only many digits tell: the slope is cut so that the tie is that close.
    vectors, k = np.array([[1 << UNIT_BITS]]), Fraction(3)
    with mpmath.workprec(400):
        weight = 1 / (1 + mpmath.exp(mpmath.mpf(half.numerator) / half.denominator))
        exact = Fraction(int(weight * 2**300), 1 << 300)
    for side in (-1, 1):
        slope = exact - k * half - side * Fraction(1, 1 << 100)
        assert rounded_minimiser(vectors, k, lambda level, b=slope: ([b], [b])) == [12345 + (side > 0)]


def test_a_bound_that_is_too_small_would_be_noticed(monkeypatch):
    """Planted: a gradient off by far more than it says decides roundings wrongly."""
    honest = module._Logistic._in_double_precision

    def careless(self, place):
        sums, error = honest(self, place)
        return [total + Fraction(1, 1000) for total in sums], error

    vectors = unit_vectors(300, 3)
    right = rounded_minimiser(vectors, Fraction(2), nothing(3))
    monkeypatch.setattr(module._Logistic, "_in_double_precision", careless)
    assert rounded_minimiser(vectors, Fraction(2), nothing(3)) != right


def test_a_coefficient_next_to_zero_beside_a_tie_is_no_obstacle():
    """A double next to zero has digits far behind those that the next level computes with."""
    tie, nearly = Fraction(1, 1 << GRID_BITS + 1), Fraction(1, 1 << 100)
    bounds = lambda level: ([-tie - nearly, Fraction(-1, 3 * 10**30)],) * 2  # noqa: E731
    records = np.zeros((1, 2), np.int64)
    assert rounded_minimiser(records, Fraction(1), bounds) == [1, 0]


@pytest.mark.parametrize("curvature", [Fraction(1, 10**9), Fraction(1, 10**4), Fraction(1)])
def test_the_search_arrives_from_afar(curvature):
    """A slope that outweighs all records, and next to no curvature: the minimiser is some billions away."""
    units = (np.random.default_rng(1).uniform(-0.5, 0.5, (5, 3)) * (1 << UNIT_BITS)).astype(np.int64)
    linear = [6.0, -1.0, 0.5]
    place = module._Logistic(units, curvature).start(linear)
    margins = units / 2.0**UNIT_BITS @ place
    gradient = np.array(linear) + float(curvature) * place - (units / 2.0**UNIT_BITS).T @ expit(-margins)
    assert np.linalg.norm(gradient) < 1e-5


def several(records: int, size: int, classes: int):
    """Records of several classes, which vectors tell apart a little."""
    codes = np.random.default_rng(3).integers(0, classes, records)
    vectors = unit_vectors(records, size)
    vectors[:, 0] = vectors[:, 0] * (1 + codes) // classes
    return vectors, codes


@pytest.mark.parametrize("curvature", [Fraction(1, 2), Fraction(40)])
def test_of_several_classes_it_is_what_scikit_learn_finds(curvature):
    vectors, codes = several(400, 4, 3)
    found = np.array(rounded_softmax(vectors, codes, 3, curvature, nothing(12))).reshape(3, 4) / 2.0**GRID_BITS
    reference = LogisticRegression(C=1 / float(curvature), fit_intercept=False, tol=1e-12, solver="newton-cholesky")
    reference.fit(vectors / 2.0**UNIT_BITS, codes)
    assert np.abs(found - reference.coef_).max() <= 0.5 / 2**GRID_BITS + 1e-8


@pytest.mark.parametrize(("records", "classes"), [(1, 3), (257, 4), deep(1000, 7)])
def test_the_gradient_of_several_classes_is_as_close_as_it_says(records, classes):
    objective = Softmax(*several(records, 3, classes), classes, Fraction(3))
    zero, random = [Fraction(0)] * (3 * classes), np.random.default_rng(1)
    for spread in (0.0, 1.0, 30.0):
        place = [Fraction(value) for value in random.normal(0, spread, 3 * classes).tolist()]
        rough, error = objective.gradient(place, zero, 0)
        fine, finer = objective.gradient([cut(value) for value in place], zero, 4)
        distance = sum((a - b) ** 2 for a, b in zip(rough, fine, strict=True))
        assert distance <= (error + finer + Fraction(classes * records + 3, 1 << 190)) ** 2
        assert error < records * 2.0**-43 * (1 + spread)


def test_the_bounds_for_several_classes_allow_for_cut_shares_and_for_products_that_cancel():
    vectors, codes = several(200, 3, 4)
    objective, place = Softmax(vectors, codes, 4, Fraction(3)), [Fraction(37 * one, 64) for one in range(12)]
    within(objective, place, 1)
    lengths = (1 << UNIT_BITS - 1) + np.random.default_rng(2).integers(0, 10**6, (100, 1))
    objective = Softmax(np.repeat(lengths, 2, axis=1), codes[:100] % 3, 3, Fraction(1))
    within(objective, [Fraction(one) for one in (1e9 + 1 / 3, -1e9 + 1 / 7, 0.0, 0.0, 0.0, 0.0)], 0)


def within(objective, place, level):
    """A gradient is as close to one with many more digits as both say."""
    (rough, error), (fine, finer) = (objective.gradient(place, [Fraction(0)] * len(place), one) for one in (level, 4))
    assert sum((a - b) ** 2 for a, b in zip(rough, fine, strict=True)) <= (error + finer) ** 2


def test_shares_of_classes_in_whole_numbers_are_within_two_units():
    digits = module.digits_of(1)
    with mpmath.workprec(digits + 100):
        for scores in ([0.0, 1e-9, -0.3], [-39.5, 100.0, 99.0, -3.0], [1e6, -1e6, 1e6]):
            whole = [int(mpmath.mpf(one) * 2 ** (digits + UNIT_BITS)) for one in scores]
            powers = [mpmath.exp(mpmath.mpf(one - max(whole)) / 2 ** (digits + UNIT_BITS)) for one in whole]
            exact = [2**digits * power / sum(powers) for power in powers]
            assert all(abs(a - b) <= 2 for a, b in zip(certified_softmax._shares(whole, digits), exact, strict=True))


@pytest.mark.parametrize("spread", [1e-9, 1.0, 30.0, 1e5])
@pytest.mark.parametrize(("records", "size", "classes"), [(1, 1, 2), (1100, 5, 2), (1030, 2, 3), deep(1500, 4, 17)])
def test_shares_in_words_are_those_of_many_digits(records, size, classes, spread):
    """The gradient of level 1 against that of level 3, which `Decimal` makes, for one score and for several."""
    random = np.random.default_rng(5)
    vectors, codes = several(records, size, classes)
    offsets = random.integers(-(1 << 40), 1 << 40, records)
    objectives = [module._Logistic(vectors, Fraction(1)), module._Logistic(vectors, Fraction(1), offsets)]
    for objective in [*objectives, Softmax(vectors, codes, classes, Fraction(1))]:
        numbers = random.normal(0, spread, size * (classes if isinstance(objective, Softmax) else 1))
        place = [Fraction(round(value * (1 << 64)), 1 << 64) for value in numbers.tolist()]
        (near, error), (finer, least) = (objective._in_whole_numbers(place, level) for level in (1, 3))
        assert sum((a - b) ** 2 for a, b in zip(near, finer, strict=True)) <= (error + least) ** 2
        assert least < error < records * classes**2 * 2.0**-56


def test_a_place_too_far_off_for_words_is_computed_by_decimals():
    objective, place = module._Logistic(unit_vectors(3, 2), Fraction(1)), [Fraction(1 << 40), Fraction(-3)]
    assert module.shares_in_words(objective._units, objective._whole(place, 64)[None], np.zeros(3, np.int64)) is None
    within(objective, place, 1)


def test_fewer_digits_at_the_first_level_change_no_rounding(monkeypatch):
    """What words decide is what `Decimal` decides: level 0 is made to know nothing."""
    vectors, (several_vectors, codes) = unit_vectors(400, 3), several(300, 2, 3)
    for one in (module._Logistic, Softmax):
        rough = one._in_double_precision
        monkeypatch.setattr(one, "_in_double_precision", lambda self, place, f=rough: (f(self, place)[0], Fraction(9)))
    found = (
        rounded_minimiser(vectors, Fraction(2), nothing(3)),
        rounded_softmax(several_vectors, codes, 3, Fraction(2), nothing(6)),
    )
    for one in (module, certified_softmax):
        monkeypatch.setattr(one, "shares_in_words", lambda *arguments: None)
    assert found == (
        rounded_minimiser(vectors, Fraction(2), nothing(3)),
        rounded_softmax(several_vectors, codes, 3, Fraction(2), nothing(6)),
    )


@pytest.mark.thorough
def test_coarse_digits_of_several_classes_are_extended_until_the_rounding_is_decided():
    vectors, codes = several(200, 2, 3)
    for seed in range(3):
        noise = L2Vector(Fraction(2), 6, SeededSource(seed).stream(), places=3)
        asked = []

        def bounds(level, noise=noise, asked=asked):
            asked.append(level)
            return noise.bounds(level)

        found = rounded_softmax(vectors, codes, 3, Fraction(2), bounds)
        assert max(asked) >= 1
        finer = lambda level, noise=noise: noise.bounds(level + 4)  # noqa: E731
        assert found == rounded_softmax(vectors, codes, 3, Fraction(2), finer)
