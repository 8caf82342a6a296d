"""Training in one call: the method by its noise, who pays, and the commands."""

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, Ledger, load_model, train
from core.domain import PrivacyUnit, Vector
from core.errors import BudgetError, RequestError
from core.formatting.numbers import rounded_down
from core.models import training
from core.models.objective_perturbation import ObjectivePerturbation, PureLogistic
from core.models.training import (
    METHODS,
    NUMBER_METHODS,
    Offer,
    forecast_curve,
    offers,
    rehearse_training,
    train_by,
    trainer_of,
    training_plan,
    yardsticks,
)
from core.privacy.accounting import Cost, Reserve
from core.privacy.budget import Neighbours
from core.privacy.composition import PureParts
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource, SystemSource
from core.releases.found import paid_text
from core.sources import open_source
from tests.cli.conftest import command, ledger, refused  # noqa: F401 (fixtures)
from tests.depth import crossed, draws
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three

WIDE = Domain.of(**{f"x{place}": (0, 1) for place in range(60)}, kind=["no", "yes"])
HUGE = Domain((Vector("v", 3_000, 0, 1), *Domain.of(kind=["no", "yes"]).columns))


def promise(method: str, epsilon: int) -> Budget:
    """One that the method keeps."""
    return Budget(epsilon, 0 if method == "objective" else "1e-4", "replace_one" if method == "sgd" else "add_remove")


@pytest.mark.few(2)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_a_model_that_predicts(method):
    budget = promise(method, 60)
    model = train(plane(), "kind", PLANE, budget, method)
    assert model.codes({"x": [-4.0, 4.0], "y": [8.0, 0.0]}).tolist() == [0, 1]
    assert model.to_dict() == type(model).from_dict(json.loads(model.to_bytes())).to_dict()


DRAWING = [(name, label) for label, names in (("kind", METHODS), ("y", NUMBER_METHODS)) for name in names]
SOLVED = ("products", "amp", "tuned-amp", "dp-sgd", "ops", "ada-ops", "tukey", "frank-wolfe", "sgd", "objective")
"""Whose draws are not all noise that is added to tables, or who know the number of records; an audit replays them."""


@pytest.mark.few(3)
@pytest.mark.parametrize(("method", "label"), [one for one in DRAWING if one[0] not in SOLVED])
def test_what_is_learnt_is_made_of_what_was_drawn_and_not_of_how_many_records_there_are(method, label, monkeypatch):
    """Other people, twice as many, and the same draws: the exact number in the place of the bought one was told."""
    outcomes, budget = [], Budget(60, "1e-4")
    drawing = [
        module
        for name, module in sys.modules.items()
        if name.startswith("core.models.") and "add_noise" in vars(module)
    ]

    def noted(*given):
        outcomes.append(add_noise(*given))
        return outcomes[-1].copy()

    def learnt(records, seed, draw):
        for module in drawing:
            monkeypatch.setattr(module, "add_noise", draw)
        made = trainer_of(method, PLANE.without("kind") if label == "y" else THREE, label)
        people = {
            name: one for name, one in (plane if label == "y" else three)(records).items() if name in made.domain.names
        }
        return made.fit(open_source(people), budget, noise_source=SeededSource(seed))

    first = learnt(2_000, 1, noted)
    assert outcomes
    assert learnt(4_000, 2, lambda *given: outcomes.pop(0)).to_dict() == first.to_dict() and not outcomes


@pytest.mark.deep
def test_the_method_that_gets_most_right_of_reference_records_is_taken():
    """Solving pays where there is little noise; a descent has the least of it for many coordinates."""
    assert [one.method for one in offers(PLANE, "kind", Budget(1))] == ["objective"]
    assert offers(PLANE, "kind", Budget(1, "1e-6"), curves=0)[0].method == "objective"
    assert offers(PLANE, "kind", Budget(1, "1e-6"))[0].method == "amp"  # with curves there are many, too
    assert offers(WIDE, "kind", Budget("0.1", "1e-6"))[0].method == "descent"
    many = offers(THREE, "kind", Budget("0.1", "1e-6"))
    assert {one.method for one in many} == {"objective", "descent", "amp"}
    assert "amp" not in {one.method for one in offers(THREE, "kind", Budget("0.1", "1e-6"), composable=True)}
    assert all(one.rehearsal and len(one.rehearsal.by_shape) == 3 and "right of public" in one.reason for one in many)


