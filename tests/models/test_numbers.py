"""Numbers and dates that are predicted: what a record moves, the fit without noise, files, the choice, commands."""

import json
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom

from core import Budget, Domain, load_model, train
from core.domain import Dates, Numeric
from core.errors import ReleaseFileError, RequestError
from core.models.descent import UNIT
from core.models.least_squares import FromProducts
from core.models.linear_models import NO_BANDS, NumberModel
from core.models.number_descent import NumberDescent, around, goals_table, located, shell_counts, whole_goals
from core.models.standard_scale import RESIDUAL_UNIT, Scale, standardised
from core.models.training import forecast_curve, offers, trainer_of
from core.privacy.budget import Neighbours
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.cli.conftest import command, ledger, refused  # noqa: F401 (fixtures)
from tests.depth import draws

LINE = Domain.of(x=(-4, 4), town=["Basel", "Bern"], y=(0, 8), missing="drop")
PLENTY = Budget(100, "1e-4")
corner = st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-1.1, 1.1))


def line(records: int = 4_000) -> dict:
    """y = 4 + x/2 + 1 in Bern, and a little besides."""
    random = np.random.default_rng(5)
    x, bern = random.uniform(-4, 4, records), random.random(records) < 0.4
    y = 4 + x / 2 + bern + random.normal(0, 0.3, records)
    return {"x": x, "town": np.where(bern, "Bern", "Basel"), "y": np.clip(y, 0, 8)}


