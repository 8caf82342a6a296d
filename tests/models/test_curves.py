"""Curves and waves: no longer than straight lines are, a function of one record each, stored, read, asked alike."""

import json

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, Ledger, RequestError, load_model, train
from core.domain import Numeric
from core.figures.model_figures import coefficients_in_words, curves_figure, curves_in_words
from core.models.bending import curved, frequencies, knots, mean_waves, tents, wave, waved
from core.models.centred import evenly
from core.models.linear_models import LinearModel, NumberModel
from core.models.model_file import BITS
from core.models.noise_bands import Trace
from core.models.training import METHODS, NUMBER_METHODS, offers, trainer_of, training_plan
from core.models.training_task import MOST_HALVINGS, Task
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.depth import deep, draws

PLANE = Domain.of(x=(-4.0, 4.0), y=(0.0, 8.0), town=["Basel", "Bern"], kind=["no", "yes"])
GROWTH = Domain.of(x=(-4.0, 4.0), y=(0.0, 8.0), z=(0.0, 10.0))
DELTA = Budget(1, "1e-6")


def valley(count: int, seed: int = 0) -> dict[str, object]:
    """A class by how far x is from 0, which no straight line tells."""
    random = np.random.default_rng(seed)
    x, y = random.uniform(-4, 4, (2, count))
    kind = np.where(np.abs(x) + random.normal(0, 0.3, count) > 2, "yes", "no")
    return {"x": x, "y": y + 4, "town": random.choice(["Basel", "Bern"], count), "kind": kind}


@pytest.mark.parametrize("halvings", range(1, MOST_HALVINGS + 1))
def test_a_number_with_its_tents_is_never_longer_than_in_the_corner_of_its_bounds(halvings):
    numbers = np.concatenate([knots(halvings + 1), np.random.default_rng(0).uniform(-1, 1, 10_000)])
    squares = (curved(numbers, halvings) ** 2).sum(axis=1)
    assert squares.max() <= 1 + 1e-12 and squares[np.abs(numbers) == 1].min() == 1.0
    top, _, heights = tents(halvings)
    assert np.abs(curved(top, halvings)[:, 1:].diagonal() - heights).max() == 0.0
    assert (
        np.linalg.matrix_rank(np.column_stack((np.ones(len(knots(halvings))), curved(knots(halvings), halvings))))
        == (1 << halvings) + 1
    )  # every line with these knots


@pytest.mark.parametrize("radius", [None, 0.7])
def test_records_with_curves_are_within_the_radius_that_sensitivities_are_proved_from(radius):
    task, unit = Task(PLANE, "kind", radius, curves=4), 1 << 13
    assert task.radius == Task(PLANE, "kind", radius).radius
    corners = {"x": [-4.0, 4.0, 0.0, 9.0], "y": [8.0, 0.0, 4.0, -9.0], "town": ["Bern"] * 4, "kind": ["no"] * 4}
    for frame in (corners, valley(2_000)):
        units, _ = task.gather(open_source(frame), unit)
        assert units.shape[1] == task.width + 1 == 2 * 16 + 2 + 1
        assert int((units**2).sum(axis=1).max()) <= task.longest(unit)
    whole, _ = task.gather(open_source(valley(300)), unit)
    alone, _ = task.gather(open_source({name: values[7:8] for name, values in valley(300).items()}), unit)
    assert (whole[7] == alone[0]).all()  # bit for bit, whoever is beside it


@pytest.mark.thorough
def test_the_file_of_a_straight_model_is_as_it_was_and_that_of_a_curved_one_is_read_back():
    straight, bent = (
        train(valley(500), "kind", PLANE, DELTA, "descent", curves=halvings, records=500) for halvings in (0, 3)
    )
    assert "curves" not in json.loads(straight.to_bytes())["task"] and straight.task.curves == 0
    again = load_model(bent.to_bytes())
    assert again.task.curves == 3 and again.to_dict() == bent.to_dict()
    with pytest.raises(RequestError, match="a coefficient for every coordinate"):
        LinearModel.from_dict(bent.to_dict() | {"task": bent.to_dict()["task"] | {"curves": 2}})
    with pytest.raises(RequestError, match="halves the bounds"):
        Task(PLANE, "kind", curves=MOST_HALVINGS + 1)