@pytest.mark.deep
def test_a_rehearsal_knows_noise_and_how_many_records_there_are():
    few, many = (rehearse_training(PureLogistic(WIDE, "kind"), Budget("0.1"), count) for count in (2_000, 10**6))
    assert few and many and few.right < many.right - 0.05
    common, least_noise = yardsticks(WIDE, "kind")
    assert common < least_noise - 0.05 and abs(many.right - least_noise) < 0.05
    assert rehearse_training(PureLogistic(HUGE, "kind"), Budget(1), 1_000) is None


def test_a_rehearsal_of_public_points_is_what_the_records_would_be():
    """Noise on two thousand records, and a tenth of it on two hundred that stand for ten each: coefficients alike."""
    task = PureLogistic(PLANE, "kind")
    units, codes = task.gather(open_source(plane(200)), task.unit)
    noisy = [
        task.rehearsed(units, codes, Budget(1), Fraction(1, 10), SeededSource(seed)).rows[0]
        for seed in range(draws(8, 60))
    ]
    ten = open_source({name: np.tile(values, 10) for name, values in plane(200).items()})
    real = [task.fit(ten, Budget(1), noise_source=SeededSource(seed)).rows[0] for seed in range(len(noisy))]
    spread = np.std(real, axis=0) / 2.0**20
    assert np.abs(np.mean(noisy, axis=0) - np.mean(real, axis=0)).max() / 2.0**20 < 5 * spread.max()
    # Under one seed the noise is the same but for its length, and so is what it does.
    assert np.array(noisy) / 2.0**20 == pytest.approx(np.array(real) / 2.0**20, abs=1e-4)


@pytest.mark.few(1)
@pytest.mark.parametrize(("method", "noise"), crossed(tuple(METHODS), (SystemSource(), SeededSource(1))))
def test_a_rehearsed_model_is_never_private_whatever_its_noise_is_drawn_from(method, noise, tmp_path):
    """Its noise is shorter than the promise asks, so no file of it may look as if it kept one."""
    trainer, budget = trainer_of(method, PLANE, "kind"), promise(method, 1)
    units, codes = trainer.gather(open_source(plane(60)), trainer.unit)
    model = trainer.rehearsed(units, codes, budget, Fraction(1, 10), noise)
    assert not model.private
    for write in (model.to_bytes, lambda: model.save(tmp_path / "model.json")):
        with pytest.raises(RequestError, match="protects nobody"):
            write()
    assert not list(tmp_path.iterdir())
    again = load_model(model.to_bytes(teaching=True))
    said = " ".join(again.card())
    assert not again.private and "keeps no promise" in said and "ε" not in said and trainer.theorem not in said


@pytest.mark.thorough
def test_a_curve_rises_with_epsilon():
    curve = forecast_curve(WIDE, "kind", (Budget("0.01"), Budget(10)))
    assert [budget.epsilon for budget, _ in curve] == [Decimal("0.01"), 10]
    assert curve[0][1].rehearsal.right < curve[1][1].rehearsal.right


def test_a_delta_takes_nothing_from_the_pure_method():
    pure, other = (PureLogistic(PLANE, "kind").perturbation(Budget(1, delta)).rate for delta in (0, "1e-6"))
    assert pure == other == 1
    model = PureLogistic(THREE, "kind").fit(open_source(three()), Budget(20, "1e-6"))
    assert model.rows.shape == (3, 3)


def test_a_ledger_pays_first(tmp_path):
    book = Ledger(str(tmp_path / "ledger.sqlite"))
    book.register("people", 1, 0)
    train(plane(30), "kind", PLANE, Budget("0.75"), ledger=book, dataset="people")
    with pytest.raises(BudgetError):
        train(plane(30), "kind", PLANE, Budget("0.75"), ledger=book, dataset="people")
    with pytest.raises(RequestError, match="no method 'tree'"):
        train(plane(30), "kind", PLANE, Budget(1), "tree")


