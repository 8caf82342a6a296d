from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from core.errors import RequestError
from core.local.oracles.rappor import Rappor
from core.privacy.noise.randomness import SeededSource
from core.privacy.noise.responses import WORD
from tests.depth import draws
from tests.local.oracles.written_out import below_e_to

VALUES = np.repeat([3, 10, 42, 99], [9_000, 5_000, 4_000, 2_000])


def largest_ratio(one: Rappor) -> Fraction:
    """Of all permanent responses to any two values, cohort by cohort, written out."""
    keep, flip = 1 - one.flipped, one.flipped
    worst = Fraction(1)
    for cohort in range(one.cohorts):
        filters = set(one.filters(np.arange(20), np.full(20, cohort))[:, 0].tolist())
        for bits in product((0, 1), repeat=one.width):
            sent = sum(bit << place for place, bit in enumerate(bits))
            chances = []
            for own in filters:
                same = one.width - (sent ^ own).bit_count()
                chances.append(keep**same * flip ** (one.width - same))
            worst = max(worst, max(chances) / min(chances))
    return worst


@pytest.mark.parametrize("hashes", [1, 2, 3])
def test_every_hash_counts(hashes):
    one = Rappor(1, width=7, hashes=hashes, cohorts=2, seed=4)
    assert largest_ratio(one) <= one.largest_ratio <= one.odds <= below_e_to(1)
    assert float(one.largest_ratio) > float(one.odds) * (1 - 1e-9)


class CountedOnce(Rappor):
    """The flips of one hash for all of them, as a well-known package has it."""

    @property
    def threshold(self) -> int:
        return Rappor(self.epsilon, width=self.width, hashes=1, cohorts=1, seed=0).threshold


def test_counting_one_hash_alone_is_found_out():
    assert largest_ratio(CountedOnce(1, width=7, hashes=2, cohorts=2, seed=4)) > below_e_to(1)


