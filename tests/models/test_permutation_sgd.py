"""Gradient steps over a permutation: how far a replaced record moves their end, and the same by a slow reference."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from core import Budget, load_model
from core.errors import RequestError
from core.figures.share.shared_page import share_html
from core.models import permutation_sgd
from core.models.judging import calibrated, read_test
from core.models.model_file import BITS, KNOWN_ORDER
from core.models.permutation_sgd import ROUNDING, PermutationSGD, Walk
from core.privacy.noise.randomness import SeededSource, hidden_order
from core.sources import open_source
from tests.cli.conftest import command, ledger  # noqa: F401 (fixtures)
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three

REPLACED = Budget(5, "1e-4", "replace_one")
OLD = Path(__file__).parents[1] / "known_releases" / "permutation-1.model.json"


def walks(records: np.ndarray, apart: float, passes: int, batch: int) -> np.ndarray:
    method = PermutationSGD(PLANE, "kind", passes=passes, batch=batch)
    return Walk.of(method, len(records), apart).end(records)


@pytest.mark.few(2)
@pytest.mark.parametrize("apart", [0.02, 0.5, 3.0])
def test_no_replaced_record_moves_the_end_further_than_allowed(apart):
    """Wherever it is in the order: among records of one kind, of both, and of none, one that says their opposite."""
    random, longest = np.random.default_rng(1), 0.0
    mixed = random.normal(size=(40, 3))
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    same = np.tile([0.6, 0.8, 0.0], (40, 1))
    for records in (mixed, same, np.zeros((40, 3))):
        for place in (0, 7, 39):
            for passes, batch in ((1, 1), (3, 4), (5, 9)):
                other = records.copy()
                records[place], other[place] = [0.6, 0.8, 0.0], [-0.6, -0.8, 0.0]
                ends = [walks(one, apart, passes, batch) for one in (records, other)]
                longest = max(longest, float(np.linalg.norm(ends[0] - ends[1])))
    assert 0.3 * apart < longest <= apart - ROUNDING


@pytest.mark.parametrize(("records", "batch"), [(40, 9), (7, 2), (3, 50), (1999, 50)])
def test_steps_are_as_short_as_the_shortest_batch_of_records_that_leave_a_rest_needs(records, batch):
    """A record counts most where it shares a batch with the fewest."""
    method, apart = PermutationSGD(PLANE, "kind", passes=3, batch=batch), 0.02
    walk = Walk.of(method, records, apart)
    fewest = min(map(len, np.array_split(np.arange(records), walk.batches)))
    assert fewest >= min(batch, records) and 2 * 3 * walk.rate / fewest <= apart - ROUNDING


def test_the_steps_are_those_of_the_textbook():
    records = np.random.default_rng(2).normal(size=(23, 3)) / 4
    method = PermutationSGD(PLANE, "kind", passes=3, batch=5)
    walk, place = Walk.of(method, 23, 0.5), np.zeros(3)
    for _ in range(3):
        for batch in np.array_split(records, 4):
            place = place + walk.rate * (expit(-batch @ place)[:, None] * batch).mean(axis=0)
    assert walk.end(records) == pytest.approx(place, rel=1e-6) and np.abs(place).max() > 0.01


def test_a_fit_predicts_with_noise_of_the_deviation_that_was_asked_for():
    task = PermutationSGD(PLANE, "kind", deviation=0.1)
    model = task.fit(open_source(plane(3_000)), REPLACED, noise_source=SeededSource(1))
    assert model.codes({"x": [-4.0, 4.0], "y": [8.0, 0.0]}).tolist() == [0, 1]
    deviation = float(task._planned(REPLACED).noise.variance) ** 0.5 / 2**20
    assert 0.099 < deviation < 0.101 and task.cost(REPLACED).delta == REPLACED.delta


def test_a_value_that_moves_records_in_a_sorted_file_leaves_all_others_in_their_batches(monkeypatch):
    """Draws belong to records, as in the proof: the one that replaces another has that one's, wherever it stands."""
    first = pd.DataFrame(plane(2_000)).sort_values("x", ignore_index=True)
    first["draw"] = np.random.default_rng(1).permutation(2_000)
    last = first.copy()
    last.loc[0, ["x", "kind"]] = 3.999, "no" if first.kind[0] == "yes" else "yes"
    last = last.sort_values("x", ignore_index=True)
    task, walked, ends, end = PermutationSGD(PLANE, "kind"), [], [], Walk.end

    def noted(walk: Walk, records: np.ndarray) -> np.ndarray:
        walked.append(records)
        ends.append(end(walk, records))
        return ends[-1]

    monkeypatch.setattr(Walk, "end", noted)
    for frame in (first, last):
        monkeypatch.setattr(permutation_sgd, "hidden_order", lambda *given, drawn=frame.draw: np.argsort(drawn))
        task.fit(open_source(frame[["x", "y", "kind"]]), REPLACED)
    assert np.any(walked[0] != walked[1], axis=1).sum() == 1
    assert 0 < np.linalg.norm(ends[0] - ends[1]) <= task._planned(REPLACED).moved / 2**BITS


