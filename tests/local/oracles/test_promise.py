"""That no report is more than e^ε times likelier for one value than for another: proven, and attacked from outside."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from core.errors import RequestError
from core.local.oracles.local_hashing import LocalHashing
from core.local.oracles.oracle import ORACLES, oracle
from core.local.oracles.unary_subset_direct import DirectEncoding, OptimisedUnary, SymmetricUnary
from core.local.survey import SKETCHES, sketch
from core.privacy.noise.randomness import SeededSource
from core.privacy.noise.responses import UNIT
from core.runtime.parameters import described
from tests.depth import draws
from tests.local.oracles.written_out import all_reports, below_e_to

FALSE_ALARM = 1e-7
EPSILONS = st.decimals("0.01", "8", places=3)


def small(name: str, domain: int, epsilon: object):
    further = {"flh": {"functions": 7, "seed": 1}, "hm": {"coefficients": 2}}.get(name, {})
    return ORACLES[name](domain, epsilon, **further)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ORACLES)
@settings(max_examples=draws(8, 100), deadline=None)
@given(domain=st.integers(2, 6), epsilon=EPSILONS)
def test_no_ratio_is_above_e_to_epsilon(name, domain, epsilon):
    one = small(name, domain, epsilon)
    matrix = one.transition_matrix()
    assert len(matrix) == domain and all(sum(row) == 1 for row in matrix)
    ratio = one.largest_ratio
    assert ratio <= one.odds <= below_e_to(epsilon)
    # Nothing is given away either: the promise is used up, to nine digits and more, where values differ at all.
    if any(row != matrix[0] for row in matrix):
        assert ratio == one.odds and float(one.odds) > float(below_e_to(epsilon)) * (1 - 1e-7)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", [name for name in ORACLES if not issubclass(ORACLES[name], LocalHashing)])
def test_reports_are_sent_as_often_as_the_matrix_says(name):
    """A χ² test of every value, which raises a false alarm once in 10^7."""
    one = small(name, 5, "1.1")
    reports, matrix = all_reports(one), one.transition_matrix()
    place = {report.tobytes(): column for column, report in enumerate(reports)}
    count = draws(20_000, 400_000)
    for value in range(one.domain):
        sent = one.privatise(np.full(count, value), SeededSource(17 + value))
        distinct, times = np.unique(sent, axis=0, return_counts=True)
        seen = np.zeros(len(reports))
        seen[[place[report.tobytes()] for report in distinct]] = times
        expected = np.array([float(chance) for chance in matrix[value]]) * count
        seen, expected = merged_cells(seen, expected)
        assert stats.chisquare(seen, expected * count / expected.sum()).pvalue > FALSE_ALARM


def merged_cells(seen, expected, least=20.0):
    """Cells of few expected reports put together, as χ² needs."""
    few = expected < least
    if not few.any():
        return seen, expected
    return np.append(seen[~few], seen[few].sum()), np.append(expected[~few], expected[few].sum())


@pytest.mark.parametrize("name", ["blh", "olh", "flh"])
def test_hashed_reports_speak_for_a_value_as_often_as_they_should(name):
    """Own values and others, each within 6 standard deviations: a false alarm once in 10^8."""
    further = {"functions": 1 << 16, "seed": 3} if name == "flh" else {}
    one = ORACLES[name](50, "1.3", **further)
    count = draws(40_000, 1_000_000)
    p, q = (float(chance) for chance in one.chances)
    supports = one.supports(one.aggregate(one.privatise(np.full(count, 11), SeededSource(5)))) / count
    others = np.delete(supports, 11)
    # Shared functions collide for many people at once, which adds their own sampling error.
    shared = q / (1 << 16) if name == "flh" else 0.0
    assert abs(supports[11] - p) < 6 * np.sqrt(p * (1 - p) / count)
    assert (np.abs(others - q) < 6 * np.sqrt(q * (1 - q) / count + shared)).all()


@pytest.mark.parametrize("name", ORACLES)
def test_the_promise_survives_a_file(name):
    one = oracle(name, 300, "0.7")
    assert ORACLES.read(described(one)) == one
    with pytest.raises(RequestError):
        ORACLES.read(described(one) | {"name": "guess"})


@pytest.mark.parametrize("epsilon", [0, -1, "nan", "17", "0.0001", True, None])
def test_an_epsilon_that_promises_nothing_is_refused(epsilon):
    with pytest.raises(RequestError):
        oracle("de", 5, epsilon)


# What the checks above must catch.


class TooFewOthers(DirectEncoding):
    """The others' probability is that of a domain one larger."""

    @property
    def chances(self):
        p, q = super().chances
        return p + q - (less := q * Fraction(99, 100)), less


