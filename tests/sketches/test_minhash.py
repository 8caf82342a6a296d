"""MinHash against its slow reference, its sensitivity on adversarial neighbours, and the truth of its answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import load, release
from core.domain import Domain, Items, PrivacyUnit
from core.domain.item_sets import Sets
from core.errors import RequestError
from core.geometry import kernels
from core.geometry.min_hashing import shortened
from core.privacy.budget import Budget, Neighbours
from core.sketches.directions import Directions
from core.sketches.distance import Distance
from core.sketches.features import Features
from core.sketches.histogram import Histogram
from core.sketches.mechanism_audit import audit_sketch, worst_neighbours
from core.sketches.minhash import SCHEMES, MinHash
from core.sketches.moments import Moments
from core.sketches.projected_distance import ProjectedDistance
from core.sketches.race import Race
from tests.depth import draws, sampled
from tests.sketches.checking import poured
from tests.sketches.slow_minhash import slow_columns, slow_estimates, slow_table

DOMAIN = Domain((Items("tags"),))
items = st.integers(0, 2**64 - 1)
one_set = st.lists(st.one_of(st.integers(0, 40), items), min_size=1, max_size=30)
some_sets = st.lists(one_set, max_size=20)
schemes = st.sampled_from(SCHEMES)
seeds = st.integers(0, 2**128 - 1)


def keyed(lists: list[list[int]]) -> Sets:
    """Sets of the very keys."""
    return Sets.of_sizes(
        np.array([len(one) for one in lists], np.int64), np.array([key for one in lists for key in one], np.uint64)
    )


def random_sets(count: int, longest: int, universe: int, seed: int) -> Sets:
    """Sets of very different sizes, popular items in many of them."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.zipf(1.5, count), longest)
    return Sets.of_sizes(sizes, (universe * rng.random(int(sizes.sum())) ** 3).astype(np.uint64))


@pytest.mark.thorough
@given(some_sets, schemes, seeds, st.sampled_from([2, 7, 1000, 1 << 20]), st.integers(2, 5))
def test_tables_and_answers_equal_the_slow_reference(lists, scheme, seed, width, groups):
    sketch = MinHash(DOMAIN, rows=9, width=width, scheme=scheme, seed=seed, groups=groups)
    table = poured(sketch, keyed(lists))
    assert (table == slow_table(sketch, keyed(lists))).all()
    queries = keyed([*lists, [1], [2**64 - 1, 5]])
    estimates, weights = sketch.group_estimates(table, len(lists), queries)
    assert weights @ estimates == pytest.approx(slow_estimates(sketch, table, len(lists), queries), abs=1e-9)


@pytest.mark.deep
@pytest.mark.parametrize("scheme", sampled(SCHEMES, "classic"))
def test_long_sets_and_groups_of_several_blocks_equal_the_slow_reference(scheme):
    """More rows than a block has, sets that fill none, some, most and all rows by throws, and an incomplete line."""
    sketch = MinHash(DOMAIN, rows=900, width=5000, scheme=scheme, seed=5, groups=2)
    rng = np.random.default_rng(3)
    sets = keyed([rng.integers(0, 2**63, size).tolist() for size in (1, 2, 90, 500, 800, 3000, 5)])
    table = poured(sketch, sets)
    assert (table == slow_table(sketch, sets)).all()


@given(one_set, schemes, seeds)
def test_what_a_set_adds_is_the_same_wherever_and_however_it_is_written(items, scheme, seed):
    """Alone, in the middle of others, in another order, with items repeated: bit for bit."""
    sketch = MinHash(DOMAIN, rows=20, width=64, scheme=scheme, seed=seed, groups=2)
    others = random_sets(40, 60, 100, 1)
    alone = poured(sketch, keyed([items]))
    among = Sets.of_sizes(
        np.concatenate([others.sizes[:23], [2 * len(items)], others.sizes[23:]]),
        np.concatenate([others[:23].elements, keyed([items[::-1] + items]).elements, others[23:].elements]),
    )
    assert (poured(sketch, among) - poured(sketch, others) == alone).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_any_split_gives_the_same_table(scheme, monkeypatch):
    sets = random_sets(3000, 400, 5000, 2)
    sketch = MinHash(DOMAIN, rows=120, width=300, scheme=scheme, seed=8, longest=50)
    whole = poured(sketch, sets)
    parts = sketch.zeros()
    for start, stop in ((0, 1), (1, 18), (18, 18), (18, 1700), (1700, 3000)):
        sketch.add(parts, sets[start:stop])
    assert (parts == whole).all()
    from core.sketches import minhash

    for name, value in {"FEWEST_SETS": 100, "MOST_SETS": 100, "MOST_ITEMS": 64, "BUFFER": 700}.items():
        monkeypatch.setattr(minhash, name, value)
    assert (poured(sketch, sets) == whole).all()
    monkeypatch.setattr(minhash, "over_ranges", lambda count, work: [work(i, i + 1) for i in range(count)])
    assert (poured(sketch, sets) == whole).all()


