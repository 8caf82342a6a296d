"""Pairs chosen under noise: the right ones, at the price that was paid, and never a table that moves further."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from core.domain import Categorical, Domain, Numeric, PrivacyUnit
from core.errors import BudgetError, RequestError
from core.figures.report.label import privacy_label
from core.figures.report.meaning import choice
from core.privacy.budget import Budget
from core.privacy.choosing.private_bounds import Grid
from core.privacy.ledger.ledger import Ledger
from core.privacy.neighbours import Neighbours
from core.privacy.noise.randomness import SeededSource
from core.privacy.zcdp import largest_rho
from core.releases.bounds_and_centre import BoundsPurchase, private_bounds
from core.releases.job import release
from core.releases.release import load
from core.sketches.adaptive import SCALE, pair_score, score_sensitivity
from core.sketches.mechanism_audit import audit_adaptive
from core.sketches.mechanism_spec import PublicInputs
from core.sketches.registry import card
from core.sketches.tables.chosen import CHOICES_SHARE, ChosenTables, _exact_counts
from core.sketches.tables.table_axes import METRIC
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
    before = mechanism._scores(_exact_counts(mechanism.first, crowd).counted, released, noise)
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
            scores = mechanism._scores(_exact_counts(mechanism.first, counts).counted, released, noise)
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


def test_seeded_noise_repeats_itself():
    one, other = (release(small(), _rows(), Budget(1, "1e-6"), noise_source=SeededSource(4)) for _ in range(2))
    np.testing.assert_array_equal(one.counters, other.counters)


def _rows() -> dict:
    random = np.random.default_rng(5)
    rows = {"x": random.uniform(0, 8, 300), "c": random.choice(list("uvw"), 300)}
    return rows | {"y": random.uniform(-1, 1, 300), "d": random.choice(list("pq"), 300)}


def test_what_cannot_be_chosen_is_refused():
    with pytest.raises(RequestError, match="with a delta alone"):
        release(ChosenTables(MIXED), _rows(), Budget(1))
    with pytest.raises(RequestError, match="three columns or more"):
        ChosenTables(Domain.of(x=(0, 1), y=(0, 1)))
    with pytest.raises(RequestError, match="there are 6 pairs"):
        ChosenTables(MIXED, pairs=7)
    with pytest.raises(RequestError, match="none are left to choose"):
        card("tables").make(PublicInputs(MIXED, Budget(1, "1e-6"), tables="chosen", by=("c",)))
    assert card("tables").make(PublicInputs(MIXED, Budget(1, "1e-6"), tables="chosen", size=5)).bins == (5, 5)