class OneLess(OptimisedUnary):
    """Q is one of 2^64 words too small."""

    @property
    def thresholds(self):
        own, other = super().thresholds
        return own, other - 1


class OneMore(SymmetricUnary):
    """P is one of 2^64 words too large."""

    @property
    def thresholds(self):
        own, other = super().thresholds
        return own + 1, other - 1


def test_planted_errors_of_one_word_in_all_are_found():
    assert TooFewOthers(4, 1).largest_ratio > below_e_to(1)
    for planted in (OneLess, OneMore):
        honest, wrong = planted.__mro__[1](3, 1), planted(3, 1)
        assert honest.largest_ratio <= 1 + Fraction(honest.surplus, UNIT) < wrong.largest_ratio


class CoinReused(SymmetricUnary):
    """One coin for all bits of a report: they are flipped together or not at all."""

    def _reports(self, values, source):
        honest = super()._reports(values, source)
        flipped = (honest[:, 0] >> values.astype(np.uint64) & np.uint64(1)) == 0
        sent = np.uint64(1) << values.astype(np.uint64)
        return np.where(flipped, ~sent & np.uint64(2**self.domain - 1), sent)[:, np.newaxis]


class CountedOnce(OptimisedUnary):
    """Two reports of every person, each with all of epsilon."""

    def _reports(self, values, source):
        return super()._reports(values, source) << np.uint64(8) | super()._reports(values, source)


def shown(one, runs: int) -> float:
    """The loss that reports alone show, with confidence 1 - 1e-7: one half picks an event, the other measures it."""
    halves = []
    for half in range(2):
        codes = []
        for value in (0, 1):
            sent = one.privatise(np.full(runs, value), SeededSource(100 + 2 * half + value))
            rows = np.ascontiguousarray(sent).reshape(runs, -1)
            codes.append(rows.astype(np.uint64) @ np.full(rows.shape[1], 1, np.uint64))
        halves.append(codes)
    kinds, places = np.unique(np.concatenate(halves[0]), return_inverse=True)
    first = np.bincount(places[:runs], minlength=len(kinds)) + 1.0
    second = np.bincount(places[runs:], minlength=len(kinds)) + 1.0
    event = kinds[first / second > np.exp(0.8 * np.log((first / second).max()))]
    own, other = (int(np.isin(codes, event).sum()) for codes in halves[1])
    low = stats.beta.ppf(FALSE_ALARM / 2, own, runs - own + 1) if own else 0.0
    high = stats.beta.ppf(1 - FALSE_ALARM / 2, other + 1, runs - other) if other < runs else 1.0
    return float(np.log(low / high)) if low else 0.0


@pytest.mark.parametrize("name", sorted(set(ORACLES) - {"blh", "olh"}))
def test_an_attack_on_reports_alone_finds_nothing_in_honest_ones(name):
    assert shown(small(name, 4, 1), draws(4_000, 200_000)) <= 1.0


@pytest.mark.parametrize("name", SKETCHES)
def test_the_attack_finds_nothing_in_reports_of_sketches(name):
    """One row of few cells as good as alone, so that the same reports come often."""
    further = {"cohorts": 1, "hashes": 2} if name == "rappor" else {"rows": 2, "oracle": "sue"}
    one = sketch(name, 1, width=4, seed=1, **further)
    assert shown(one, draws(4_000, 200_000)) <= 1.0


def test_the_same_attack_finds_coins_that_are_reused_and_epsilon_counted_once():
    assert shown(CoinReused(4, 1), 20_000) > 1.0
    assert shown(CountedOnce(4, 2), 20_000) > 2.0