def test_bits_are_kept_as_often_as_they_should():
    """Two numbers of ones, each within 6 standard deviations."""
    one = Rappor(2, width=60, hashes=2, cohorts=1, seed=1)
    sets = one.permanent(np.full(draws(20_000, 200_000), 5), SeededSource(3))[:, 1]
    own = int(one.filters(np.array([5]), np.array([0]))[0, 0])
    share = np.array([(sets >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(60)])
    expected = np.array([1 - float(one.flipped) if own >> bit & 1 else float(one.flipped) for bit in range(60)])
    assert (np.abs(share - expected) < 6 * np.sqrt(expected * (1 - expected) / len(sets))).all()


def test_many_reports_of_one_value_are_made_of_what_is_kept():
    one = Rappor(1, width=64, hashes=2, cohorts=4, one_sent=0.75, zero_sent=0.5, seed=2)
    kept = one.permanent(VALUES[:100], SeededSource(1))
    first, second = (one.again(kept, SeededSource(seed)) for seed in (2, 3))
    assert not np.array_equal(first[:, 1], second[:, 1]) and np.array_equal(first[:, 0], kept[:, 0])
    assert 0 < one.once < 0.5
    exact = Rappor(1, width=64, hashes=2, cohorts=4, seed=2)
    assert np.array_equal(exact.again(kept, SeededSource(2)), kept) and exact.once == pytest.approx(1)
    with pytest.raises(RequestError):
        one.again(kept + np.uint64(4))


@pytest.mark.parametrize("sent", [(1.0, 0.0), (0.75, 0.25)])
def test_candidates_are_found_with_their_counts(sent):
    one = Rappor(4, width=64, hashes=2, cohorts=8, one_sent=sent[0], zero_sent=sent[1], seed=1)
    tally = one.aggregate(one.privatise(VALUES, SeededSource(5)))
    estimate = one.estimate(tally, np.arange(120))
    assert set(np.argsort(-estimate)[:4]) == {3, 10, 42, 99}
    half = one.aggregate(one.privatise(VALUES[:10], SeededSource(1)))
    assert (half + tally).people == len(VALUES) + 10


@pytest.mark.parametrize("listed", [0.3, 0.9])
def test_estimates_are_unbiased_intervals_hold_and_forecasts_are_the_error(listed):
    """Of three values that many have and 30 that nobody has, beside others that are not asked for.

    Over hash functions and coins; 10 standard errors of the mean, and for the rest 6 and 8 deviations of as many trials
    as runs.
    """
    runs, people, random = draws(10, 200), 10_000, np.random.default_rng(2)
    frequent = random.random(people) < listed
    values = np.where(
        frequent, random.choice([3, 10, 42], people, p=[0.5, 0.3, 0.2]), random.integers(100, 900, people)
    )
    asked = np.concatenate([[3, 10, 42], np.arange(5_000, 5_030)])
    truth = np.array([(values == one).sum() for one in asked])
    _, others = np.unique(values[~frequent], return_counts=True)
    found, held = [], []
    for run in range(runs):
        one = Rappor(3, width=64, hashes=2, cohorts=32, seed=run)
        estimate, low, high = one.answer(one.aggregate(one.privatise(values, SeededSource(run))), asked)
        found.append(estimate - truth)
        held.append((low <= truth) & (truth <= high))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(runs)
    assert (np.abs(np.mean(found, axis=0)) < 10 * error + 1).all()
    assert abs(np.mean(held) - 0.95) < 6 * np.sqrt(0.05 * 0.95 / runs)
    stated = one.typical_variance(people, 0.0, ((others / people) ** 2).sum())
    assert abs(np.mean(np.square(found)[:, 3:]) / stated - 1) < 8 * np.sqrt(2 / (6 * runs))


def test_many_candidates_are_told_apart_where_all_are_listed():
    """Bits of a thousand values overlap, and each is estimated beyond what the others explain."""
    one = Rappor(4, width=128, hashes=2, cohorts=16, seed=1)
    counts = (20_000 / np.arange(1, 1_001) ** 1.2 / 3).astype(int)
    values = np.repeat(np.arange(1_000), counts)
    tally = one.aggregate(one.privatise(values, SeededSource(1)))
    estimate, low, high = one.answer(tally, np.arange(1_000))
    alone = one.bits_of(tally, np.arange(1_000)).alone().sum(axis=0)
    assert np.square(estimate - counts).mean() < 0.5 * np.square(alone - counts).mean()
    assert abs(((low <= counts) & (counts <= high)).mean() - 0.95) < 0.05


def test_no_report_moves_an_answer_further_than_its_reach():
    """With what other candidates explain left as it is."""
    one = Rappor(1, width=16, hashes=2, cohorts=4, seed=3)
    down, up = one.reach
    reports = np.column_stack([np.arange(8) % 4, [0, (1 << 16) - 1] * 4]).astype(np.uint64)
    tallies = [one.aggregate(report[np.newaxis]) for report in reports]
    moved = np.array([one.bits_of(tally, np.arange(9)).alone().sum(axis=0) for tally in tallies])
    assert moved.min() == pytest.approx(down) and moved.max() == pytest.approx(up)


def test_what_is_no_report_is_refused():
    one = Rappor(1, width=60, hashes=2, cohorts=4, seed=2)
    reports = one.privatise(VALUES[:10], SeededSource(1))
    beyond = np.array([0, 1 << 63], np.uint64)
    for wrong in (reports + np.array([4, 0], np.uint64), reports | beyond, reports[:, :1], reports.astype(np.int64)):
        with pytest.raises(RequestError):
            one.aggregate(wrong)
    with pytest.raises(RequestError):
        Rappor(1, width=4, hashes=4)
    with pytest.raises(RequestError, match="two or more"):
        Rappor(1, cohorts=1, seed=1).interval(Rappor(1, cohorts=1, seed=1).zeros(), [1])
    assert one.threshold < WORD and Rappor(**Rappor.read(one.written())) == one