@example(1.0, -1.0, (0, 2 * UNIT))
@example(1.0, -1.0, (0, UNIT // 64))
@given(corner, corner, st.tuples(st.integers(-UNIT, UNIT), st.integers(1, 2 * UNIT)))
def test_no_record_moves_the_goals_further_than_declared(one, other, bought):
    """Their sum, how many lie in each shell, and the sums around a middle in any width that were bought."""
    tables = []
    for y in (one, other):
        number = np.array([int(np.clip(y, -1, 1) * UNIT)])
        tables.append((number, shell_counts(number, bought[0]), goals_table(around(number, *bought))))
    for relation in Neighbours:
        for first, second, (declared, _) in zip(*tables, NumberDescent(LINE, "y")._bought(relation)):  # noqa: B905
            moved = first - second if relation is Neighbours.REPLACE_ONE else first
            assert (moved**2).sum() <= declared.l2_squared and np.abs(moved).sum() <= declared.l1


def test_where_numbers_lie_is_found_in_bounds_that_are_wide_of_them():
    """Of 3,000 at (.1, 1e-6): a deviation is told to a factor of three, and was told six times as large."""
    numbers = np.rint(np.random.default_rng(1).normal(-0.8, 0.06, 3_000) * UNIT).astype(np.int64)
    task, found = NumberDescent(LINE, "y"), []
    noises = task.noises(Budget("0.1", "1e-6"))[task.steps + 2 :]
    for seed in range(60):
        source = SeededSource(seed)
        total = float(add_noise(np.array([numbers.sum()]), noises[0], source)[0])
        found.append(located(numbers, total / UNIT / 3_000, 3_000, noises[1:3], source))
    middles, deviations = np.array(found).T
    assert np.sqrt(np.mean((middles + 0.8) ** 2)) < 0.06
    assert np.median(deviations) == pytest.approx(0.06, rel=0.7) and np.quantile(deviations, 0.9) < 0.18


@given(
    st.lists(st.integers(-(1 << 28), 1 << 28), min_size=4, max_size=4),
    st.tuples(corner, st.sampled_from(["Basel", "Bern"]), corner),
    st.tuples(corner, st.sampled_from(["Basel", "Bern"]), corner),
    st.tuples(st.floats(-1, 1), st.floats(1 / 64, 4), st.integers(UNIT // 8, 2 * UNIT)),
)
def test_no_record_moves_a_step_or_the_fit_further_than_declared(weights, one, other, bought):
    """At any coefficients and whatever was bought, corners included; also a replaced record."""
    task = NumberDescent(LINE, "y")
    scale, at, steps, fits = Scale(np.array([0, 0, 0]), bought[2]), np.array([weights], float), [], []
    for x, town, y in (one, other):
        units, numbers = task.gather(open_source({"x": [4 * x], "town": [town], "y": [4 + 4 * y]}), UNIT)
        whole, goals = standardised(units, scale, UNIT, task.farthest), whole_goals(numbers, *bought[:2])
        steps.append(task.slopes(whole, goals, at, task.most(whole)))
        fits.append(task.squares(whole, goals, at, 4.0 * bought[1]))
    for relation in Neighbours:
        replaced = relation is Neighbours.REPLACE_ONE
        moved = steps[0] - steps[1] if replaced else steps[0]
        declared = task.sensitivity(relation)
        assert (moved**2).sum() <= declared.l2_squared and np.abs(moved).sum() <= declared.l1
        fit = task._bought(relation)[-1][0]
        assert abs(fits[0] - fits[1] if replaced else fits[0]) <= fit.l1 and fit.l1**2 == fit.l2_squared


def test_slopes_are_those_of_the_squared_error_until_they_are_cut():
    task = NumberDescent(LINE, "y")
    units, numbers = task.gather(open_source(line(200)), UNIT)
    whole, goals = standardised(units, Scale(np.zeros(3, np.int64), UNIT), UNIT, 8.0), whole_goals(numbers, 0.1, 0.5)
    weights, vectors = np.array([[1 << 19, -(1 << 20), 1 << 18, 0]], float), whole / UNIT
    off = vectors @ [0.5, -1.0, 0.25, 0.0] - (numbers / UNIT - 0.1) / 0.5
    shares = np.minimum(1.0, 1.0 / (np.abs(off) * np.linalg.norm(vectors, axis=1)))
    assert (shares < 1).any() and (shares == 1).any()
    found = task.slopes(whole, goals, weights, task.most(whole)) / (UNIT * RESIDUAL_UNIT)
    assert found[0] == pytest.approx((off * shares) @ vectors, abs=200 * 3 / RESIDUAL_UNIT)


@pytest.mark.parametrize("method", ("products", "descent", "boosted"))
def test_without_noise_it_is_least_squares(method):
    frame = line()
    model = trainer_of(method, LINE, "y").fit(open_source(frame), PLENTY, noise_source=SeededSource(1))
    design = np.column_stack((np.ones(len(frame["x"])), frame["x"], frame["town"] == "Bern"))
    expected = np.linalg.lstsq(design, frame["y"], rcond=None)[0]
    wanted = design @ expected
    assert np.abs(model.numbers(frame) - wanted).max() < 0.02
    assert model.residual_deviation == pytest.approx(0.3, abs=0.02) and " off." in " ".join(model.card())
    table = model.coefficients().set_index(["column", "category"])
    assert table.estimate["x", ""] == pytest.approx(expected[1], abs=0.01)
    assert table.carries["x", ""] == pytest.approx(8 * table.estimate["x", ""])
    banded = method == "products"
    assert table.low["x", ""] < table.estimate["x", ""] < table.high["x", ""] and NO_BANDS not in model.card()
    assert list(model.predict(line(3))) == ["predicted", "low", "high"][: 3 if banded else 1]


@pytest.mark.thorough
def test_intervals_of_predictions_hold_what_there_would_be_without_noise():
    """Over draws of noise, of which at most one in a million has fewer by the binomial distribution."""
    task, budget, asked = FromProducts(LINE, "y"), Budget(1), {"x": [-3.0, 2.0], "town": ["Bern", "Basel"]}
    units, numbers = task.gather(open_source(line(2_000)), task.unit)
    runs, held = draws(30, 1_000), np.zeros(2)
    for seed in range(runs):
        model = task._trained(units, numbers, budget, task._planned(budget), SeededSource(seed))
        found, ridge = model.predict(asked), float(model.details["ridge"])
        design = np.column_stack((np.ones(len(units)), units[:, 1:] / task.unit))
        penalty = np.diag([0.0] + [ridge] * (design.shape[1] - 1))
        exact = np.linalg.solve(design.T @ design + penalty, design.T @ (numbers / task.unit))
        wanted = 4 + 4 * task.encoding.vectors(task.features.encode_queries(asked, task.encoding.metric)) @ exact
        held += (found.low <= wanted) & (wanted <= found.high)
        assert ((found.low <= found.predicted) & (found.predicted <= found.high)).all()
    assert (held >= binom.ppf(5e-7, runs, 0.93)).all()
    wider, narrower = model.predict(asked, 0.99), model.predict(asked, 0.5)
    assert (wider.high - wider.low > narrower.high - narrower.low).all()


def test_sums_that_are_read_and_sums_of_held_records_are_the_same():
    """What is rehearsed is what is done: both ways, with noise that hardly is any."""
    task = FromProducts(LINE, "y")
    units, numbers = task.gather(open_source(line(300)), task.unit)
    held = task._trained(units, numbers, PLENTY, task._planned(PLENTY), SeededSource(1))
    read = task.fit(open_source(line(300)), PLENTY, noise_source=SeededSource(1))
    assert held.numbers(line(50)) == pytest.approx(read.numbers(line(50)), abs=0.02)
    assert held.residual == pytest.approx(read.residual, rel=0.1)


@pytest.mark.deep
def test_the_best_for_few_and_many_records_comes_first():
    """Slopes that are cut need less noise; sums need no δ, and say how far coefficients may be off."""
    wide = Domain.of(**{f"x{place}": (0, 1) for place in range(30)})
    assert {one.method for one in offers(wide, "x29", Budget(1))} == {"objective", "products", "mean"}
    found = offers(wide, "x29", Budget("0.1", "1e-6"), records=20_000)
    first, last = found[0], found[-1]
    assert {one.method for one in found} == {"products", "descent", "boosted", "objective", "mean"}
    assert first.rehearsal.right >= last.rehearsal.right and first.rehearsal.right > 0.0
    assert "% of how public reference records differ" in first.reason
    assert any("may be off" in one.reason for one in found)
    curve = forecast_curve(LINE, "y", (Budget("0.01", "1e-6"), Budget(10, "1e-6")))
    assert curve[0][1].rehearsal.right < curve[1][1].rehearsal.right


@pytest.mark.thorough
@given(
    st.sampled_from(list(Neighbours)),
    st.integers(1, 40),
    st.floats(0.01, 30.0),
    st.sampled_from(["1e-12", "1e-9", "1e-6", "1e-3"]),
)
def test_a_delta_never_adds_noise_to_sums(relation, columns, epsilon, delta):
    """Whoever allows one gets what they would have without it, or less noise, whatever the promise and the columns."""
    task = FromProducts(Domain.of(**{f"x{place}": (0, 1) for place in range(columns)}, y=(0, 1)), "y")
    pure = Budget(str(round(epsilon, 4)), 0, relation)
    assert task.noise(replace(pure, delta=Decimal(delta))) <= task.noise(pure) * (1 + 1e-12)


@pytest.mark.thorough
def test_a_number_that_is_predicted_is_a_mean_and_not_rounded_to_a_step():
    random = np.random.default_rng(2)
    x = random.uniform(0, 1, 3000)
    frame = pd.DataFrame({"x": x, "visits": (random.random(3000) < x).astype(float)})
    domain = Domain((Numeric("x", 0, 1), Numeric("visits", 0, 17, step=1)))
    told = train(frame, "visits", domain, Budget(3, "1e-6"), "descent").predict(pd.DataFrame({"x": [0.25, 0.75]}))
    assert told["predicted"].to_numpy() == pytest.approx([0.25, 0.75], abs=0.2)


def test_dates_are_predicted_as_dates():
    domain = Domain((Numeric("x", 0, 100), Dates("day", "2020-01-01", "2020-12-31")))
    x = np.random.default_rng(1).uniform(0, 100, 3_000)
    days = np.datetime64("2020-01-01") + (50 + 2 * x).astype("timedelta64[D]")
    model = train({"x": x, "day": days.astype(str)}, "day", domain, Budget(100, "1e-4"), "products")
    found = model.predict({"x": [10.0, 90.0]}).predicted
    off = (found.to_numpy() - np.array(["2020-03-11", "2020-08-18"], "datetime64[D]")) / np.timedelta64(1, "D")
    assert np.abs(off).max() <= 2 and "days" in " ".join(model.card())


def test_a_file_gives_back_the_model_and_strangers_are_refused(tmp_path):
    model = train(line(300), "y", LINE, Budget(5), "products")
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert isinstance(again, NumberModel) and again.to_dict() == model.to_dict()
    assert np.array_equal(again.numbers(line(20)), model.numbers(line(20)))
    earlier = {name: value for name, value in model.to_dict().items() if name != "covariance"}
    assert list(load_model(json.dumps(earlier).encode()).predict(line(2))) == ["predicted"]
    wrong = (
        {"errors": [1.0]},
        {"covariance": None},
        {"covariance": [[1.0] * 4] * 4},
        {"covariance": model.covariance[:3].tolist()},
        {"covariance": (model.covariance + np.eye(4, k=1)).tolist()},
        {"errors": [-1.0] * 4},
        {"errors": "x"},
        {"residual": 3},
        {"kind": "logistic"},
        {"x": 1},
    )
    for change in (*wrong, {"rows": model.rows.tolist() * 2}, {"task": {"label": "town", "radius": None}}):
        with pytest.raises(ReleaseFileError):
            load_model(json.dumps(model.to_dict() | change).encode())


def test_what_cannot_be_done_is_refused():
    with pytest.raises(RequestError, match="no method 'svm' for numbers; there are auto, products, descent"):
        train(line(30), "y", LINE, Budget(1, "1e-6"), "svm")
    with pytest.raises(RequestError, match="needs a delta"):
        train(line(30), "y", LINE, Budget(1), "descent")
    with pytest.raises(RequestError, match="leave the radius out"):
        train(line(30), "y", LINE, Budget(1), "products", radius=0.5)
    with pytest.raises(RequestError, match="numbers or dates"):
        FromProducts(LINE, "town")


@pytest.mark.thorough
def test_the_commands_predict_a_number(command, tmp_path):  # noqa: F811
    pd.DataFrame(line(500)).to_csv(tmp_path / "people.csv", index=False)
    said = ("--bounds", "x=-4:4", "--bounds", "y=0:8", "--categories", "town=Basel,Bern", "--target", "y")
    made = command("train", "people.csv", *said, "--method", "products", "--epsilon", "5", "--out", "model.json")
    assert made.exit_code == 0 and "trained by sums of products" in made.output, made.output
    (tmp_path / "asked.csv").write_text("x,town\n-4,Basel\n4,Bern\n")
    asked = command("predict", "model.json", "asked.csv", "--out", "answers.csv")
    assert asked.exit_code == 0, asked.output
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert answers.predicted[0] < 4 < answers.predicted[1]
    assert (answers.low < answers.predicted).all() and (answers.predicted < answers.high).all()
    assert "estimate" in command("predict", "model.json", "--coefficients").stdout


def machine(records: int = 6_000) -> tuple[Domain, pd.DataFrame]:
    """Seven measurements that follow one speed, and the wear that their small differences tell of."""
    random = np.random.default_rng(2)
    speed, wear = random.random((2, records))
    found = {}
    for place in range(7):
        turned = (-1) ** place * 0.12 * wear * (0.3 + speed)
        found[f"m{place}"] = np.clip(speed ** (1 + place / 6) + turned + random.normal(0, 0.01, records), -0.3, 1.3)
    names = tuple(Numeric(name, -0.3, 1.3) for name in found)
    return Domain((*names, Numeric("wear", 0, 1))), pd.DataFrame(found | {"wear": wear})


def test_steps_get_to_what_tells_columns_that_hang_together_apart():
    """A hundred steps left .10 unexplained, whatever the budget; and wide records have noise for no more of them."""
    domain, records = machine()
    budget = Budget(1, "1e-6")
    trainer = NumberDescent(domain, "wear", curves=2).for_records(budget, len(records))
    off = trainer.fit(open_source(records), budget, noise_source=SeededSource(0)).numbers(records) - records.wear
    assert np.var(off) / np.var(records.wear) < 0.08
    wide = Domain.of(**{f"x{place}": (0, 1) for place in range(60)})
    assert NumberDescent(wide, "x9").for_records(budget, 2_000).steps == 100


@pytest.mark.thorough
def test_lines_that_bend_are_taken_for_numbers_where_little_budget_tells_them():
    """At (.1, 1e-6) they were straight by a law of noise that descents stop before: .53 unexplained for .21."""
    domain = Domain.of(**{f"x{place}": (-1, 1) for place in range(5)}, y=(-2, 5))
    first = offers(domain, "y", Budget("0.1", "1e-6"), records=4_000)[0]
    assert (first.method, first.trainer.curves > 0) == ("descent", True)
    assert offers(domain, "y", Budget("0.1", "1e-6"), records=4_000, curves=0)[0].trainer.curves == 0
    assert len(first.rehearsal.by_shape) == 5


@pytest.mark.deep
def test_more_budget_never_errs_more_where_columns_hang_together():
    """A larger budget took another method that public reference records could not tell from the last: .11 for .06."""
    domain, records = machine()
    errors = []
    for epsilon in draws((0.5, 3), (0.1, 0.3, 0.5, 1, 3, 10)):
        budget = Budget(str(epsilon), "1e-6")
        trainer = offers(domain, "wear", budget, records=len(records))[0].trainer
        model = trainer.fit(open_source(records), budget, noise_source=SeededSource(0))
        off = model.predict(records).predicted.to_numpy(float) - records.wear
        errors.append(float(np.var(off) / np.var(records.wear)))
    assert all(later <= 1.1 * earlier for earlier, later in pairwise(errors)), errors
    assert errors[-1] < 0.35
