"""Pairs chosen under noise: the right ones, at the price that was paid, and never a table that moves further."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from core.domain import Categorical, Domain, Numeric, PrivacyUnit
from core.errors import BudgetError, RequestError
from core.figures.label import privacy_label
from core.figures.meaning import choice
from core.privacy.accounting import Cost
from core.privacy.budget import Budget, Neighbours, Sensitivity
from core.privacy.calibration import calibrate, largest_rho
from core.privacy.choosing.private_bounds import Grid
from core.privacy.ledger.ledger import Ledger
from core.privacy.noise.randomness import SeededSource
from core.releases.bounds_and_centre import BoundsPurchase, private_bounds
from core.releases.job import release
from core.releases.release import load
from core.releases.seal import showing
from core.releases.stages import Known
from core.sketches.adaptive import SCALE, pair_score, score_sensitivity
from core.sketches.mechanism_audit import audit_adaptive
from core.sketches.mechanism_spec import PublicInputs
from core.sketches.registry import card
from core.sketches.tables.chosen import ChosenTables
from core.sketches.tables.pair_ways import (
    CHOICES_SHARE,
    OF_PURE,
    Way,
    errors,
    exact_counts,
    left_out,
    moved_by_a_person,
)
from core.sketches.tables.pair_ways import SCALE as SCALE_OF_WAYS
from core.sketches.tables.table_axes import METRIC
from core.sketches.tables.table_filling import Counting
from core.sketches.tables.tables import Tables
from core.sources import open_source
from tests.sketches.checking import poured

COLUMNS = 8
PEOPLE = 1_500
GRID = Domain(tuple(Numeric(f"x{place}", -3, 3) for place in range(COLUMNS)))
TWINS = {(place, place + COLUMNS // 2) for place in range(COLUMNS // 2)}
MIXED = Domain(
    (Numeric("x", 0, 8), Categorical("c", ("u", "v", "w")), Numeric("y", -1, 1), Categorical("d", ("p", "q")))
)
OWNED = Domain(MIXED.columns, unit=PrivacyUnit("id", 3))
PROMISES = [Budget(1, "1e-6"), Budget("0.3", "1e-9", "replace_one")]


def crowd() -> pd.DataFrame:
    """Every column has a twin, four places on, and hangs together with no other."""
    random = np.random.default_rng(2)
    middle = random.normal(size=(PEOPLE, COLUMNS // 2))
    noise = random.normal(size=(PEOPLE, COLUMNS))
    return pd.DataFrame(
        {f"x{place}": middle[:, place % (COLUMNS // 2)] + 0.4 * noise[:, place] for place in range(COLUMNS)}
    )


def small(domain: Domain = MIXED, pairs: int = 2) -> ChosenTables:
    return ChosenTables(domain, (4, 3), (2, 0), pairs)


def random_points(number: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    rows = {"x": random.uniform(0, 8, number), "c": random.choice(list("uvw"), number)}
    rows |= {"y": random.uniform(-1, 1, number), "d": random.choice(list("pq"), number)}
    return MIXED.encode_queries(rows, METRIC)


def test_those_that_hang_together_are_chosen_and_their_counts_are_right(tmp_path):
    """At ε = 4 a twin is chosen before a stranger with all but a chance of 1e-9; public sizes would take the first."""
    made = release(ChosenTables(GRID, (4,) * COLUMNS, (0,) * COLUMNS, 4), crowd(), Budget(4, "1e-6"))
    assert set(made.sketch.tables) == TWINS
    made.save(tmp_path / "r.npz")
    again = load(tmp_path / "r.npz")
    assert again == made and choice(again).what == "Which pairs of columns are counted"
    exact = made.sketch.reading(
        poured(made.sketch, GRID.encode_queries(crowd().clip(-3, 3), METRIC)), 0.0, None, np.inf
    )
    for pair in TWINS:
        told = made.table(*(f"x{place}" for place in pair))
        off = (told["estimate"].to_numpy() - exact.counts(pair).reshape(-1)) / told["standard_error"].to_numpy()
        assert (off**2).mean() < 5  # of 16 cells: above it once in 1e8


@pytest.mark.thorough
def test_where_all_pairs_can_be_seen_or_none_nothing_is_chosen():
    open_ = ChosenTables(GRID)
    assert open_.sized_for(Budget(1, "1e-9"), 1e6) == Tables.of(GRID).sized_for(Budget(1, "1e-9"), 1e6)
    assert isinstance(open_.sized_for(Budget(1, "1e-9"), 20), Tables)
    some = open_.sized_for(Budget(1, "1e-9"), 270)
    assert isinstance(some, ChosenTables) and 0 < some.pairs < 28


def test_only_a_private_choice_is_said_to_be_one():
    """A release made like a chosen one, or with bounds that were bought, has spent nothing on a choice."""
    budget = Budget(1, "1e-6")
    chosen = release(small(), _rows(), budget)
    assert choice(chosen) is not None and choice(release(chosen.sketch, _rows(), budget)) is None
    one = Sensitivity(1, 1)
    known = Known.having_paid(budget, [Cost.of([(one, calibrate(one, Fraction(1)))], Decimal(1))])
    for made, chose in ((chosen, True), (release(chosen.sketch, _rows(), budget), False)):
        shown = load(showing(made, known).to_bytes())  # as where it was counted first how many records fit
        assert shown.privacy.epsilon == 2 and (choice(shown) is not None) == chose
        merged = load(shown.merged(release(chosen.sketch, _rows(), Budget(2, "1e-6"))).to_bytes())
        assert (choice(merged) is not None) == chose
    assert choice(replace(chosen, chose=None)) is not None  # files that do not say it
    bounds = BoundsPurchase({"x": Grid(-100, 100)})
    plain = release(Tables.of(MIXED, 4), _rows(), budget, bounds=bounds)
    assert choice(plain) is None and "choosing" not in plain.sketch.parameters()


def test_bounds_are_bought_before_pairs_are_chosen_and_both_are_within_the_total(tmp_path):
    """In one release they are refused before anything is spent; one after the other, their entries make the total."""
    bought, rest, ledger = Budget("0.2"), Budget("0.7", "1e-6"), Ledger(tmp_path / "ledger.sqlite")
    ledger.register("people", 1, "1e-6")
    grids, paid = {"x": Grid(-100, 100)}, {"ledger": ledger, "dataset": "people"}
    with pytest.raises(RequestError, match="bounds before it, by themselves"):
        release(small(), _rows(), rest, bounds=BoundsPurchase(grids), **paid)
    assert not ledger.status("people").releases
    source = open_source(_rows())
    found = private_bounds(source, grids, bought, spend=lambda cost: ledger.spend("people", cost))["x"]
    domain = Domain((Numeric("x", found.low, found.high), *MIXED.columns[1:]))
    made = release(small(domain), source, rest, **paid)
    first, second = (entry.cost for entry in ledger.status("people").releases)
    assert (first.epsilon, second.epsilon, second.delta) == (bought.epsilon, rest.epsilon, rest.delta)
    assert rest.epsilon < ledger.status("people").spent <= 1
    assert second.events == small(domain).plan(rest).cost.events
    with pytest.raises(BudgetError):
        release(small(), _rows(), Budget("0.5", "1e-6"), **paid)
    again = load(made.to_bytes())
    assert again.privacy == made.privacy and (made.privacy.epsilon, made.privacy.delta) == (rest.epsilon, rest.delta)
    assert choice(again) is not None and "0.7" in privacy_label(again).promise


@pytest.mark.parametrize("budget", PROMISES, ids=str)
@pytest.mark.parametrize("domain", [MIXED, OWNED], ids=["one record", "three"])
def test_choices_and_counters_cost_what_was_paid(domain, budget):
    """In exact fractions: K choices of ε²/8 each, and T over 2σ²."""
    mechanism = small(domain)
    planned = mechanism.plan(budget)
    rho = Fraction(largest_rho(float(budget.epsilon), float(budget.delta)))
    choices = sum(price**2 for price in planned.choices) / 8
    moved = Fraction(mechanism._capacity(budget.neighbours)) / (2 * planned.noises[0].parameter)
    assert len(planned.choices) == 2 and choices <= rho * CHOICES_SHARE
    assert moved <= rho * (1 - CHOICES_SHARE) and planned.cost.rho <= rho
    assert choices + moved > Fraction(999, 1000) * rho


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("domain", [MIXED, OWNED], ids=["one record", "three"])
def test_whatever_is_chosen_moves_no_further_than_was_paid_for(domain, relation):
    """All pairs of pairs; and the stated length is reached, but for the rounding of weights."""
    mechanism = small(domain)
    most = mechanism._capacity(relation)
    for pairs in combinations(combinations(range(4), 2), 2):
        made = mechanism._released(list(pairs), relation)
        assert 0.98 * most < made.sensitivity(relation).l2_squared <= most
        assert {table for table in made.tables if len(table) == 2} == set(pairs)


@pytest.mark.parametrize("relation", list(Neighbours))
def test_no_neighbour_moves_the_released_table_or_a_score_further(relation):
    """Searched: 60 records or pairs of them, against every set of two pairs; and the scores of all pairs at once."""
    mechanism = small()
    most, points = mechanism._capacity(relation), random_points(60, 1)
    added = [poured(mechanism.first, points[[row]]) for row in range(60)]
    crowd = poured(mechanism.first, random_points(50, 2))
    noise = mechanism.plan(Budget(1, "1e-6", relation)).noises[0]
    released = {
        (block.columns, block.level): np.random.default_rng(0).integers(-500, 500, block.place.stop - block.place.start)
        for block in mechanism._every.layout.blocks
        if len(block.columns) < 2
    }
    before = mechanism._scores(exact_counts(mechanism.first, crowd).counted, released, noise)
    for place, pairs in enumerate(combinations(combinations(range(4), 2), 2)):
        made = mechanism._released(list(pairs), relation)
        for row in range(place, 60, 15):
            other = (row + 7) % 60
            moved = poured(made, points[[row]])
            counts = crowd + added[row]
            if relation is Neighbours.REPLACE_ONE:
                moved = moved - poured(made, points[[other]])
                counts = counts - added[other]
            assert sum(int(value) ** 2 for value in moved) <= most
            scores = mechanism._scores(exact_counts(mechanism.first, counts).counted, released, noise)
            assert np.abs(scores - before).max() <= score_sensitivity(relation, 1)


@pytest.mark.parametrize("records", [1, 3])
def test_a_person_moves_a_score_as_far_as_is_declared(records):
    """From a cell that holds more than expected to one that holds less, or out of the latter."""
    expected, counts = np.array([0, 100 * SCALE, 50 * SCALE]), np.array([50, 50, 50])
    there = pair_score(counts, expected)
    for relation, moved in ((Neighbours.ADD_REMOVE, (0, 0, 0)), (Neighbours.REPLACE_ONE, (0, -records, 0))):
        other = pair_score(counts + np.array([records, 0, 0]) + np.array(moved), expected)
        assert other - there == score_sensitivity(relation, records)


class Cheap(ChosenTables):
    """Says what a small promise costs, and spends a large one."""

    def plan(self, budget):
        return super().plan(Budget(40, "1e-6", budget.neighbours))


@pytest.mark.deep
@pytest.mark.parametrize("relation", list(Neighbours))
def test_an_attack_finds_what_was_broken_and_nothing_else(relation):
    for kind, passed in ((ChosenTables, True), (Cheap, False)):
        mechanism = kind(MIXED, (4, 3), (2, 0), 1)
        assert audit_adaptive(mechanism, Budget(1, "1e-6", relation), runs=600, level=1 - 1e-8).passed == passed
    asked = ChosenTables(MIXED, (4, 3), (2, 0), ways=((0, 9, 0), (3, 9, 20), (6, 30, 90)))
    for mechanism in (small(pairs=1), asked):
        assert audit_adaptive(mechanism, Budget(1, 0, relation), runs=600, level=1 - 1e-8).passed


def test_seeded_noise_repeats_itself():
    one, other = (release(small(), _rows(), Budget(1, "1e-6"), noise_source=SeededSource(4)) for _ in range(2))
    np.testing.assert_array_equal(one.counters, other.counters)


def _rows() -> dict:
    random = np.random.default_rng(5)
    rows = {"x": random.uniform(0, 8, 300), "c": random.choice(list("uvw"), 300)}
    return rows | {"y": random.uniform(-1, 1, 300), "d": random.choice(list("pq"), 300)}


TREE = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]
LETTERS = Domain(tuple(Categorical(f"c{place}", tuple("stuv")) for place in range(6)))


def grown(people: int, alike: float) -> pd.DataFrame:
    """Every column of a tree says what the one before it says, with this probability, and else anything."""
    random = np.random.default_rng(3)
    cells = random.integers(0, 4, (6, people))
    for before, after in TREE:
        cells[after] = np.where(random.random(people) < alike, cells[before], cells[after])
    return pd.DataFrame({f"c{place}": np.array(list("stuv"))[row] for place, row in enumerate(cells)})


def test_under_a_pure_promise_a_tree_is_counted_where_columns_hang_together_along_one():
    """At ε = 10 and 20,000 people another way, or pair, has a chance below 1e-9."""
    asked = ChosenTables(LETTERS, (), (), ways=((0, 0, 0), (5, 3_000, 9_000), (15, 30_000, 30_000)))
    made, alone = (release(asked, grown(20_000, alike), Budget(10)) for alike in (0.9, 0.0))
    assert set(made.sketch.pairs) == set(TREE) and made.sketch.measured == "margins"
    assert alone.sketch.pairs == [] and alone.sketch.measured == "cells"
    assert load(made.to_bytes()) == made and choice(made) is not None and choice(alone) is not None
    told = made.guessed().table("c3", "c5")["estimate"].to_numpy()  # measured nowhere, joined by 1, 0 and 2
    exact = grown(20_000, 0.9).groupby(["c3", "c5"]).size().to_numpy()
    assert np.abs(told - exact).sum() < 0.1 * 20_000


def test_under_a_delta_too_pairs_join_all_columns_before_any_goes_round():
    """Three columns that say the same had three pairs, two of which say all, and others none."""
    random = np.random.default_rng(5)
    same, other = random.integers(0, 4, (2, 20_000))
    half = np.where(random.random(20_000) < 0.4, other, random.integers(0, 4, 20_000))
    cells = [same, same, same, other, half, np.where(random.random(20_000) < 0.3, same, half)]
    rows = pd.DataFrame({f"c{place}": np.array(list("stuv"))[own] for place, own in enumerate(cells)})
    made = release(ChosenTables(LETTERS, (), (), pairs=5), rows, Budget(10, "1e-6"), records=20_000)
    joined = list(range(6))
    for one, two in made.sketch.pairs:
        joined = [joined[one] if part == joined[two] else part for part in joined]
    assert len(set(joined)) == 1  # five pairs that leave nothing out are a tree, whichever they are


def test_few_records_are_asked_where_a_tree_would_be_seen_and_all_pairs_drown():
    """They were not, and of eight columns along a tree pairs were guessed from single columns, twice as far off."""
    known = {count: [Categorical(name, tuple("uvwxyz"[:count])) for name in "abcdefghijklmnop"] for count in (2, 6)}
    asked = [
        ChosenTables(Domain(tuple(known[cells][:columns]))).sized_for(Budget("0.1"), 10_000)
        for cells, columns in ((6, 8), (6, 16), (2, 8))
    ]
    assert [isinstance(one, ChosenTables) and one.price == 10 for one in asked] == [True, False, False]
    random = np.random.default_rng(4)
    cells = [random.integers(0, 6, 10_000)]
    for _ in range(7):
        cells.append(np.where(random.random(10_000) < 0.75, cells[-1], random.integers(0, 6, 10_000)))
    rows = pd.DataFrame({name: np.array(list("uvwxyz"))[own] for name, own in zip("abcdefgh", cells, strict=True)})
    # Of a release in fifty none is counted: false alarms below 1e-6.
    made = [release(ChosenTables(Domain(tuple(known[6][:8]))), rows, Budget("0.1"), records=10_000) for _ in range(5)]
    assert any(made_one.sketch.pairs for made_one in made)


def test_where_records_are_few_no_promise_is_spent_on_asking_them():
    open_ = ChosenTables(LETTERS)
    assert open_.sized_for(Budget("0.1"), 500) == Tables.of(LETTERS).sized_for(Budget("0.1"), 500)
    assert open_.sized_for(Budget(1), 20_000).ways[0][0] == 0


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("domain", [MIXED, OWNED], ids=["one record", "three"])
def test_a_pure_choice_and_its_counters_cost_what_was_paid(domain, relation):
    """The question, the choices and the counters of every way are within ε, whichever pairs are chosen."""
    budget = Budget(1, 0, relation)
    few = ChosenTables(domain, (4, 3), (2, 0), 2)
    planned = few.plan(budget)
    assert planned.cost.epsilon == 1 and sum(event.epsilon * event.count for event in planned.cost.events) <= 1
    for pairs in combinations(combinations(range(4), 2), 2):
        made = few._purely._counted(list(pairs))
        moved = made.sensitivity(relation).l1 / planned.noises[0].parameter
        assert 0.999 < sum(planned.choices) + moved <= 1
    asked = replace(few, pairs=None, ways=((0, 9, 0), (3, 9, 20), (6, 30, 90)))
    planned, asking = asked.plan(budget), Fraction(asked.price, 100)
    for (pairs, *_), noise in zip(asked.ways, planned.noises, strict=True):
        made = asked._purely._counted(list(combinations(range(4), 2))[:pairs])
        chosen = OF_PURE * (1 - asking) if pairs == 3 else 0
        assert asking + chosen + made.sensitivity(relation).l1 / noise.parameter <= 1


@pytest.mark.parametrize("relation", list(Neighbours))
def test_a_record_moves_the_error_of_a_way_no_further_than_is_declared(relation):
    """Searched among concentrated crowds, where a quarter of what is proven of a distance is passed."""
    random, sides, tables = np.random.default_rng(1), (2, 3, 2), list(combinations(range(3), 2))
    moved = moved_by_a_person(relation, 1, sides)
    worst = 0
    for _ in range(150):
        crowd = random.integers(0, sides, (random.integers(1, 40), 3)) * (random.random((1, 3)) < 0.7)
        record, other = random.integers(0, sides, (2, 3))
        neighbour = np.vstack([crowd, record])
        if relation is Neighbours.REPLACE_ONE:
            crowd = np.vstack([crowd, other])
        counted = [Counting.of(tables, sides).count(rows.T.astype(np.uint16)) for rows in (crowd, neighbour)]
        lost = [left_out(one, tables, sides, (0, 2, 3)) for one in counted]
        worst = max(worst, int(np.abs(lost[0] - lost[1]).max()))
        ways = [Way(0, 1, 0), Way(2, 3, 40), Way(3, 5, 100)]
        before, after = (errors(ways, one.tolist(), 3) for one in lost)
        assert np.abs(before - after).max() <= moved
    assert SCALE_OF_WAYS < worst <= moved * 4 // 9


def test_what_ways_leave_out_is_what_its_definition_says():
    """Slow and obvious, in fractions; no distance is off by more than one unit a cell."""
    random, sides, tables = np.random.default_rng(4), (2, 4, 3), list(combinations(range(3), 2))
    rows = random.integers(0, sides, (200, 3))
    counts = {(a, c): np.zeros((sides[a], sides[c])) for a in range(3) for c in range(3) if a != c}
    for row in rows:
        for a, c in counts:
            counts[a, c][row[a], row[c]] += 1

    def apart(a: int, c: int, b: int | None) -> float:
        if b is None:
            said = np.outer(counts[a, c].sum(axis=1), counts[a, c].sum(axis=0)) / 200
        else:
            said = sum(
                np.outer(counts[a, b][:, j], counts[b, c][j]) / counts[a, b][:, j].sum() for j in range(sides[b])
            )
        return float(np.abs(counts[a, c] - said).sum())

    alone = [apart(a, c, None) for a, c in tables]
    least = sorted(min(apart(a, c, None), apart(a, c, 3 - a - c)) for a, c in tables)
    found = left_out(Counting.of(tables, sides).count(rows.T.astype(np.uint16)), tables, sides, (0, 2, 3))
    np.testing.assert_allclose(found / SCALE_OF_WAYS, [np.mean(alone), least[0] / 3, 0], atol=12 / SCALE_OF_WAYS)


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(RequestError, match="three columns or more"):
        ChosenTables(Domain.of(x=(0, 1), y=(0, 1)))
    with pytest.raises(RequestError, match="there are 6 pairs"):
        ChosenTables(MIXED, pairs=7)
    with pytest.raises(RequestError, match="none are left to choose"):
        card("tables").make(PublicInputs(MIXED, Budget(1, "1e-6"), tables="chosen", by=("c",)))
    assert card("tables").make(PublicInputs(MIXED, Budget(1, "1e-6"), tables="chosen", size=5)).bins == (5, 5)