@given(some_sets, one_set, schemes, st.sampled_from([None, 3]), seeds)
def test_adding_a_set_moves_every_row_by_exactly_one(lists, items, scheme, longest, seed):
    sketch = MinHash(DOMAIN, rows=16, width=32, scheme=scheme, longest=longest, seed=seed)
    difference = poured(sketch, keyed([*lists, items])) - poured(sketch, keyed(lists))
    declared = sketch.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(difference).sum() == declared.l1 == 16
    assert (difference**2).sum() == declared.l2_squared == 16
    assert (np.abs(difference).sum(axis=1) == 1).all() and declared.unit_shifts and declared.parts == 16


@given(some_sets, one_set, one_set, schemes, seeds)
def test_replacing_a_set_stays_within_the_declared_bound(lists, one, other, scheme, seed):
    sketch = MinHash(DOMAIN, rows=16, width=32, scheme=scheme, seed=seed)
    difference = poured(sketch, keyed([*lists, one])) - poured(sketch, keyed([*lists, other]))
    declared = sketch.sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(difference).sum() <= declared.l1 and (difference**2).sum() <= declared.l2_squared
    assert np.abs(difference).max() <= 1
    assert (np.abs(difference).sum(axis=1) <= declared.l1 // declared.parts).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_longest_of_sets_moves_no_more_than_the_shortest_and_the_bound_is_reached(scheme):
    sketch = MinHash(DOMAIN, rows=16, width=1 << 16, scheme=scheme, seed=3)
    million = Sets.of_sizes(np.array([1_000_000]), np.arange(1_000_000, dtype=np.uint64))
    difference = poured(sketch, million) - poured(sketch, keyed([[2**64 - 1]]))
    declared = sketch.sensitivity(Neighbours.REPLACE_ONE)
    assert np.abs(difference).sum() == declared.l1 == 32 and (difference**2).sum() == declared.l2_squared == 32


def test_several_sets_a_person_multiply_the_sensitivity_and_reach_it():
    sketch = MinHash(Domain((Items("tags"),), unit=PrivacyUnit("who", 5)), rows=16, seed=3)
    difference = poured(sketch, keyed([[1, 2, 3]] * 5)).astype(np.int64)
    declared = sketch.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(difference).sum() == declared.l1 == 80 and (difference**2).sum() == declared.l2_squared == 400
    assert not declared.unit_shifts


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_audit_finds_neighbours_as_far_apart_as_declared_and_the_promise_kept(neighbours):
    sketch = MinHash(DOMAIN, rows=2, width=8, groups=2, seed=1)
    first, second = worst_neighbours(sketch, neighbours)
    assert np.abs(first - second).sum() == sketch.sensitivity(neighbours).l1
    report = audit_sketch(sketch, Budget(1, 0, neighbours), runs=20_000, level=1 - 1e-8)
    assert report.passed and report.epsilon_lower > 0.3


@given(st.lists(one_set, min_size=1, max_size=8), st.integers(1, 12), seeds)
def test_long_sets_keep_their_least_items_whatever_their_order(lists, longest, seed):
    sets = keyed(lists)
    kept = shortened(sets, longest, seed)
    for before, after, again in zip(
        lists, kept, shortened(keyed([one[::-1] * 2 for one in lists]), longest, seed), strict=True
    ):
        assert set(after.tolist()) <= set(before) and set(after.tolist()) == set(again.tolist())
        assert len(set(after.tolist())) == min(longest, len(set(before)))
    # What is kept of two sets together is what is kept of both parts, as every item has one number for all sets.
    union = shortened(keyed([[key for one in lists for key in one]]), longest, seed)
    together = shortened(keyed([[int(key) for one in kept for key in one]]), longest, seed)
    assert set(union.elements.tolist()) == set(together.elements.tolist())


@pytest.mark.thorough
def test_which_items_of_a_long_set_are_kept_is_even():
    """Over 4,000 seeds, or 1,000, each of 8 items is among 2 kept a quarter of the time; 7 deviations: 1e-11."""
    seeds = draws(1000, 4000)
    kept = np.concatenate([shortened(keyed([list(range(8))]), 2, seed).elements for seed in range(seeds)])
    shares = np.bincount(kept.astype(int), minlength=8) / seeds
    assert (np.abs(shares - 0.25) < 7 * np.sqrt(0.25 * 0.75 / seeds)).all()


@pytest.mark.few(2)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [16, 1 << 14])
def test_answers_are_unbiased_for_short_and_long_sets(scheme, width):
    """Mean over 60 seeds within 7 of its own standard errors: false alarm below 1e-7 (t, 59 degrees, 24 means)."""
    sets = random_sets(400, 300, 900, 7)
    queries = Sets.of([[0], [1, 2], list(range(10)), list(range(60)), list(range(0, 800, 2)), [10**9]])
    exact = kernels.Jaccard().sums(queries, sets)
    answers = []
    for seed in range(60):
        sketch = MinHash(DOMAIN, rows=48, width=width, scheme=scheme, seed=seed)
        estimates, weights = sketch.group_estimates(poured(sketch, sets), len(sets), queries)
        answers.append(weights @ estimates)
    error = np.std(answers, axis=0, ddof=1) / np.sqrt(len(answers))
    assert (np.abs(np.mean(answers, axis=0) - exact) < 7 * error + 1e-4).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shared, own", [(1, 1), (3, 2), (60, 40), (400, 400)])