def test_knots_in_the_table_of_coefficients_say_every_score():
    model = trainer_of("descent", PLANE, "kind", curves=2).fit(
        open_source(valley(800)), DELTA, noise_source=SeededSource(1)
    )
    table, asked = model.coefficients(), valley(50, 3)
    scores = np.full(50, table["yes"].iloc[0])
    for name in ("x", "y"):
        rows = table[table.column == name]
        assert abs(rows["yes"].sum()) < 1e-9  # each curve is told from its mean
        scores += np.interp(asked[name], rows.category.astype(float), rows["yes"])
    towns = table[table.column == "town"].set_index("category")["yes"]
    scores += towns[asked["town"]].to_numpy()
    # Numbers are rounded to 2^-15 of their bounds before they bend.
    assert scores == pytest.approx(model.decision(pd.DataFrame(asked).drop(columns="kind"))[:, 0], abs=2e-2)


@pytest.mark.deep
def test_a_valley_is_learnt_by_what_auto_takes_and_by_no_straight_line():
    count, asked = 8_000, valley(2_000, 9)
    right = {}
    for curves in (None, 0):
        plan = training_plan(PLANE, "kind", DELTA, records=count, curves=curves)
        trainer = plan.ordinary(plan.known).trainer
        model = trainer.fit(open_source(valley(count)), DELTA, noise_source=SeededSource(2))
        told = np.array(PLANE.categories_of("kind"))[model.codes(pd.DataFrame(asked).drop(columns="kind"))]
        right[curves] = np.mean(told == asked["kind"])
    assert right[None] > 0.9 > 0.65 > right[0]


def test_a_growing_curve_of_a_number_is_learnt():
    random = np.random.default_rng(4)
    x, y = random.uniform(-4, 4, (2, 6_000))
    frame = {"x": x, "y": y + 4, "z": np.clip(x**2 / 2 + random.normal(0, 0.5, 6_000), 0, 10)}
    errors = {}
    for curves in (0, 3):
        made = trainer_of("boosted", GROWTH, "z", curves=curves).fit(
            open_source(frame), DELTA, noise_source=SeededSource(3)
        )
        errors[curves] = np.std(made.numbers(pd.DataFrame(frame)[["x", "y"]]) - frame["z"])
    assert errors[3] < 0.9 < 2.0 < errors[0]


@pytest.mark.thorough
def test_a_valley_is_learnt_by_curves_and_by_no_straight_line():
    asked = valley(2_000, 9)
    right = {}
    for curves in (3, 0):
        trainer = trainer_of("descent", PLANE, "kind", curves=curves)
        model = trainer.fit(open_source(valley(3_000)), DELTA, noise_source=SeededSource(2))
        told = np.array(PLANE.categories_of("kind"))[model.codes(pd.DataFrame(asked).drop(columns="kind"))]
        right[curves] = np.mean(told == asked["kind"])
    assert right[3] > 0.85 > 0.65 > right[0]


@pytest.mark.deep
def test_more_knots_are_taken_of_more_records():
    few, many = (offers(PLANE, "kind", DELTA, composable=True, records=records)[0] for records in (300, 30_000))
    assert few.trainer.curves < many.trainer.curves >= 3 and many.trainer.waves >= 64


@pytest.mark.deep
def test_knots_are_as_many_as_records_epsilon_and_columns_pay_for():
    def halvings(records: int, budget: Budget, domain: Domain = PLANE) -> int:
        return offers(domain, "kind", budget, composable=True, records=records)[0].trainer.curves

    wide = Domain.of(**{f"x{place}": (0, 1) for place in range(20)}, kind=["no", "yes"])
    assert halvings(300, Budget("0.1", "1e-6")) == 0
    assert halvings(300, DELTA) <= halvings(3_000, DELTA) <= halvings(30_000, DELTA) and halvings(30_000, DELTA) >= 3
    assert halvings(3_000, Budget("0.1")) <= halvings(3_000, Budget(1)) and halvings(3_000, DELTA, wide) <= 1
    assert offers(PLANE, "kind", DELTA, records=3_000, curves=0)[0].trainer.curves == 0


def test_columns_without_a_value_between_their_ends_stay_straight():
    domain = Domain((Numeric("sex", 0, 1, step=1), Numeric("age", 0, 100), *PLANE.columns[2:]))
    task = Task(domain, "kind", curves=2)
    assert task.bent.tolist() == [False, True, False, False] and task.width == 1 + 4 + 2
    assert [term.name for term in task.terms][:3] == ["sex", "age = 0", "age = 25"]


