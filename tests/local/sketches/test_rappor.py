from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from core.errors import RequestError
from core.local.sketches.rappor import Rappor
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
    _, sets = one.permanent(np.full(draws(20_000, 200_000), 5), SeededSource(3))
    own = int(one.filters(np.array([5]), np.array([0]))[0, 0])
    share = np.array([(sets[:, 0] >> np.uint64(bit) & np.uint64(1)).mean() for bit in range(60)])
    expected = np.array([1 - float(one.flipped) if own >> bit & 1 else float(one.flipped) for bit in range(60)])
    assert (np.abs(share - expected) < 6 * np.sqrt(expected * (1 - expected) / len(sets))).all()


def test_many_reports_of_one_value_are_made_of_what_is_kept():
    one = Rappor(1, width=64, hashes=2, cohorts=4, one_sent=0.75, zero_sent=0.5, seed=2)
    kept = one.permanent(VALUES[:100], SeededSource(1))
    first, second = (one.sent(kept, SeededSource(seed)) for seed in (2, 3))
    assert not np.array_equal(first[1], second[1]) and np.array_equal(first[0], kept[0])
    exact = Rappor(1, width=64, hashes=2, cohorts=4, seed=2)
    assert np.array_equal(exact.sent(kept, SeededSource(2))[1], kept[1])


@pytest.mark.parametrize("sent", [(1.0, 0.0), (0.75, 0.25)])
def test_candidates_are_found_with_their_counts(sent):
    one = Rappor(4, width=64, hashes=2, cohorts=8, one_sent=sent[0], zero_sent=sent[1], seed=1)
    tally = one.aggregate(one.privatise(VALUES, SeededSource(5)))
    estimate = one.estimate(tally, np.arange(120))
    low, high = one.interval(tally, np.arange(120))
    assert set(np.argsort(-estimate)[:4]) == {3, 10, 42, 99}
    truth = np.bincount(VALUES, minlength=120)
    assert ((low <= truth) & (truth <= high)).mean() > 0.9
    half = one.aggregate(one.privatise(VALUES[:10], SeededSource(1)))
    assert (half + tally).people == len(VALUES) + 10


def test_what_is_no_report_is_refused():
    one = Rappor(1, width=60, hashes=2, cohorts=4, seed=2)
    cohorts, sets = one.privatise(VALUES[:10], SeededSource(1))
    for wrong in ((cohorts + 4, sets), (cohorts, sets | np.uint64(1 << 63)), (cohorts[:3], sets)):
        with pytest.raises(RequestError):
            one.aggregate(wrong)
    with pytest.raises(RequestError):
        Rappor(1, width=4, hashes=4)
    assert one.threshold < WORD and Rappor(**Rappor.read(one.written())) == one