def test_every_fit_draws_an_order_which_all_its_problems_share_and_no_file_tells(monkeypatch):
    drawn, walked = [], []
    monkeypatch.setattr(Walk, "end", lambda walk, records: walked.append(np.abs(records)) or records[0])
    monkeypatch.setattr(permutation_sgd, "hidden_order", lambda *given: drawn.append(hidden_order(*given)) or drawn[-1])
    task = PermutationSGD(THREE, "kind")
    models = [task.fit(open_source(three(50)), REPLACED) for _ in range(2)]
    assert len(drawn) == 2 and drawn[0].tolist() != drawn[1].tolist() and len(walked) == 6
    assert all(np.array_equal(walked[0], one) for one in walked[1:3]) and not np.array_equal(walked[0], walked[3])
    assert {model.details["order"] for model in models} == {"hidden"} and not models[0].warnings


def test_a_model_of_a_version_that_took_a_known_order_says_so():
    model = load_model(OLD)
    assert model.warnings == (KNOWN_ORDER,) and model.private and model.budget == Budget(1, "1e-6", "replace_one")
    assert KNOWN_ORDER in model.card()[1] and model.to_bytes() == OLD.read_bytes()
    fitted = calibrated(model, read_test(model, open_source(plane(200))))
    assert load_model(fitted.to_bytes()).warnings == (KNOWN_ORDER,)
    page = share_html(model, model.to_bytes(), "model.json")
    assert f"<p class='warning'>{KNOWN_ORDER}</p>" in page and "coin-flip" not in page


@pytest.mark.deep
def test_commands_that_open_such_a_model_say_so(command, tmp_path):  # noqa: F811
    pd.DataFrame(plane(200)).to_csv(tmp_path / "public.csv", index=False)
    for said in (("judge", OLD, "public.csv"), ("predict", OLD, "public.csv"), ("predict", OLD, "--coefficients")):
        assert command(*said).stderr.startswith(KNOWN_ORDER)


def test_what_the_proof_is_not_about_is_refused():
    task = PermutationSGD(PLANE, "kind")
    with pytest.raises(RequestError, match="replaced records alone"):
        task.cost(Budget(5, "1e-4"))
    with pytest.raises(RequestError, match="delta above 0"):
        task.cost(Budget(5, 0, "replace_one"))
    with pytest.raises(RequestError, match="too small"):
        PermutationSGD(PLANE, "kind", deviation=0.001).cost(Budget("0.0001", "1e-9", "replace_one"))


def test_batches_whose_rounding_is_not_known_are_refused_before_paying(monkeypatch):
    paid: list[object] = []
    monkeypatch.setattr(permutation_sgd, "LARGEST_BATCH", 2)
    with pytest.raises(RequestError, match="With 10 passes at most 2,000 records"):
        PermutationSGD(PLANE, "kind").fit(open_source(plane(2_001)), REPLACED, spend=paid.append)
    assert not paid