@pytest.mark.parametrize("method", [*METHODS, *NUMBER_METHODS])
def test_every_method_takes_curves_or_says_that_it_takes_none(method):
    domain, label = (PLANE, "kind") if method in METHODS else (GROWTH, "z")
    if (METHODS if method in METHODS else NUMBER_METHODS)[method].bends:
        task = trainer_of(method, domain, label, curves=1, waves=3).task
        assert (task.curves, task.waves) == (1, 3)
    else:
        for bends in ({"curves": 1}, {"waves": 1}):
            with pytest.raises(RequestError, match="straight lines alone"):
                trainer_of(method, domain, label, **bends)


def test_auto_buys_a_count_where_nobody_says_how_many_records_there_are(tmp_path):
    book = Ledger(str(tmp_path / "ledger.sqlite"))
    book.register("people", 2, 0)
    model = train(valley(400), "kind", PLANE, Budget(1), ledger=book, dataset="people")
    assert model.budget == Budget(1) and book.status("people").left == 1
    assert len(book.entries("people")) == 2  # a count, and the model with what it leaves
    train(valley(400), "kind", PLANE, Budget(1), records=400, ledger=book, dataset="people")
    assert len(book.entries("people")) == 3 and book.status("people").left == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("method", "label", "curves"),
    [
        ("descent", "kind", 2),
        deep("newton", "kind", 2),
        deep("boosted", "z", 2),
        ("descent", "z", 0),
        deep("descent", "kind", -8),
    ],
)
def test_bands_hold_what_there_would_be_without_noise(method, label, curves):
    domain, count, runs = (PLANE if label == "kind" else GROWTH), 1_500, draws(15, 30)
    frame = valley(count)
    frame["z"] = np.clip(np.abs(np.asarray(frame["x"])) + frame["y"] / 4, 0, 10)
    trainer = trainer_of(method, domain, label, curves=max(curves, 0), waves=max(-curves, 0))
    records = trainer.gather(open_source({name: frame[name] for name in domain.names}), trainer.unit)
    plan = trainer._planned(DELTA)
    made = [trainer._trained(*records, DELTA, plan, SeededSource(run)) for run in range(runs)]
    slopes, reach = (np.array([getattr(one, name) for one in made]) for name in ("slopes", "bands"))
    held = np.abs(slopes - slopes.mean(axis=0)) <= reach
    assert held.mean() > 0.87  # of 95 in 100, with few draws of few coefficients
    # And they are not much longer than they must be, but of waves and of steps that a noisy matrix shapes.
    assert (
        np.median(np.sqrt((reach**2).mean(axis=0)) / slopes.std(axis=0))
        < (2.2 if method == "descent" and curves >= 0 else 2.6) * 1.96
    )


def test_bands_are_in_the_file_and_a_forged_one_is_refused():
    model = trainer_of("descent", PLANE, "kind", curves=2).fit(open_source(valley(500)), DELTA)
    facts = model.to_dict()
    again = load_model(model.to_bytes())
    assert (again.term_errors == model.term_errors).all() and again.curves(0)[0].reach is not None
    assert load_model(json.dumps({k: v for k, v in facts.items() if k != "term_errors"}).encode()).bands is None
    for forged, said in ((facts["term_errors"][0][1:], "every term"), ([-1.0] * len(model.task.terms), "at least 0")):
        with pytest.raises(RequestError, match=said):
            LinearModel.from_dict(facts | {"term_errors": [forged]})
    with pytest.raises(RequestError, match="a row of errors"):
        LinearModel.from_dict(facts | {"term_errors": []})


@pytest.mark.thorough
def test_a_curve_that_noise_alone_explains_is_not_called_sure():
    model = trainer_of("descent", PLANE, "kind", curves=2).fit(
        open_source(valley(3_000)), DELTA, noise_source=SeededSource(5)
    )
    x, y = model.curves(0)
    assert (x.column, y.column) == ("x", "y") and x.sure and not y.sure
    assert x.values[0] > x.values[2] < x.values[4]
    assert "x from" in curves_in_words([x, y], "the score") and len(curves_figure([x, y], "the score").data) == 4


