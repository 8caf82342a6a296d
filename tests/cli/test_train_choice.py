"""`train --method choose`: one promise, and a file of the kind that was chosen."""

import numpy as np
import pytest

from core import load
from core.models.contest.entrants import Logistic, NearestMeans
from core.models.contest.prospects import Prospect
from core.models.opening import load_model
from core.privacy.ledger.ledger import Ledger

from .conftest import people

PROMISE = (
    "--categories",
    "side=in,out",
    "--target",
    "side",
    "--epsilon",
    "2",
    "--records",
    "800",
    "--method",
    "choose",
)


@pytest.mark.parametrize(
    ("entrants", "ending"), [((Logistic,), "json"), ((NearestMeans,), "npz"), ((NearestMeans, Logistic), "")]
)
def test_what_was_chosen_is_written_with_the_ending_of_its_kind(
    command, tmp_path, ledger, monkeypatch, entrants, ending
):
    def worth(known, budget, records, spread):
        made = tuple(kind(known[0].domain, known[0].label) for kind in entrants)
        return Prospect(made, 0.9, tuple((one, 0.9) for one in made))

    monkeypatch.setattr("core.models.contest.choice.prospect", worth)
    frame = people(800)
    frame["side"] = np.where(frame.x > 5, "out", "in")
    frame.drop(columns="id").to_csv(tmp_path / "sides.csv", index=False)
    said = command("train", "sides.csv", "--bounds", "x=0:10", "--bounds", "y=0:10", *PROMISE, "--out", "sides")
    assert said.exit_code == 0, said.output
    (made,) = [path for path in tmp_path.glob("sides.*") if path.suffix in (".npz", ".json")]
    assert not ending or made.suffix == f".{ending}"
    assert f"{made.name} QUERIES" in said.output
    assert ("chosen by records held out" in said.output) == (len(entrants) == 2)
    assert Ledger(ledger).status("sides").spent == 2 and len(Ledger(ledger).status("sides").releases) == 1
    asks = ("classify", "out") if made.suffix == ".npz" else ("predict", "out")
    answer = command(asks[0], made.name, "sides.csv")
    assert answer.exit_code == 0 and asks[1] in answer.output
    assert load(made).privacy.epsilon == 2 if made.suffix == ".npz" else load_model(made).budget.epsilon == 2


def test_nothing_is_spent_where_a_file_of_either_kind_is_in_the_way(command, tmp_path, source, ledger):
    (tmp_path / "sides.json").write_text("{}")
    said = command("train", source, "--bounds", "x=0:10", *PROMISE, "--out", "sides")
    assert said.exit_code == 2 and "sides.json" in said.output and not ledger.exists()
