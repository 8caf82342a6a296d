"""Files of sketches and of found texts: they hold all there is, and nothing else can be read as one."""

import io

import numpy as np
import pytest

from core.errors import ReleaseFileError, RequestError
from core.local.heavy_hitters import Alphabet
from core.local.local_answers import FoundRelease, SketchRelease
from core.local.local_release import as_arrow, as_reports, counted, is_local, load_local, report_schema
from core.local.survey import FINDERS, SKETCHES, OpenSurvey, TextSurvey, parse_survey, sketch
from core.privacy.noise.randomness import SeededSource
from core.runtime import archive_writing, archives

TOWNS = ["Ulm", "Köln", "Ulm", "Paris"] * 100
SIZES = {"rappor": {"cohorts": 4, "width": 32}}


def open_survey(name: str = "count-min") -> OpenSurvey:
    return OpenSurvey("Which town?", sketch(name, 2, seed=7, **SIZES.get(name, {"rows": 4, "width": 16})))


def asked(name: str = "count-min", seed: int = 1) -> SketchRelease:
    survey = open_survey(name)
    reports = survey.oracle.privatise(survey.keys(TOWNS), SeededSource(seed))
    return SketchRelease.of(survey, survey.oracle.aggregate(reports), 3, ["Ulm", "Paris", "Rome"])


def found(name: str = "pem") -> FoundRelease:
    survey = TextSurvey("Which?", FINDERS[name](Alphabet("abc", 3, seed=1), 4, 1))
    return FoundRelease.of(survey, survey.oracle.privatise(["abc"] * 900 + ["cab"] * 600, SeededSource(1)), 5)


@pytest.mark.parametrize("name", SKETCHES)
def test_a_sketch_comes_back_from_its_file_and_is_asked_about_any_text(name):
    made = asked(name)
    data = made.to_bytes()
    opened = load_local(data)
    assert is_local(data) and isinstance(opened, SketchRelease) and opened.to_bytes() == data
    assert opened.table().equals(made.table()) and opened.table()["value"].tolist() == ["Ulm", "Paris", "Rome"]
    other = opened.asked(["Köln", "Köln"])
    assert other.table()["value"].tolist() == ["Köln"] and other.people == 400
    both = opened + asked(name, seed=2)
    assert both.people == 800 and both.refused == 6 and len(both.candidates) == 3
    assert parse_survey(made.survey.text) == made.survey
    down, up = made.poisoned(0.1)
    low, high = made.survey.oracle.reach
    assert down == pytest.approx(40 * (1 - low)) and up == pytest.approx(40 * high)
    with pytest.raises(RequestError):
        made.table("norm-sub")
    with pytest.raises(RequestError):
        made.alone("median" if name == "rappor" else "mode")


@pytest.mark.parametrize("name", SKETCHES)
def test_reports_of_sketches_go_through_a_column_unchanged(name):
    survey = open_survey(name)
    reports = survey.oracle.privatise(survey.keys(TOWNS[:50]), SeededSource(1))
    column = as_arrow(reports, report_schema(survey))
    assert np.array_equal(as_reports(column.slice(7), survey.oracle), reports[7:])
    tally, refused = counted(survey, [reports[:20], reports[20:]])
    assert tally.people == 50 and refused == 0


@pytest.mark.parametrize("name", FINDERS)
def test_found_texts_come_back_from_their_file(name):
    made = found(name)
    data = made.to_bytes()
    opened = load_local(data)
    assert is_local(data) and isinstance(opened, FoundRelease) and opened.to_bytes() == data
    assert opened.people == 1_500 and opened.refused == 5 and opened.table().equals(made.table())
    assert opened.table()["value"][0] == "abc" and opened.poisoned(0.01)[1] > 15
    with pytest.raises(RequestError, match="search the reports again"):
        opened.table(level=0.9)
    with pytest.raises(RequestError, match="noise hides"):
        FoundRelease(made.survey, 9, 0, "now", "x", 0.95, made.found[:0])


def changed(made, change: dict) -> bytes:
    with np.load(io.BytesIO(made.to_bytes())) as held:
        arrays = {name: held[name] for name in held.files}
    text = archives.dumps(archives.loads(str(arrays["manifest"])) | change)
    file = io.BytesIO()
    archive_writing.write_archive(file, arrays | {"manifest": np.array(text, dtype=f"<U{len(text)}")})
    return file.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        {"format_version": 1},
        {"candidates": "Ulm"},
        {"candidates": [1]},
        {"people": 0},
        {"survey": {}},
        {"survey": open_survey("cms").to_dict() | {"surplus": "1"}},
        {"survey": open_survey("rappor").to_dict()},
        {"more": 1},
    ],
)
def test_damaged_files_of_sketches_are_refused(change):
    with pytest.raises(ReleaseFileError):
        load_local(changed(asked(), change))


@pytest.mark.parametrize(
    "change",
    [
        {"found": []},
        {"found": [["abc", 1, 2, 3]]},
        {"found": [["xyz", 2, 1, 3]]},
        {"found": [["abc", "2", 1, 3]]},
        {"found": [[2, 1, 3]]},
        {"found": [["\ud800", 2, 1, 3]]},
        {"found": {}},
        {"level": 1},
        {"people": 0},
    ],
)
def test_damaged_files_of_found_texts_are_refused(change):
    with pytest.raises(ReleaseFileError):
        load_local(changed(found(), change))


def test_sketches_that_cannot_be_are_refused():
    for name, settings in (("magic", {}), ("rappor", {"rows": 3}), ("cms", {"rows": 1 << 16, "width": 1 << 20})):
        with pytest.raises(RequestError):
            sketch(name, 1, **settings)
    with pytest.raises(RequestError):
        SketchRelease.of(open_survey(), open_survey().oracle.zeros(), 0, ["Ulm"])
    with pytest.raises(RequestError):
        asked() + asked("cms")
