"""Counts predicted with Poisson's loss: what a record moves, the fit without noise, files, the choice, commands."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import PoissonRegressor

from core import Budget, Domain, load_model, train
from core.domain import Numeric
from core.errors import ReleaseFileError, RequestError
from core.figures.share.page_sections import number_facts
from core.models.descent import UNIT
from core.models.linear_models import FACTORS
from core.models.model_file import BITS
from core.models.number_descent import CountDescent, Counted, NumberDescent
from core.models.standard_scale import FRONT, RESIDUAL_UNIT, Scale, standardised
from core.models.training import offers
from core.privacy.budget import Neighbours
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.cli.conftest import command, ledger  # noqa: F401 (fixtures)

HIGH = 60
COLUMNS = (Numeric("x", -4, 4), Numeric("y", 0, HIGH, step=1.0))
VISITS = Domain(COLUMNS, missing="drop")
PLENTY = Budget(100, "1e-4")
corner = st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-1.1, 1.1))


def visits(records: int = 4_000) -> dict:
    """About e^(1 + x/2) of them."""
    random = np.random.default_rng(5)
    x = random.uniform(-4, 4, records)
    return {"x": x, "y": np.minimum(random.poisson(np.exp(1 + x / 2)), HIGH).astype(float)}


@given(
    st.lists(st.integers(-(1 << 28), 1 << 28), min_size=2, max_size=2),
    st.tuples(corner, corner),
    st.tuples(corner, corner),
    st.tuples(st.floats(1 / 64, 4), st.floats(-9, 0), st.floats(1e-3, 1e5), st.integers(UNIT // 8, 2 * UNIT)),
)
def test_no_record_moves_a_step_or_the_fit_further_than_declared(weights, one, other, bought):
    """At any coefficients and whatever was bought: scores so large that e^t would have no number, too."""
    task, (length, start, factor, unit) = CountDescent(VISITS, "y"), bought
    scale, at, steps, fits = Scale(np.array([0]), unit), np.array([weights], float), [], []
    for x, y in (one, other):
        units, numbers = task.gather(open_source({"x": [4 * x], "y": [HIGH * (1 + y) / 2]}), UNIT)
        whole = standardised(units, scale, UNIT, task.farthest)
        goals = Counted(
            np.asarray((numbers + UNIT) / (length * UNIT) * RESIDUAL_UNIT, np.int64), 2 / length, start, factor
        )
        steps.append(task.slopes(whole, goals, at, task.most(whole)))
        fits.append(task.squares(whole, goals, at, 4.0 * length))
    for relation in Neighbours:
        replaced = relation is Neighbours.REPLACE_ONE
        moved = steps[0] - steps[1] if replaced else steps[0]
        declared, fit = task.sensitivity(relation), task._bought(relation)[-1][0]
        assert declared == NumberDescent(VISITS, "y").sensitivity(relation)
        assert (moved**2).sum() <= declared.l2_squared and np.abs(moved).sum() <= declared.l1
        assert abs(fits[0] - fits[1] if replaced else fits[0]) <= fit.l1


def test_slopes_are_those_of_the_loss_up_to_the_cap_and_straight_beyond():
    """Differences of the loss itself on both sides of the cap; and it is convex across it."""
    most, start, factor, count, step = 8.0, -2.0, 0.7, 3.0, 1e-4
    counted = Counted(np.array([int(count * RESIDUAL_UNIT)]), most, start, factor)

    def loss(score):
        t = start + factor * score  # of the share of the upper end
        return (most * (math.exp(t) if t < 0 else 1 + t) - count * t) / factor

    for score in (-30.0, -1.0, 0.0, 2.5, 3.5, 40.0):
        wanted = (loss(score + step) - loss(score - step)) / (2 * step)
        assert counted.offsets(np.array([[score]]))[0, 0] == pytest.approx(wanted, abs=1e-5)
    many = counted.whole.repeat(400)
    slopes = Counted(many, most, start, factor).offsets(np.linspace(-60, 60, 400)[:, None])[:, 0]
    assert (np.diff(slopes) >= 0).all() and slopes[-1] == most - count


def test_without_noise_its_steps_are_those_of_a_plain_descent(monkeypatch):
    """The same steps in floating point, slopes cut to the same length, nothing rounded."""
    monkeypatch.setattr("core.models.descent.add_noise", lambda table, scale, source: table)
    task = CountDescent(VISITS, "y", steps=20, rate=0.5)
    units, numbers = task.gather(open_source(visits(500)), UNIT)
    whole = standardised(units, Scale(np.array([0]), UNIT), UNIT, task.farthest)
    mean, length = float(numbers.mean()) / UNIT + 1, 0.3
    goals = Counted(
        ((numbers + UNIT) / length / UNIT * RESIDUAL_UNIT).astype(np.int64),
        2 / length,
        math.log(mean / 2),
        length / mean,
    )
    scale = task.noises(PLENTY)[0]
    found = task._descended(whole, goals, 500.0, scale, SeededSource(1)).mean[0] / (1 << BITS)
    z, theta, pace, total = whole / UNIT, np.zeros(2), np.zeros(2), np.zeros(2)
    for place in range(20):
        off = (
            mean * np.exp(np.minimum(length / mean * (z @ theta), math.log(2 / mean))) - (numbers / UNIT + 1)
        ) / length
        shares = np.minimum(1.0, 1.0 / np.maximum(np.abs(off) * np.linalg.norm(z, axis=1), 1e-12))
        pace = 0.9 * pace - 0.5 * (off * shares) @ z / 500
        theta = theta + pace
        total += theta * (place >= 10)
    assert z[0, 0] == FRONT and found == pytest.approx(total / 10, abs=2e-3)


@pytest.mark.thorough
def test_with_hardly_any_noise_it_is_poisson_regression():
    frame = visits()
    model = CountDescent(VISITS, "y").fit(open_source(frame), PLENTY, noise_source=SeededSource(1))
    known = PoissonRegressor(alpha=0.0, tol=1e-8).fit(frame["x"][:, None], frame["y"])
    table = model.coefficients()
    assert table.estimate[1] == pytest.approx(known.coef_[0], abs=0.01)
    assert table.estimate[0] == pytest.approx(known.intercept_, abs=0.02)
    asked = {"x": [-4.0, 0.0, 4.0, 99.0]}
    wanted = known.predict(np.array([-4.0, 0.0, 4.0, 4.0])[:, None])
    assert model.predict(asked).predicted.to_numpy() == pytest.approx(wanted, rel=0.03)
    off = math.sqrt(np.mean((frame["y"] - known.predict(frame["x"][:, None])) ** 2))
    assert model.residual_deviation == pytest.approx(off, rel=0.1) and FACTORS in model.card()
    assert number_facts(model)["targets"][0]["link"] == "count"


@pytest.mark.thorough
def test_a_file_gives_back_the_model_and_what_is_no_count_is_refused(tmp_path):
    model = train(visits(300), "y", VISITS, Budget(5, "1e-4"), "poisson")
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.to_dict() == model.to_dict() and again.kind == "count"
    assert np.array_equal(again.numbers(visits(20)), model.numbers(visits(20)))
    with pytest.raises(ReleaseFileError, match="lower bound is 0"):
        load_model(json.dumps(model.to_dict() | {"task": {"label": "x", "radius": None}}).encode())
    with pytest.raises(RequestError, match="lower bound is 0"):
        CountDescent(VISITS, "x")
    with pytest.raises(RequestError, match="needs a delta"):
        train(visits(30), "y", VISITS, Budget(1), "poisson")


@pytest.mark.deep
def test_it_is_tried_where_the_domain_says_that_whole_numbers_are_counted():
    few = Domain((COLUMNS[0], Numeric("y", 0, HIGH)))
    tried = [{one.method for one in offers(domain, "y", Budget(1, "1e-6"))} for domain in (VISITS, few)]
    assert tried[0] - tried[1] == {"poisson"}
    assert "poisson" not in {one.method for one in offers(VISITS, "y", Budget(1))}


@pytest.mark.deep
def test_the_commands_predict_a_count(command, tmp_path):  # noqa: F811
    pd.DataFrame(visits(500)).to_csv(tmp_path / "people.csv", index=False)
    said = ("--bounds", "x=-4:4", "--bounds", f"y=0:{HIGH}", "--target", "y", "--epsilon", "5", "--delta", "1e-6")
    made = command("train", "people.csv", *said, "--method", "poisson", "--out", "model.json")
    assert made.exit_code == 0 and "Poisson's loss" in made.output, made.output
    (tmp_path / "asked.csv").write_text("x\n-4\n4\n")
    asked = command("predict", "model.json", "asked.csv", "--out", "answers.csv")
    assert asked.exit_code == 0, asked.output
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert 0 < answers.predicted[0] < 3 < 10 < answers.predicted[1] < HIGH
