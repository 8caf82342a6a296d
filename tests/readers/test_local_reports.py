"""The JavaScript reader estimates counted local reports as Python does, to nine digits, by every oracle and way."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from core.local.heavy_hitters import Alphabet
from core.local.local_answers import FoundRelease
from core.local.local_release import LocalRelease
from core.local.oracles.oracle import ORACLES
from core.local.post_processing import WAYS
from core.local.survey import FINDERS, Survey, TextSurvey
from tests.readers.test_javascript_reader import ask, numbers

# By oracle: the number of answers, epsilon and people; few answers and many, a little privacy and hardly any.
MANY = [(3, "0.01", 40), (10, "1", 500), (33, "2.5", 900), (200, "8", 2_000)]


def counted(name: str, answers: int, epsilon: str, people: int) -> LocalRelease:
    survey = Survey.of("Which?", [f"answer {place}" for place in range(answers)], name, epsilon)
    drawn = np.random.default_rng(answers).zipf(1.6, people) % answers
    return LocalRelease.of(survey, survey.oracle.aggregate(survey.oracle.privatise(drawn)), 3)


def same(said: list, release: LocalRelease | FoundRelease, ways: list[str]) -> None:
    for way, found in zip(ways, said, strict=True):
        table = release.table(way)
        for name, theirs in zip(("estimate", "low", "high"), found, strict=True):
            wanted = table[name].to_numpy()
            np.testing.assert_allclose(
                numbers(theirs), wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max(), err_msg=way
            )


@pytest.mark.thorough
def test_local_reports_are_estimated_as_in_python_by_every_oracle_and_every_way(tmp_path):
    made = [counted(name, *facts) for name in ORACLES for facts in MANY]
    paths = [tmp_path / f"{place}.npz" for place in range(len(made))]
    for path, one in zip(paths, made, strict=True):
        one.save(path)
    for one, said in zip(made, ask(*({"file": path, "ways": list(WAYS)} for path in paths)), strict=True):
        same(said, one, list(WAYS))


@pytest.mark.thorough
def test_surveys_of_earlier_versions_are_read_without_their_later_parameters(tmp_path):
    """Of hashing without scattering, and of Hadamard response with the paper's number of blocks."""
    for name, later in (("flh", "scattered"), ("hr", "blocks")):
        one = counted(name, 12, "1.5", 400)
        facts = one.survey.to_dict()
        del facts["oracle"]["parameters"][later]
        survey = Survey.from_dict(json.loads(json.dumps(facts)))
        tally = survey.oracle.aggregate(survey.oracle.privatise(np.arange(400) % 12))
        LocalRelease.of(survey, tally, 0).save(tmp_path / "early.npz")
        (said,) = ask({"file": tmp_path / "early.npz", "ways": ["base"]})
        same(said, LocalRelease.of(survey, tally, 0), ["base"])


def test_found_texts_are_read_as_they_were_found(tmp_path):
    found = pd.DataFrame({"value": ["ab", "c"], "estimate": [40.0, 3.5], "low": [30.5, -2.0], "high": [50.0, 9.0]})
    survey = TextSurvey("Which?", FINDERS["pem"](Alphabet("abc", 3), 1, 2))
    made = FoundRelease(survey, 100, 0, "2026-01-01T00:00:00", "x", 0.9, found)
    made.save(tmp_path / "found.npz")
    (said,) = ask({"file": tmp_path / "found.npz", "ways": ["base-pos"]})
    assert said == [[[40.0, 3.5], [30.5, 0.0], [50.0, 9.0]]]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("steps", "value"),
    [
        (("survey", "oracle", "name"), "constructor"),
        (("survey", "surplus"), "-4"),
        (("survey", "answers"), ["a"]),
        (("survey", "oracle", "parameters", "functions"), 10**9),
        (("format_version",), 7),
        (("people",), 0),
    ],
)
def test_hostile_files_of_reports_are_refused_in_one_sentence(tmp_path, steps, value):
    held = dict(np.load(io.BytesIO(counted("flh", 5, "1", 50).to_bytes()), allow_pickle=False))
    facts = place = json.loads(str(held["manifest"]))
    *keys, last = steps
    for key in keys:
        place = place[key]
    place[last] = value
    np.savez(tmp_path / "a.npz", **held | {"manifest": np.array(json.dumps(facts))})
    (said,) = ask({"file": tmp_path / "a.npz", "ways": ["base"]})
    assert list(said) == ["refused"] and said["refused"].endswith(".")