def test_two_sets_collide_with_their_similarity_in_rows_that_are_as_good_as_independent(scheme, shared, own):
    """The share of rows where two sets share a column, over 300 fixed seeds of 64 rows.

    Its mean is the similarity, and its variance that of independent rows, or less where throws spread the items evenly.
    Copied rows, as of densification, would have twice that and more where sets are short.
    """
    similarity = shared / (shared + 2 * own)
    width = 1 << 30
    shares = []
    for seed in range(300):
        sketch = MinHash(DOMAIN, rows=64, width=1 << 20, scheme=scheme, seed=seed, groups=2)
        pair = keyed([list(range(shared + own)), [*range(shared), *range(10_000, 10_000 + own)]])
        counters = filled_columns(sketch, pair)
        shares.append(np.mean(counters[0] == counters[1]))
    law = similarity * (1 - similarity) / 64
    assert abs(np.mean(shares) - similarity) < 7 * np.sqrt(law / 300) + 1 / width + 2e-6
    assert np.var(shares) < 1.7 * law
    assert scheme != "classic" or np.var(shares) > 0.5 * law


def filled_columns(sketch: MinHash, pair: Sets) -> np.ndarray:
    """The columns of two sets, int (2, R), read off where a table of the row numbers is read."""
    from core.sketches.minhash import _arrays, _columns

    columns = np.empty((sketch.rows, len(pair)), np.uint32)
    words = np.empty(len(pair.elements), np.uint64)
    _columns(pair.first, pair.elements, 0, len(pair), _arrays(sketch.hashes, sketch.hashes.blocks), words, columns)
    return columns.T


@pytest.mark.deep
def test_intervals_cover_the_truth_as_often_as_they_say():
    """Coverage of nominal 95% intervals over 100 independent sketches.

    Queries of one sketch share its rows, so sketches are what counts: each has a mean coverage in [0, 1] with standard
    deviation below 0.12, so their mean is within 0.06 of its expectation but for 1e-6.
    """
    sets = random_sets(1500, 100, 1500, 4)
    queries = sets[:40]
    exact = kernels.Jaccard().sums(queries, sets)
    covered = []
    for seed in range(100):
        sketch = MinHash(DOMAIN, rows=200, width=1000, seed=seed)
        answers = sketch.answer(poured(sketch, sets), len(sets), queries, 0.0, 0.95)
        covered.append(np.mean((answers.low <= exact) & (exact <= answers.high)))
    assert 0.88 < np.mean(covered) < 0.995


def test_exact_sums_are_those_of_the_shortened_sets():
    sets = random_sets(200, 50, 100, 9)
    sketch = MinHash(DOMAIN, rows=8, longest=4, seed=2)
    short = shortened(sets, 4, 2)
    expected = kernels.Jaccard().evaluate(short[:9], short).sum(axis=1)
    np.testing.assert_allclose(sketch.exact(sets[:9], sets), expected)


@pytest.mark.thorough
def test_total_and_variances_are_those_of_the_noise():
    sketch = MinHash(DOMAIN, rows=60, width=200, seed=4)
    table = poured(sketch, random_sets(500, 20, 100, 1))
    assert sketch.total(table) == 500
    rng = np.random.default_rng(2)
    noisy = [table + rng.integers(-10, 11, table.shape) for _ in range(1000)]
    variance = (21**2 - 1) / 12
    assert np.var([sketch.total(t) for t in noisy]) == pytest.approx(sketch.total_variance(variance), rel=0.35)
    answers = [sketch.answer(t, 500, keyed([[1, 2]]), variance, 0.9).estimate[0] for t in noisy]
    assert np.var(answers) == pytest.approx(sketch.noise_variance(variance), rel=0.35)