@pytest.mark.deep
def test_the_commands_train_and_ask(command, tmp_path):  # noqa: F811
    pd.DataFrame(plane()).to_csv(tmp_path / "people.csv", index=False)
    said = ("--bounds", "x=-4:4", "--bounds", "y=0:8", "--categories", "kind=no,yes", "--target", "kind")
    made = command("train", "people.csv", *said, "--epsilon", "5", "--out", "model.json")
    assert made.exit_code == 0 and "The method is objective" in made.output, made.output
    (tmp_path / "asked.csv").write_text("x,y\n-4,8\n4,0\n")
    asked = command("predict", "model.json", "asked.csv", "--out", "answers.csv")
    assert asked.exit_code == 0, asked.output
    answers = pd.read_csv(tmp_path / "answers.csv")
    assert answers.predicted.tolist() == ["no", "yes"]
    model = load_model(tmp_path / "model.json")
    assert np.allclose(answers["probability of yes"], model.probabilities({"x": [-4.0, 4.0], "y": [8.0, 0.0]})[:, 1])
    assert "intercept" not in command("predict", "model.json", "--coefficients").stdout
    assert "as QUERIES" in refused(command("predict", "model.json"))
    assert "nothing was spent" in refused(
        command("train", "people.csv", *said[:-1], "z", "--epsilon", "1", "--out", "b.json")
    )


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_noise_of_every_method_with_tables_hides_all_records_of_a_person(relation):
    """Three records move a table three times as far as one, and its square nine times."""
    budget, looked = Budget(1, "1e-6", relation), 0
    for methods, label in ((METHODS, "kind"), (NUMBER_METHODS, "y")):
        for name in methods:
            if not hasattr(methods[name], "_tables") or name == "dp-sgd":  # which takes one record a person alone
                continue
            one, three = (methods[name](replace(PLANE, unit=PrivacyUnit("id", most)), label) for most in (1, 3))
            for (moved, share), (further, part) in zip(one._tables(budget), three._tables(budget), strict=True):
                assert share == part and further.l1 == 3 * moved.l1 and further.l2_squared == 9 * moved.l2_squared, name
                looked += 1
    assert looked > 100


def test_a_number_of_records_is_no_public_fact_where_one_may_be_left_out():
    """Replaced by one that misses a value, a record is gone: its number is bought, or must be said."""
    kept, left_out = PLANE, replace(PLANE, missing="drop")
    for relation, domain, private in (
        (Neighbours.REPLACE_ONE, kept, False),
        (Neighbours.REPLACE_ONE, left_out, True),
        (Neighbours.ADD_REMOVE, kept, True),
    ):
        assert METHODS["descent"](domain, "kind").counts(relation) == private
        one = ObjectivePerturbation(domain, "kind", regularisation=0.1)
        with pytest.raises(RequestError, match="public number of records") if private else nullcontext():
            one.cost(Budget(1, 0, relation))


@pytest.mark.parametrize("columns", [2, 4, 6])
def test_the_mean_of_everyone_is_not_taken_for_what_others_say_whatever_the_number_of_columns(columns):
    """Of two columns, and six, reference records had nothing to be learnt: one that equals another got the mean."""
    domain = Domain.of(**{f"c{place}": (0, 1) for place in range(columns)})
    last = f"c{columns - 1}"
    for budget in (Budget(1), Budget(1, "1e-6")):
        first = offers(domain, last, budget, composable=True, records=10_000, curves=0)[0]
        assert first.method != "mean" and first.rehearsal.right > 0.25
    assert 0.3 < yardsticks(domain, last)[1] < 0.6


def test_a_model_of_columns_that_were_found_promises_by_what_was_trained_and_not_by_what_was_expected(monkeypatch):
    """Gaussian noise fits into the promise that finding out began; what a bought count chooses may be pure, and not."""
    reserve = Reserve(Budget(1, "1e-6"), Fraction(1, 10))
    left = replace(reserve.later, epsilon=rounded_down(reserve.later.epsilon))
    methods = {"descent": 10_000.0, "objective": 300.0}

    def chosen_by_records(domain, label, budget, *more, records, **facts):
        name = min(methods, key=lambda method: abs(methods[method] - records))
        trainer = trainer_of(name, domain, label).for_records(budget, records)
        return [Offer(trainer, trainer.noise(budget))]

    monkeypatch.setattr(training, "offers", chosen_by_records)
    apart = left.epsilon + reserve.first_cost.epsilon
    for records, promised in ((None, apart), (10_000, 1)):
        plan = training_plan(PLANE, "kind", left, records=records, paid=(reserve.first_cost,), within=reserve.whole)
        model = train_by(plan, open_source(plane(300)))
        assert model.budget.epsilon == promised and model.budget.delta >= reserve.whole.delta


def test_a_model_of_columns_that_python_found_promises_what_that_cost():
    """A declaration said it to commands and to the page, and `train` had no word for it."""
    cost = Cost((PureParts(Fraction(1, 2)),), Decimal("0.5"))
    domain = Domain.of(x=(0, 1), y=["a", "b"])
    records = pd.DataFrame({"x": [0.1, 0.9] * 30, "y": ["a", "b"] * 30})
    model = train(records, "y", domain, Budget(1), "objective", records=60, paid=paid_text([(cost, Budget(9))]))
    assert model.budget.epsilon == Decimal("1.5")