def test_what_may_be_nothing_is_not_said_to_carry_a_model():
    table = pd.DataFrame({"column": ["a", "b"], "category": "", "estimate": [9.0, 1.0], "carries": [9.0, 1.0]})
    told = coefficients_in_words(table.assign(low=[-1.0, 0.5], high=[19.0, 1.5]), "price")
    assert "b 1" in told and "a 9" not in told
    assert "may as well be zero" in coefficients_in_words(table.assign(low=-20.0, high=20.0), "price")


@pytest.mark.thorough
def test_a_regression_that_bends_is_taken_where_lines_explain_hardly_more():
    first = offers(GROWTH, "z", DELTA, records=20_000)[0]
    assert first.trainer.curves > 0 and first.method != "products"


def test_categories_beside_curves_are_told_from_their_mean():
    model = trainer_of("descent", PLANE, "kind", curves=1).fit(open_source(valley(500)), DELTA)
    towns = model.coefficients().set_index("column").loc["town", "yes"]
    assert abs(towns.sum()) < 1e-9


@pytest.mark.parametrize("method", ["products", "boosted", "descent"])
def test_how_far_off_it_is_stands_beside_always_guessing_the_mean(method):
    frame = valley(3_000)
    frame["z"] = np.clip(5 + np.asarray(frame["x"]) + np.random.default_rng(1).normal(0, 1, 3_000), 0, 10)
    model = trainer_of(method, GROWTH, "z").fit(open_source(frame), Budget(5, "1e-6"), noise_source=SeededSource(1))
    assert "where always guessing the mean would be 2." in " ".join(model.card())
    assert model.goal.half * model.of_mean == pytest.approx(frame["z"].std(), rel=0.1)
    assert NumberModel.from_dict(model.to_dict()).of_mean == model.of_mean


def alike(count: int, seed: int = 0) -> dict[str, object]:
    """A class by whether two columns lie on the same side of their middles, which no sum of curves tells."""
    random = np.random.default_rng(seed)
    x, y = random.uniform(-4, 4, (2, count))
    kind = np.where(x * y > 0, "yes", "no")
    return {"x": x, "y": y + 4, "town": random.choice(["Basel", "Bern"], count), "kind": kind}


def test_a_cosine_is_a_cosine_and_the_same_whoever_is_beside_it():
    turns = np.random.default_rng(0).normal(0, 20, 10_000)
    assert np.abs(wave(turns) - np.cos(2 * np.pi * turns)).max() < 1e-11  # which the argument's own digits leave
    assert (wave(turns)[77:78] == wave(turns[77:78])).all() and np.abs(wave(turns)).max() <= 1.0


@pytest.mark.parametrize("waves", [1, 2, 40])
@pytest.mark.parametrize("radius", [None, 0.7])
def test_records_with_waves_are_within_the_radius_that_sensitivities_are_proved_from(radius, waves):
    task, unit = Task(PLANE, "kind", radius, curves=3, waves=waves), 1 << 13
    assert task.radius == Task(PLANE, "kind", radius).radius
    corners = {"x": [-4.0, 4.0, 0.0, 9.0], "y": [8.0, 0.0, 4.0, -9.0], "town": ["Bern"] * 4, "kind": ["no"] * 4}
    for frame in (corners, alike(2_000)):
        units, _ = task.gather(open_source(frame), unit)
        assert units.shape[1] == task.width + 1 == 2 * 8 + 2 + 2 * waves + 1
        assert int((units**2).sum(axis=1).max()) <= task.longest(unit)
    longest = np.sqrt((task.vectors(task.features.encode_queries(pd.DataFrame(corners), "l2"))[:, 1:] ** 2).sum(axis=1))
    assert longest.max() <= np.sqrt(task.corner) * (1 + 1e-12)  # before anything is shortened
    whole, _ = task.gather(open_source(alike(300)), unit)
    alone, _ = task.gather(open_source({name: values[7:8] for name, values in alike(300).items()}), unit)
    assert (whole[7] == alone[0]).all()  # bit for bit, whoever is beside it


