"""Test files: what is right, how far off, whether probabilities mean what they say, and probabilities made to fit."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from core import Budget, load_model, train
from core.errors import RequestError
from core.figures.class_figures import confusion_figure, confusion_in_words
from core.figures.model_figures import numbers_figure, numbers_in_words, reliability_figure, reliability_in_words
from core.models.judging import calibrated, calibrated_reliability, judge_classes, judge_numbers, read_test, reliability
from core.models.training import trainer_of
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.cli.conftest import command, ledger, refused  # noqa: F401 (fixtures)
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three
from tests.models.test_numbers import LINE, line


@cache
def seeded(records, count, label, domain):
    """A model whose noise is always the same."""
    method = "objective" if label == "kind" else "products"
    return trainer_of(method, domain, label).fit(open_source(records(count)), Budget(8), noise_source=SeededSource(1))


def of_classes():
    return seeded(plane, 600, "kind", PLANE)


def of_numbers():
    return seeded(line, 4_000, "y", LINE)


def test_what_is_right_is_counted():
    model = of_classes()
    frame = plane(300)
    tested = read_test(model, open_source(frame))
    found = judge_classes(model, tested)
    said = np.array(model.categories)[model.codes(frame)]
    assert float(found.confusion.accuracy.estimate) == pytest.approx(np.mean(said == np.array(frame["kind"])))
    table = pd.crosstab(pd.Series(frame["kind"]), pd.Series(said)).reindex(["no", "yes"])[["no", "yes"]]
    assert np.array_equal(found.confusion.counts[:, :2], table)
    assert found.common == max(np.mean(np.array(frame["kind"]) == kind) for kind in ("no", "yes"))
    assert len(confusion_figure(found.confusion).data) == 1 and "know" not in confusion_in_words(found.confusion)


def test_a_record_that_misses_something_is_left_out_as_in_training():
    frame = pd.DataFrame(line(100))
    frame.loc[::10, "x"] = np.nan
    model = of_numbers()
    tested = read_test(model, open_source(frame))
    assert (len(tested.truth), tested.left_out) == (90, 10)
    with pytest.raises(RequestError, match="fewer than 2 records"):
        read_test(model, open_source(frame.iloc[:1]))
    with pytest.raises(RequestError, match="town"):
        read_test(model, open_source(frame.drop(columns="town")))


def test_numbers_are_judged_in_their_own_unit():
    frame = line(1_000)
    model = of_numbers()
    found = judge_numbers(model, read_test(model, open_source(frame)))
    error = model.numbers(frame) - frame["y"]
    expected = (np.sqrt(np.mean(error**2)), np.abs(error).mean(), error.mean(), frame["y"].std())
    assert (found.typical, found.absolute, found.above, found.of_mean) == pytest.approx(expected, abs=1e-6)
    assert found.explained == pytest.approx(1 - np.mean(error**2) / frame["y"].var(), abs=1e-6)
    assert np.abs(found.predicted - found.true).max() < 0.3 and (found.low < found.high).all()
    assert len(numbers_figure(found, "y").data) == 2 and "lowest predictions" in numbers_in_words(found, "y")


def test_reliability_is_what_a_table_of_answers_says():
    shares = np.array([[0.95, 0.05], [0.95, 0.05], [0.45, 0.55], [0.0, 1.0]])
    found = reliability(shares, np.array([0, 1, 1, 1]))
    assert found.said == pytest.approx([0.55, (0.95 + 0.95 + 1.0) / 3])
    assert found.right.estimate == pytest.approx([1.0, 2 / 3]) and found.counts.tolist() == [1, 3]
    assert found.off == pytest.approx((0.45 + abs(2.9 - 2)) / 4)
    assert found.log_loss == pytest.approx(-np.log([0.95, 0.05, 0.55, 1.0]).mean())


@pytest.mark.parametrize(
    ("records", "count", "domain"), [(plane, 600, PLANE), (three, 1_000, THREE)], ids=["two", "three"]
)
def test_scores_that_are_too_bold_or_shifted_are_put_right(records, count, domain):
    """A model whose scores were trebled and moved says again what is true, and no answer of equal shifts changes."""
    model, frame = seeded(records, count, "kind", domain), records(3_000)
    rows = model.rows.copy()
    rows[0, 0] += 1 << 20
    spoilt = replace(model, scale=3 * model.scale, rows=rows)
    tested = read_test(spoilt, open_source(frame))
    before, again = judge_classes(spoilt, tested).reliability, calibrated(spoilt, tested)
    after = judge_classes(again, read_test(again, open_source(frame))).reliability
    honest = calibrated_reliability(spoilt, tested)
    assert after.off < before.off / 2 and honest.off < before.off / 2 and after.log_loss < before.log_loss
    assert honest.log_loss == pytest.approx(after.log_loss, rel=0.1)
    assert "made to fit 3000 public records" in " ".join(again.card()) and again.budget == model.budget
    assert load_model(again.to_bytes(teaching=True)).to_dict() == again.to_dict()
    picture = reliability_figure(before, honest)
    assert len(picture.data) == 3 and "Where the model says" in reliability_in_words(before)


def test_without_a_public_record_nothing_would_change():
    """The weight of one record is on what was there: two that say little move it little."""
    model = of_classes()
    tested = read_test(model, open_source({name: values[:2] for name, values in plane(2).items()}))
    again = calibrated(model, tested)
    assert 0.2 < again.scale / model.scale < 5


@pytest.mark.thorough
def test_the_command_judges_and_fits(command, tmp_path):  # noqa: F811
    train(plane(), "kind", PLANE, Budget(8)).save(tmp_path / "model.json")
    train(line(), "y", LINE, Budget(8)).save(tmp_path / "numbers.json")
    pd.DataFrame(plane(200)).to_csv(tmp_path / "public.csv", index=False)
    pd.DataFrame(line(200)).to_csv(tmp_path / "line.csv", index=False)
    said = command("judge", "model.json", "public.csv", "--fit", "fitted.json").output
    assert "It is right in" in said and "Where the model says" in said and "200 public records" in said
    assert "made to fit" in " ".join(load_model(tmp_path / "fitted.json").card())
    assert "typically" in command("judge", "numbers.json", "line.csv").output
    assert "Only a model of classes" in refused(command("judge", "numbers.json", "line.csv", "--fit", "x.json"))
