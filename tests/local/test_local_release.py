import io
from dataclasses import replace

import numpy as np
import pytest

from core.errors import ReleaseFileError, RequestError
from core.local import oracle_choice
from core.local.local_release import LocalRelease, as_arrow, as_reports, counted, is_local, load_local, report_schema
from core.local.oracles.oracle import ORACLES, oracle
from core.local.survey import Survey, parse_survey
from core.privacy.noise.randomness import SeededSource
from core.runtime import archive_writing, archives
from tests.depth import draws

ANSWERS = ("a", "b", "c", "d", "e")


def survey(name: str = "de", epsilon: object = 1) -> Survey:
    return Survey.of("Which?", ANSWERS, name, epsilon)


def released(name: str = "de", people: int = 500, seed: int = 1) -> LocalRelease:
    asked = survey(name) if name != "flh" else FLH
    reports = asked.oracle.privatise(np.arange(people) % 5, SeededSource(seed))
    return LocalRelease.of(asked, asked.oracle.aggregate(reports), 3)


FLH = survey("flh")


@pytest.mark.parametrize("name", ORACLES)
def test_a_file_holds_all_there_is(name):
    made = released(name)
    data = made.to_bytes()
    opened = load_local(data)
    assert is_local(data) and opened.survey == made.survey and opened.refused == 3
    assert opened.table().equals(made.table()) and opened.to_bytes() == data
    both = opened + released(name, 300, seed=2)
    assert both.tally.people == 800 and both.refused == 6
    assert parse_survey(made.survey.text) == made.survey


@pytest.mark.parametrize("name", ORACLES)
def test_reports_go_through_a_column_unchanged(name):
    asked = survey(name)
    reports = asked.oracle.privatise(np.arange(50) % 5, SeededSource(1))
    column = as_arrow(reports, report_schema(asked))
    assert np.array_equal(as_reports(column.slice(7), asked.oracle), reports[7:])
    tally, refused = counted(asked, [reports[:20], reports[20:]])
    assert tally.people == 50 and refused == 0


@pytest.mark.parametrize("name", ORACLES)
def test_no_report_moves_an_answer_further_than_its_reach(name):
    one = oracle(name, 40, "0.8")
    reports = one.privatise(np.arange(40).repeat(20), SeededSource(1))
    down, up = one.reach
    singles = np.array([one.estimate(one.aggregate(report[np.newaxis])) for report in reports[:: draws(20, 1)]])
    assert singles.min() >= down - 1e-9 and singles.max() <= up + 1e-9
    asked = Survey("Q", tuple(map(str, range(40))), one)
    made = LocalRelease.of(asked, one.aggregate(reports), 0)
    lower, higher = made.poisoned(0.1)
    assert lower == pytest.approx(80 * (1 - down)) and higher == pytest.approx(80 * up)
    with pytest.raises(RequestError):
        made.poisoned(1.5)


def with_facts(change: dict) -> bytes:
    made = released()
    with np.load(io.BytesIO(made.to_bytes())) as held:
        facts, table = archives.loads(str(held["manifest"])), held["table"]
    text = archives.dumps(facts | change)
    file = io.BytesIO()
    archive_writing.write_archive(file, {"manifest": np.array(text, dtype=f"<U{len(text)}"), "table": table})
    return file.getvalue()


@pytest.mark.parametrize(
    "change", [{"format": "x"}, {"format_version": 9}, {"people": 0}, {"people": "9"}, {"refused": -1}, {"more": 1}]
)
def test_damaged_files_are_refused(change):
    with pytest.raises(ReleaseFileError):
        load_local(with_facts(change))
    with pytest.raises(RequestError):
        load_local(b"PK nothing")
    assert not is_local(b"nothing") and not is_local(with_facts({"format": "x"}))


def test_counts_of_other_surveys_are_not_added():
    with pytest.raises(RequestError):
        released("de") + released("oue")
    with pytest.raises(RequestError):
        LocalRelease.of(survey(), survey().oracle.zeros(), 4)


def test_surveys_that_cannot_be_are_refused():
    for question, answers in (("", ANSWERS), ("Q", ("a", "a", "b", "c", "d")), ("Q", ("a", "b")), ("Q", ("",) * 5)):
        with pytest.raises(RequestError):
            Survey(question, answers, survey().oracle)


def test_the_recommendation_is_short_and_as_good_as_the_best():
    found = oracle_choice.outlooks(1024, 100_000, 3)
    best = oracle_choice.recommended(found)
    assert best.oracle.name == "pgr" and best.error <= found[0].error * 1.03
    assert oracle_choice.recommended(oracle_choice.outlooks(3, 1_000, 1)).oracle.name == "de"
    assert "with 100,000 people" in oracle_choice.sentence(best)
    few = oracle_choice.outlook(oracle("de", 100, 1), 10)
    assert "nothing but the largest" in oracle_choice.sentence(few)
    with pytest.raises(RequestError):
        oracle_choice.outlooks(100, 1000, 1, most_bits=3)
    with pytest.raises(RequestError):
        oracle_choice.outlook(oracle("de", 9, 1), 0)


@pytest.mark.parametrize("name", ORACLES)
def test_forecasts_are_the_error_that_is_measured(name):
    """Of values that few have: mean squares of 60 values in a few runs, 8 standard deviations of a χ² mean."""
    one, people = oracle(name, 64, 1), 5_000
    forecast, squares = oracle_choice.outlook(one, people).error ** 2, []
    source = SeededSource(4)
    for _ in range(draws(6, 100)):
        estimate = one.estimate(one.aggregate(one.privatise(np.arange(people) % 64, source)))
        squares.append((estimate - people / 64) ** 2)
    assert abs(np.mean(squares) / forecast - 1) < 8 * np.sqrt(2 / np.size(squares)) + 0.05


def test_an_oracle_of_shorter_reports_is_as_good_up_to_three_percent_of_the_variance():
    best = replace(oracle_choice.outlook(oracle("oue", 10, 1), 1_000), error=1.0, bits=9)
    near, far = replace(best, error=1.014, bits=8), replace(best, error=1.016, bits=1)
    assert oracle_choice.recommended([best, near]) == near and oracle_choice.recommended([best, far]) == best
