"""What trust is worth, against errors that are measured."""

from decimal import Decimal
from itertools import product
from math import comb, exp

import numpy as np
import pytest

from core import Domain, Race, kernels
from core.errors import RequestError
from core.local.oracle_choice import outlook
from core.local.oracles.oracle import oracle
from core.local.trust import Shuffled, of_counts, of_density, owner_noise
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_so_many_people_give_the_owners_error(epsilon):
    one = oracle("ss", 20, epsilon)
    found = of_counts(outlook(one, 5_000))
    again = of_counts(outlook(one, round(found.needed)))
    assert abs(again.local / found.owner - 1) < 1e-3
    assert found.owner < found.local and found.needed > 5_000
    noise = add_noise(np.zeros(20_000, np.int64), owner_noise(Decimal(epsilon)), SeededSource(1))
    assert abs(noise.std() / 5_000 / found.owner - 1) < 0.06  # six standard errors, the fourth moment counted in


@pytest.mark.thorough
def test_of_records_too():
    sketch = Race(Domain.of(x=(0, 10), y=(0, 5)), kernels.Euclidean(1.5), seed=3)
    found = of_density(sketch, Decimal(1), 20_000, density=0.1)
    assert found.owner < found.local and found.needed > 20_000
    more = of_density(sketch, Decimal(1), 200_000, density=0.1)
    assert more.local < found.local / 2 and more.needed > found.needed


def true_delta(one, people: int, epsilon: float) -> float:
    """Over all data sets of the others and all multisets of reports, written out."""
    matrix = np.array([[float(chance) for chance in row] for row in one.transition_matrix()])
    kinds = matrix.shape[1]

    def shuffled(values):
        law = {(0,) * kinds: 1.0}
        for value in values:
            after: dict[tuple, float] = {}
            for counts, chance in law.items():
                for report in range(kinds):
                    key = tuple(n + (place == report) for place, n in enumerate(counts))
                    after[key] = after.get(key, 0.0) + chance * matrix[value, report]
            law = after
        return law

    worst = 0.0
    for others in product(range(one.domain), repeat=people - 1):
        if list(others) == sorted(others):
            first, second = shuffled((0, *others)), shuffled((1, *others))
            worst = max(worst, sum(max(first[key] - exp(epsilon) * second[key], 0.0) for key in first))
    return worst


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("name", "domain", "people"), [("de", 2, 6), ("de", 3, 5), ("ss", 3, 4), ("hr", 2, 4), ("oue", 3, 3), ("sue", 3, 3)]
)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_no_data_set_shows_more_than_is_stated(name, domain, people, epsilon):
    one = oracle(name, domain, "1.5")
    bound = Shuffled.of(one, people).delta(epsilon)
    assert bound >= true_delta(one, people, epsilon) - 1e-15


def slow_delta(one: Shuffled, epsilon: float) -> float:
    """Every pair of counts by itself."""
    law, rest = {}, one.people - 1
    for a in range(one.people):
        for b in range(one.people - a):
            ways = comb(rest, a) * comb(rest - a, b)
            law[a, b] = ways * one.clones ** (a + b) * (1 - 2 * one.clones) ** (rest - a - b)
    first: dict = {}
    second: dict = {}
    for (a, b), chance in law.items():
        for key, own in (((a + 1, b), one.sure), ((a, b + 1), 1 - one.sure)):
            first[key] = first.get(key, 0) + chance * own
            second[key] = second.get(key, 0) + chance * (1 - own)
    return one.labelled * sum(max(first[key] - exp(epsilon) * second[key], 0.0) for key in first)


@pytest.mark.parametrize("clones", [0.02, 0.1, 0.2])
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("sure", [0.8, 1.0])
def test_tails_add_up_to_what_pairs_of_counts_do(clones, epsilon, sure):
    one = Shuffled(4.0, 40, clones, 0.7, sure)
    slow = slow_delta(one, epsilon)
    assert slow <= one.delta(epsilon) <= slow + 1e-11


@pytest.mark.deep
def test_larger_crowds_hide_better():
    one = oracle("de", 2, 2)
    central = [Shuffled.of(one, people).epsilon(1e-6) for people in (1_000, 10_000, 1_000_000)]
    assert 2 > central[0] > central[1] > central[2] and central[2] < 0.02
    assert Shuffled.of(one, 2).epsilon(1e-9) <= 2.0
    assert "in random order among 1,000" in Shuffled.of(one, 1_000).sentence(1e-6)
    for wrong in (0.0, 1.0):
        with pytest.raises(RequestError):
            Shuffled.of(one, 100).epsilon(wrong)
    with pytest.raises(RequestError):
        Shuffled.of(one, 1)


@pytest.mark.parametrize("name", ["flh", "hm", "hr"])
def test_of_reports_of_which_the_odds_alone_are_known_one_in_so_many_is_a_clone_half_of_each_label(name):
    """More clones would promise more than is proven: of functions that all devices share, two values may be alike."""
    one = oracle(name, 10, "1")
    odds = float(one.odds)
    assert Shuffled.of(one, 1_000) == Shuffled(odds, 1_000, 1 / (2 * odds), 1.0, 1.0)
