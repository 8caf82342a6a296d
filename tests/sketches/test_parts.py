"""Several sketches as one: what a record adds, how far one person moves all of them at once, and the joint promise."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import (
    Budget,
    Categorical,
    Classes,
    Distance,
    Domain,
    Features,
    Items,
    MinHash,
    Moments,
    Numeric,
    PrivacyUnit,
    Race,
    RequestError,
    kernels,
)
from core.lab.published.mwem import MWEM
from core.privacy.accounting import epsilon_spent
from core.privacy.budget import Neighbours, Sensitivity
from core.privacy.calibration import largest_rho
from core.privacy.composition import Gaussian as GaussianNoise
from core.privacy.composition import PureParts, event_of, keeps_promise, pure_sum, total_rho
from core.privacy.integer_shifts import gaussian_delta, gaussian_tables_delta
from core.privacy.shared_promise import Wanted, calibrate_joint
from core.sketches import mechanism_audit as auditing
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.part import Part, words_for
from core.sketches.parts import MAX_PARTS, Parts
from core.sketches.plan import JointPlan, plan, plan_parts
from core.sketches.registry import sketch_from_parameters
from tests.depth import deep, draws

AGE, PAY, SEX = Numeric("age", 0, 100), Numeric("pay", 0, 9000), Categorical("sex", ("f", "m"))
PEOPLE = PrivacyUnit("person", 3)
PROMISES = [Budget(1), Budget(1, "1e-6")]
TABLE = pd.DataFrame(
    {
        "age": [0.0, 100.0, 0.0, 100.0, 40.0, np.nan, 50.0, 60.0, np.nan],
        "pay": [0.0, 9000.0, 9000.0, 0.0, 2000.0, 500.0, np.nan, 99999.0, np.nan],
        "sex": ["f", "m", "m", "f", "f", None, "m", "x", None],
    }
)
"""Ends, mixed ends, the inside, beyond the ends, and records that some parts or all of them leave out."""


def domain(*columns, **rules) -> Domain:
    return Domain(columns, **rules)


def sized(sketch):
    """With the size for a promise and a number of records; it does not matter which."""
    return sketch.sized_for(Budget(1), 1000)


def several(**rules) -> Parts:
    """Parts of different columns, shapes and noise: hashed, a grid in fixed point, vectors of sums, and classes."""
    both = domain(AGE, PAY, scale="box", **rules)
    return Parts.of(
        [
            Part(Race(both, kernels.Laplacian(0.3), rows=4, width=20, groups=2, seed=1), "race", noise=1.0),
            Part(sized(Distance(domain(PAY, **rules))), "how far", noise=3.7e5),
            Part(sized(Moments(both)), "moments", noise=2.5e4),
            Part(
                Classes(
                    domain(AGE, SEX, **rules),
                    "sex",
                    Race(domain(AGE, **rules), kernels.Laplacian(20.0), rows=4, width=9, groups=2, seed=2),
                ),
                "by sex",
                noise=0.5,
            ),
        ]
    )


def table_of(sketch, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    points = sketch.encode(pa.RecordBatch.from_pandas(frame, preserve_index=False))
    table = sketch.zeros()
    sketch.add(table, points)
    return table, sketch.count(points)


def test_the_table_is_that_of_each_part_by_itself():
    parts = several()
    whole, counts = table_of(parts, TABLE)
    for part, own, place in zip(parts.parts, parts.split(whole), parts.counted, strict=True):
        alone, count = table_of(part.sketch, TABLE)
        np.testing.assert_array_equal(own, alone)
        np.testing.assert_array_equal(parts.split_count(counts)[place], np.ravel(count))
    assert whole.shape == parts.shape and parts.counted == (0, 1, 0, 2)
    assert parts.records_in(counts) == 7  # pays that are there; ages and classes are fewer


def test_parts_of_the_same_columns_read_them_once(monkeypatch):
    read = []
    encode = Domain.encode
    monkeypatch.setattr(Domain, "encode", lambda *asked: read.append(asked) or encode(*asked))
    both = domain(AGE, PAY)
    Parts.of([sized(Distance(both))] * 3).encode(pa.RecordBatch.from_pandas(TABLE))
    assert len(read) == 1


def test_one_number_of_records_where_none_is_left_out():
    rules = {"missing": "refuse", "unit": PEOPLE}
    assert several(**rules).counted == (0, 0, 0, 1)
    assert several(missing="refuse").public_counts(Neighbours.REPLACE_ONE) == (True, False)
    assert not any(several(**rules).public_counts(Neighbours.REPLACE_ONE))
    assert not any(several(missing="refuse").public_counts(Neighbours.ADD_REMOVE))


def people(sketch: Parts) -> list[list[int]]:
    """Every choice of up to m rows that one person may have, none and the same one m times included."""
    rows = range(len(TABLE))
    if sketch.domain.unit.records == 1:
        return [[], *([row] for row in rows)]
    return [[], *([row] * sketch.domain.unit.records for row in rows), [0, 1, 2], [0, 3], [6, 5, 4], [1, 7, 1]]


@pytest.mark.few(3)
@pytest.mark.parametrize("budget", PROMISES, ids=["pure", "gaussian"])
@pytest.mark.parametrize("neighbours", Neighbours)
@pytest.mark.parametrize("unit", [PrivacyUnit(), PEOPLE], ids=["records", "people"])
def test_no_neighbours_lose_more_than_the_whole_promises(budget, neighbours, unit):
    """Every pair of neighbours that a person of these rows makes: the losses of all parts and counts, added up."""
    parts = several(unit=unit)
    budget = replace(budget, neighbours=neighbours)
    planned = plan_parts(parts, budget)
    made = [table_of(parts, TABLE.iloc[rows].reset_index(drop=True)) for rows in people(parts)]
    others = made[:1] if neighbours is Neighbours.ADD_REMOVE else made
    noises = [*planned.noises, *planned.count_noises]
    kinds = {True: GAUSSIAN, False: {"discrete_laplace", "rounded_l2"}}
    allowed = {
        kind: sum(cost(event) for event in planned.cost.events if isinstance(event, GaussianNoise) == kind)
        for kind in kinds
    }
    worst = dict.fromkeys(kinds, 0.0)
    for (one, counts), (other, others_counts) in product(made, others):
        moved = list(zip([*parts.split(one - other), *parts.split_count(counts - others_counts)], noises, strict=True))
        for kind, names in kinds.items():
            losses = [lost(*pair) for pair in moved if pair[1] is None or pair[1].distribution in names]
            worst[kind] = max(worst[kind], sum(losses))
    for kind in kinds:
        assert 0.3 * allowed[kind] <= worst[kind] <= allowed[kind] * (1 + 1e-12)
    assert keeps_promise(planned.cost.events, budget.epsilon, budget.delta)


GAUSSIAN = {"discrete_gaussian"}


def cost(event) -> float:
    """Of ρ where it is Gaussian, and else of ε."""
    return float(event.rho if isinstance(event, GaussianNoise) else event.epsilon * event.count)


def lost(moved: np.ndarray, noise) -> float:
    """What noise of a kind lets one pair of neighbours lose: of ε, or of ρ where it is Gaussian."""
    if noise is None:
        assert not moved.any(), "a number that is public"
        return 0.0
    flat = moved.reshape(-1).astype(float)
    if noise.distribution == "discrete_gaussian":
        return float((flat**2).sum() / (2 * noise.parameter))
    if noise.distribution == "rounded_l2":
        return float(np.linalg.norm(flat.reshape(-1, noise.block), axis=1).sum() / float(noise.parameter))
    return float(np.abs(flat).sum() / float(noise.parameter))


@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_whole_is_moved_as_it_says_without_noise_of_its_own(neighbours):
    for unit in (PrivacyUnit(), PEOPLE):
        parts = several(unit=unit)
        declared, made = parts.sensitivity(neighbours), [table_of(parts, TABLE.iloc[rows])[0] for rows in people(parts)]
        others = made[:1] if neighbours is Neighbours.ADD_REMOVE else made
        moved = [(one - other).astype(object) for one, other in product(made, others)]
        assert max(int(np.abs(one).sum()) for one in moved) <= declared.l1
        assert max(int((one * one).sum()) for one in moved) <= declared.l2_squared


TABLES = st.lists(
    st.builds(
        lambda moved, unit, ratio, only: Wanted(
            Sensitivity(moved, moved if unit else moved**2, unit_shifts=unit), ratio, only
        ),
        st.integers(1, 60),
        st.booleans(),
        st.floats(0.01, 100.0),
        st.sampled_from([False, False, False, True]),
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.thorough
@settings(max_examples=draws(20, 300), deadline=None)
@given(TABLES, st.integers(0, 3), st.fractions(Fraction(1, 20), 4, max_denominator=40), st.sampled_from([0, 1e-6]))
def test_the_joint_calibration_is_the_composition_of_its_parts(tables, counts, epsilon, delta):
    delta = Fraction(str(delta)) if delta else Fraction(0)
    numbers = [Sensitivity(1, 1, unit_shifts=True)] * counts
    joint = calibrate_joint(tables, numbers, Fraction(1, 50), epsilon, delta)
    moved = [*(table.sensitivity for table in tables), *numbers]
    events = [event_of(*pair) for pair in zip(moved, joint.scales, strict=True)]
    assert sum(joint.shares) == 1 and min(joint.shares) > 0
    pure = [event for event in events if isinstance(event, PureParts)]
    assert not (delta and any(table.gaussian_only for table in tables)) or len(pure) < len(events)
    spent, others = pure_sum(pure), [event for event in events if not isinstance(event, PureParts)]
    assert spent == epsilon if not others else spent < epsilon and delta > 0
    assert not others or gaussian_keeps(others, epsilon - spent, delta)
    assert keeps_promise(events, Fraction(epsilon), delta)
    # Deviations stand in the stated ratios, as nearly as shares of 512ths and whole-number noise can say them.
    found = [scale.variance**0.5 / table.ratio for scale, table in zip(joint.scales, tables, strict=False)]
    large = [
        one
        for one, share, scale in zip(found, joint.shares, joint.scales, strict=False)
        if share > 1 / 100 and scale.variance > 10  # a few parts of epsilon may be more than is needed
    ]
    assert not large or max(large) <= min(large) * (1.02 if len(pure) in (0, len(events)) else 1.6)


def gaussian_keeps(events, epsilon, delta) -> bool:
    """By one of the two bounds that are proven for Gaussian noise alone."""
    if total_rho(events) <= Fraction(largest_rho(float(epsilon), float(delta))):
        return True
    tables = [event.table for event in events]
    return None not in tables and gaussian_tables_delta(float(epsilon), tables) <= float(delta)


def test_the_joint_calibration_is_nearly_all_of_what_the_accountant_allows():
    """Composed as continuous Gaussian noise on one vector, the parts promise (ε, δ) and hardly more."""
    tables = [
        Wanted(Sensitivity(100, 100, unit_shifts=True), 1.0, True),
        Wanted(Sensitivity(20, 20, unit_shifts=True), 0.3, True),
    ]
    joint = calibrate_joint(tables, [], Fraction(1, 50), Fraction(1), Fraction(1, 10**6))
    moved = [(table.sensitivity, scale) for table, scale in zip(tables, joint.scales, strict=True)]
    squares = [one.l2_squared / float(scale.parameter) for one, scale in moved]
    assert gaussian_delta(1.0, sum(squares) ** 0.5) == pytest.approx(1e-6, rel=0.05)
    assert epsilon_spent([event_of(*pair) for pair in moved], 1e-6) == pytest.approx(1, abs=0.005)


def test_pure_and_gaussian_noise_of_one_promise_stand_in_the_ratio_that_was_asked_for():
    """By the noise that tables get, and not by a cruder bound on it: they were 8% apart."""
    tables = [Wanted(Sensitivity(1 << 32, 1 << 60), 24.0), Wanted(Sensitivity(1 << 28, 1 << 56), 1.0)]
    numbers = [Sensitivity(1, 1, unit_shifts=True)] * 3
    joint = calibrate_joint(tables, numbers, Fraction(1, 50), Fraction(1), Fraction(1, 10**6))
    kinds = {scale.distribution for scale in joint.scales}
    one, other = (scale.variance**0.5 / table.ratio for scale, table in zip(joint.scales, tables, strict=False))
    assert len(kinds) == 2 and one == pytest.approx(other, rel=0.01)


@pytest.mark.deep
def test_some_pure_and_some_gaussian_noise_is_less_where_tables_differ():
    """A table of which a person moves many counters beside two of few: no single kind of noise does as well."""
    tables = [
        Wanted(Sensitivity(1000, 1000, unit_shifts=True), 1.0),
        Wanted(Sensitivity(60, 3600), 0.8),
        Wanted(Sensitivity(3, 9), 0.08),
    ]
    delta = Fraction(1, 10**6)
    mixed = calibrate_joint(tables, [], Fraction(0), Fraction(1), delta)
    assert {scale.distribution for scale in mixed.scales} == {"discrete_gaussian", "discrete_laplace"}
    only = [replace(table, gaussian_only=True) for table in tables]
    for other in (
        calibrate_joint(tables, [], Fraction(0), Fraction(1)),
        calibrate_joint(only, [], 0, Fraction(1), delta),
    ):
        assert mixed.scales[0].variance < 0.8 * other.scales[0].variance
    slow = min(
        max(
            sum(table.pure_weight for table in tables[1:]) / paid,
            (tables[0].gaussian_weight / (2 * largest_rho(1 - paid, 1e-6))) ** 0.5,
        )
        for paid in np.linspace(0.005, 0.995, 199)
    )
    assert mixed.scales[0].variance ** 0.5 == pytest.approx(slow, rel=0.1)  # its own bound is sharper than ρ


def test_one_promise_needs_less_noise_than_one_each():
    race = Race(domain(AGE), kernels.Laplacian(20.0), rows=50, width=20, seed=1)
    parts = Parts.of([Part(race, name, noise=1.0) for name in "abcd"])
    together = plan_parts(parts, Budget(1, "1e-6")).noises[0].variance
    each = plan(race, Budget("0.25", "2.5e-7")).noise.variance
    assert together < 0.36 * each  # of the deviation less than 0.6


def test_a_part_alone_is_planned_as_it_is_without_parts():
    race = Race(domain(AGE), kernels.Laplacian(20.0), rows=50, width=20, seed=1)
    for budget in PROMISES:
        made = plan_parts(Parts.of([Part(race, noise=1.0)]), budget)
        assert made.noises[0].variance == pytest.approx(plan(race, budget).noise.variance / 0.98**2, rel=0.06)


@pytest.mark.thorough
@pytest.mark.parametrize("budget", [PROMISES[0], deep(PROMISES[1])], ids=["pure", "gaussian"])
def test_an_attack_finds_no_more_than_is_promised_and_finds_a_planted_fault(budget, monkeypatch):
    small = Race(domain(AGE), kernels.Laplacian(20.0), rows=2, width=6, groups=2, seed=1)
    parts = Parts.of(
        [Part(small, "a", noise=1.0), Part(sized(Moments(domain(PAY))), "b", noise=3e4), Part(small, "c", noise=1.0)]
    )
    runs, level = draws(3_000, 60_000), 1 - 1e-8
    report = audit_sketch(parts, replace(budget, epsilon=2), runs=runs, level=level)
    assert report.passed

    def each_gets_everything(sketch, budget):
        planned = plan_parts(sketch, budget)
        return JointPlan(
            tuple(plan(part.sketch, budget).noise for part in sketch.parts),
            planned.count_noises,
            planned.shares,
            planned.cost,
        )

    monkeypatch.setattr(auditing, "plan_parts", each_gets_everything)
    assert not audit_sketch(parts, replace(budget, epsilon=2), runs=4 * runs, level=level).passed


def test_parameters_and_names():
    parts = several(unit=PEOPLE, outside="clamp")
    written = json.loads(json.dumps(parts.parameters()))
    again = sketch_from_parameters("parts", parts.domain, written)
    assert again == parts and again.parameters() == parts.parameters()
    named = ["distance of age", "distance of age (2)", "distance of age (3)"]
    assert [part.name for part in Parts.of([Moments(domain(AGE))] * 3).parts] == named
    assert words_for(Classes(domain(AGE, SEX), "sex", Features(domain(AGE), kernels.Gaussian(9.0), 8))) == (
        "density of age by sex"
    )
    many = domain(*(Numeric(f"{letter} of a very long name", 0, 1) for letter in "abcdef"))
    assert words_for(Distance(many)) == "distance of a of a very long na…, b of a very long na… and 4 others"


def test_what_cannot_be_parts_of_one_release():
    race = Race(domain(AGE), kernels.Laplacian(20.0), rows=8, seed=1)
    wrong = {
        "one part": lambda: Parts.of([]),
        "name 'a'": lambda: Parts.of([Part(race, "a"), Part(race, "a")]),
        "declared differently": lambda: Parts.of([race, Moments(domain(Numeric("age", 0, 99)))]),
        "same people": lambda: Parts.of([race, Moments(domain(AGE, unit=PEOPLE))]),
        "alike": lambda: Parts.of([race, Moments(domain(AGE, missing="refuse"))]),
        "side by side": lambda: Part(Parts.of([race])),
        "linear sketch": lambda: Part(MWEM(domain(AGE), kernels.Gaussian(9.0))),
        "other columns": lambda: Parts.of([race, MinHash(Domain((Items("i"),)), rows=8)]),
        "around it": lambda: Part(race, " a"),
        "weight": lambda: Part(race, weight=0.0),
        "weight of": lambda: Part(race, weight=float("nan")),
        "not settled": lambda: plan_parts(Parts.of([race]), Budget(1)),
        "has the columns": lambda: Parts(domain(AGE, PAY), (Part(race),)),
        f"to {MAX_PARTS}": lambda: Parts.of([race] * (MAX_PARTS + 1)),
    }
    for words, made in wrong.items():
        with pytest.raises(RequestError, match=words):
            made()


def test_files_of_strangers_that_describe_no_parts():
    parts = several()
    written = parts.parameters()

    def changed(**facts):
        return {"members": [written["members"][0] | facts, *written["members"][1:]]}

    nested = {"mechanism": "parts", "parameters": written}
    for facts in (
        {"name": ""},
        {"name": 7},
        {"name": written["members"][1]["name"]},
        {"noise": None},
        {"noise": -1.0},
        {"noise": "1"},
        {"columns": []},
        {"columns": ["age", "nobody"]},
        {"columns": ["age", "age"]},
        {"columns": "age"},
        {"columns": [["age"]]},
        {"scale": "log"},
        {"category_distance": 0},
        {"mechanism": "mst"},
        {"mechanism": None},
        nested,
        {"more": 1},
    ):
        with pytest.raises(RequestError):
            sketch_from_parameters("parts", parts.domain, changed(**facts))
    for members in ([], None, {}, [1], [written["members"][0]] * 2):
        with pytest.raises(RequestError):
            sketch_from_parameters("parts", parts.domain, {"members": members})