def test_no_sets_are_nothing():
    sketch = MinHash(DOMAIN, rows=8, seed=1)
    assert not poured(sketch, keyed([])).any()
    assert sketch.group_estimates(sketch.zeros(), 1, keyed([]))[0].shape == (4, 0)


@settings(max_examples=draws(5, 10))
@given(schemes, st.one_of(st.none(), st.integers(1, 1000)), seeds)
def test_parameters_rebuild_the_sketch(scheme, longest, seed):
    sketch = MinHash(DOMAIN, rows=20, width=99, scheme=scheme, longest=longest, seed=seed)
    assert MinHash.from_parameters(DOMAIN, sketch.parameters()) == sketch


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 0},
        {"rows": None},
        {"rows": 2.5},
        {"rows": 10**9},
        {"width": 1},
        {"width": 2**40},
        {"rows": 10**6, "width": 10**6},
        {"seed": -1},
        {"seed": "0x1"},
        {"groups": 1},
        {"groups": None, "rows": 1},
        {"longest": 0},
        {"longest": "all"},
        {"scheme": "Classic"},
        {"scheme": ["classic"]},
        {"kernel": "jaccard"},
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(change):
    sketch = MinHash(DOMAIN, rows=10, seed=1)
    with pytest.raises(RequestError) as refusal:
        MinHash.from_parameters(DOMAIN, sketch.parameters() | change)
    assert str(refusal.value).count("\n") == 0


NUMBERS = Domain.of(x=(0, 1), y=(0, 1))


@pytest.mark.parametrize(
    "make",
    [
        lambda domain: Race(domain, kernels.Euclidean(1.0)),
        lambda domain: Features(domain, kernels.Gaussian(1.0)),
        lambda domain: Histogram(domain, kernels.Gaussian(1.0)),
        Distance,
        Moments,
        Directions,
        ProjectedDistance,
    ],
)
def test_mechanisms_of_points_refuse_sets_in_one_sentence(make):
    make(NUMBERS)
    with pytest.raises(RequestError, match="holds sets"):
        make(DOMAIN)


def test_sets_need_a_domain_of_sets_and_their_kernel_belongs_to_them():
    with pytest.raises(RequestError, match="records that are sets"):
        MinHash(NUMBERS)
    for kind in (Race, Features, Histogram):
        with pytest.raises(RequestError, match="compares sets"):
            kind(NUMBERS, kernels.Jaccard())


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_releases_are_written_read_and_merged(scheme, delta):
    """Parts of the sets, each released, and both files merged answer for all of them as well as the noise allows."""
    lists = [[f"item {key}" for key in one.tolist()] for one in random_sets(600, 12, 60, 3)]
    sketch = MinHash(DOMAIN, 64, 500, scheme=scheme, longest=8, seed=5)
    parts = [release(sketch, {"tags": part}, Budget(50, delta)) for part in (lists[:350], lists[350:])]
    read = [load(part.to_bytes()) for part in parts]
    assert [one.sketch for one in read] == [sketch, sketch]
    queries = [["item 0", "item 1"], lists[5]]
    for one, other in zip(parts, read, strict=True):
        np.testing.assert_array_equal(one.estimate(queries), other.estimate(queries))
    merged = read[0].merged(read[1])
    everything = poured(sketch, Sets.of(lists))
    truth, _ = sketch.group_estimates(everything, 600, Sets.of(queries))
    spread = np.sqrt(2 * sketch.noise_variance(parts[0].privacy.counter_variance))
    # Noise of both parts, and of the number of sets that the bias of shared columns is undone with.
    assert (np.abs(merged.estimate(queries) - truth.mean(axis=0)) < 7 * spread + 1).all()
    assert merged.records == pytest.approx(600, abs=7 * merged.records_error + 1)


def test_fresh_sketches_have_fresh_seeds():
    assert MinHash(DOMAIN).seed != MinHash(DOMAIN).seed


def test_the_slow_reference_knows_a_pinned_column():
    """Of fixed numbers for ever: a changed hash would read old files wrongly, however well reference and loop agree."""
    sketch = MinHash(DOMAIN, rows=4, width=1000, seed=7, groups=2)
    assert slow_columns(sketch, [1, 2, 3]) == [67, 866, 657, 184]