@pytest.mark.thorough
def test_what_columns_say_only_together_is_learnt_by_what_auto_takes_and_by_no_sum_of_curves():
    """An exclusive or of two columns was answered at chance."""
    count, asked = 4_000, alike(2_000, 9)
    first = offers(PLANE, "kind", DELTA, records=count)[0]
    assert first.trainer.waves > 0 and "waves look at all columns together" in first.reason
    right = {}
    for waves in (first.trainer.waves, 0):
        trainer = trainer_of("descent", PLANE, "kind", curves=2, waves=waves)
        model = trainer.fit(open_source(alike(count)), DELTA, noise_source=SeededSource(2))
        told = np.array(PLANE.categories_of("kind"))[model.codes(pd.DataFrame(asked).drop(columns="kind"))]
        right[bool(waves)] = np.mean(told == asked["kind"])
    assert right[True] > 0.88 > 0.76 > right[False]  # three of four corners are the most that a sum tells


@pytest.mark.deep
def test_waves_are_as_many_as_records_and_epsilon_pay_for():
    def waves(records: int, budget: Budget, domain: Domain = PLANE, **said: int) -> int:
        return offers(domain, "kind", budget, composable=True, records=records, **said)[0].trainer.waves

    assert waves(300, Budget("0.1", "1e-6")) == 0 == waves(300, Budget("0.1"))
    assert waves(1_000, DELTA) <= waves(4_000, DELTA) <= waves(30_000, DELTA) and waves(30_000, DELTA) >= 64
    assert waves(30_000, DELTA, Domain.of(x=(0, 1), kind=["no", "yes"])) == 0  # of one column a curve says all
    assert waves(30_000, DELTA, curves=0) == 0 and waves(3_000, DELTA, waves=7) == 7


@pytest.mark.parametrize("waves", [0, 7])
@pytest.mark.parametrize("radius", [None, 0.7])
def test_records_with_products_are_within_the_radius_that_sensitivities_are_proved_from(radius, waves):
    domain = Domain((*GROWTH.columns, *PLANE.columns[2:]))
    task, unit = Task(domain, "kind", radius, curves=2, waves=waves, products=1), 1 << 13
    assert task.width == 3 * 4 + 2 + 2 * waves + 3 and task.radius == Task(domain, "kind", radius).radius
    frame = alike(1_000) | {"z": np.random.default_rng(5).uniform(0, 10, 1_000)}
    ends = {"x": [-4.0, 4.0], "y": [8.0, -9.0], "z": [0.0, 99.0], "town": ["Bern"] * 2, "kind": ["no"] * 2}
    for one in (ends, frame):
        units, _ = task.gather(open_source(one), unit)
        assert int((units**2).sum(axis=1).max()) <= task.longest(unit)
    vectors = task.vectors(task.features.encode_queries(pd.DataFrame(ends), "l2"))
    assert np.sqrt((vectors[:, 1:] ** 2).sum(axis=1)).max() <= np.sqrt(task.corner) * (1 + 1e-12)
    whole, alone = (
        task.gather(open_source({name: np.asarray(values)[part] for name, values in frame.items()}), unit)[0]
        for part in (slice(None), slice(7, 8))
    )
    assert (whole[7] == alone[0]).all()  # bit for bit, whoever is beside it
    assert Task(Domain((GROWTH.columns[0], *PLANE.columns[2:])), "kind", products=1).width == 1 + 2  # no two numbers


@pytest.mark.deep
def test_products_tell_which_two_of_many_columns_have_the_same_sign_where_waves_hardly_do():
    """Two of ten columns: an exclusive or that 64 waves say to six in ten."""
    domain = Domain.of(**{f"x{place}": (-1.0, 1.0) for place in range(10)}, kind=["no", "yes"])

    def records(count: int, seed: int) -> dict[str, object]:
        numbers = np.random.default_rng(seed).uniform(-1, 1, (count, 10))
        kind = np.where(numbers[:, 3] * numbers[:, 7] > 0, "yes", "no")
        return {f"x{place}": numbers[:, place] for place in range(10)} | {"kind": kind}

    first = offers(domain, "kind", DELTA, records=4_000)[0]
    assert first.trainer.products == 1 and "their product" in first.reason
    assert offers(domain, "kind", Budget("0.1"), records=300)[0].trainer.products == 0
    trainer = trainer_of("descent", domain, "kind", products=1)
    model = trainer.fit(open_source(records(4_000, 0)), DELTA, noise_source=SeededSource(2))
    asked = pd.DataFrame(records(1_000, 9))
    told = np.array(["no", "yes"])[model.codes(asked.drop(columns="kind"))]
    assert np.mean(told == asked.kind) > 0.7
    assert any("products of each two" in said for said in model.card())
    assert load_model(json.dumps(model.to_dict()).encode()).task.products == 1


