"""Training in one call: the method by its noise, who pays, and the commands."""

import json

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, Ledger, load_model, train
from core.errors import BudgetError, RequestError
from core.models.pure import PureLogistic
from core.models.training import METHODS, offers
from core.sources import open_source
from tests.cli.conftest import command, ledger, refused  # noqa: F401 (fixtures)
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three

WIDE = Domain.of(**{f"x{place}": (0, 1) for place in range(60)}, kind=["no", "yes"])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_a_model_that_predicts(method):
    budget = Budget(6) if method == "objective" else Budget(6, "1e-4")
    model = train(plane(), "kind", PLANE, budget, method)
    assert model.codes({"x": [-4.0, 4.0], "y": [8.0, 0.0]}).tolist() == [0, 1]
    assert model.to_dict() == type(model).from_dict(json.loads(model.to_bytes())).to_dict()


def test_the_method_of_the_least_noise_is_taken():
    """Pure noise is the shorter one for few coordinates, Gaussian noise for many."""
    assert [one.method for one in offers(PLANE, "kind", Budget(1))] == ["objective"]
    assert offers(PLANE, "kind", Budget(1, "1e-6"))[0].method == "objective"
    assert offers(WIDE, "kind", Budget(1, "1e-6"))[0].method == "amp"
    assert offers(WIDE, "kind", Budget(1, "1e-6"), composable=True)[0].method == "descent"
    many = offers(THREE, "kind", Budget("0.1", "1e-6"))
    assert [one.noise for one in many] == sorted(one.noise for one in many) and len(many) == 3


def test_a_delta_takes_nothing_from_the_pure_method():
    pure, other = (PureLogistic(PLANE, "kind").rate(Budget(1, delta)) for delta in (0, "1e-6"))
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
        command("train", "people.csv", *said[:-1], "x", "--epsilon", "1", "--out", "b.json")
    )