@pytest.mark.thorough
def test_a_model_with_waves_is_read_back_and_says_what_they_are():
    model = train(alike(500), "kind", PLANE, DELTA, "descent", waves=6, records=500)
    again = load_model(model.to_bytes())
    assert again.task.waves == 6 and again.task.curves == 0 and again.to_dict() == model.to_dict()
    assert any("6 waves" in sentence for sentence in model.card())
    asked = pd.DataFrame(alike(20)).drop(columns="kind")
    assert (again.decision(asked) == model.decision(asked)).all()
    with pytest.raises(RequestError, match="a coefficient for every coordinate"):
        LinearModel.from_dict(model.to_dict() | {"task": model.to_dict()["task"] | {"waves": 5}})


@pytest.mark.deep
def test_a_curve_of_a_model_with_waves_is_the_mean_over_all_other_columns():
    random, groups = np.random.default_rng(1), (0, 0, 1, 1, 1)
    speeds = frequencies(9, groups)
    records = np.zeros((200_000, 5))
    records[:, :2] = random.uniform(-1, 1, (200_000, 2))
    records[np.arange(200_000), 2 + random.integers(0, 3, 200_000)] = 1.0
    told, everywhere = mean_waves([np.array([-0.5, 0.5])] * 2 + [np.ones(1)] * 3, speeds, groups, 3.0)
    assert waved(records, speeds, 3.0).mean(axis=0) == pytest.approx(everywhere, abs=5e-3)
    fixed = records.copy()
    fixed[:, 1] = 0.5
    assert waved(fixed, speeds, 3.0).mean(axis=0) == pytest.approx(told[1][1], abs=5e-3)
    fixed = records.copy()
    fixed[:, 2:] = (0.0, 1.0, 0.0)
    assert waved(fixed, speeds, 3.0).mean(axis=0) == pytest.approx(told[3][0], abs=5e-3)


@pytest.mark.parametrize("far", [0.0, 40.0])
@pytest.mark.parametrize("pulled", [0.005, 0.02])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_bands_are_as_long_as_noise_makes_the_mean_of_steps_go_and_not_as_the_way_that_they_go(momentum, pulled, far):
    """The way was taken for noise that nothing forgets, and that of a momentum is long: bands were 2 to 7 times it."""
    task = Task(Domain.of(**{f"x{place}": (0, 1) for place in range(24)}, z=(0, 1)), "z", curves=0)
    random, told, means = np.random.default_rng(1), [], []
    for _ in range(20):
        trace, place, pace = Trace(60, (1, 25)), np.zeros((1, 25)), np.zeros((1, 25))
        for _ in range(60):
            pace = momentum * pace - pulled * (place - far) + random.normal(size=(1, 25))
            place = place + pace
            trace.add(np.rint(place * (1 << BITS)))
        told.append(trace.term_errors(task, 1.0, np.ones(24), evenly(task), momentum)[0])
        means.append(task.reading[0] @ trace.mean[0, 1:] / (1 << BITS))
    spread = np.std(means, axis=0)
    assert 0.8 < np.sqrt(np.mean(np.square(told)) / np.mean(np.square(spread))) < 2.0


def test_bands_of_numbers_that_little_noise_may_hide_are_as_long_as_their_noise():
    """They were 3.6 times as long: coefficients on their way with a momentum of nine tenths seemed to wander."""
    random, budget = np.random.default_rng(3), Budget(0.3, "1e-6")
    points = random.uniform(-1, 1, (3_000, 6))
    frame = {f"x{place}": column for place, column in enumerate(points.T)} | {"z": points @ np.arange(6) / 8}
    domain = Domain.of(**{name: (-1.0, 1.0) if name != "z" else (-2.0, 2.0) for name in frame})
    trainer = trainer_of("descent", domain, "z", curves=1)
    records, plan = trainer.gather(open_source(frame), trainer.unit), trainer._planned(budget)
    made = [trainer._trained(*records, budget, plan, SeededSource(run)) for run in range(12)]
    slopes, errors = (np.array([getattr(one, name)[0] for one in made]) for name in ("slopes", "term_errors"))
    assert 0.7 < np.median(np.sqrt((errors**2).mean(axis=0)) / slopes.std(axis=0)) < 1.8
