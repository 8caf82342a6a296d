"""Releases of several questions: one reading, one price, one file, and parts that are releases of their own."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from core import (
    Budget,
    Classes,
    Distance,
    Domain,
    Histogram,
    Ledger,
    Moments,
    PrivacyUnit,
    Race,
    ReleaseFileError,
    RequestError,
    kernels,
    load,
    release,
)
from core.analysis.modes import find_modes
from core.figures.label import describe, privacy_label, shares, to_json
from core.figures.share.page_sections import label_html
from core.privacy.choosing.private_bounds import Grid
from core.privacy.noise.randomness import SeededSource
from core.releases.bounds_and_centre import BoundsPurchase, CentrePurchase
from core.releases.engine import resuming
from core.releases.engine.building import ExactTable, TableBuilder
from core.releases.job import Job
from core.releases.kind import kind_of
from core.releases.seal import seal
from core.sketches.mechanism_spec import PublicInputs
from core.sketches.part import Part
from core.sketches.parts import MAX_PARTS, Parts
from core.sketches.plan import plan_parts
from core.sketches.registry import card
from core.sources import open_source
from tests.depth import draws
from tests.releases.paying import Paying
from tests.releases_for_tests import manifest_in, with_manifest

ROWS = 3000
BOTH = Domain.of(age=(0, 100), pay=(0, 9000), scale="box")
TOLD = Domain.of(age=(0, 100), pay=(0, 9000), sex=["f", "m"], scale="box")
SQUARED, FAR, DENSE, LIKE = "squared distance", "how far ages are", "density of age and pay", "like whom"


def sized(sketch):
    return sketch.sized_for(Budget(1), ROWS)


def questions() -> list[Part]:
    return [
        Part(sized(Histogram(BOTH, kernels.Gaussian(0.2))), DENSE),
        Part(sized(Distance(Domain.of(age=(0, 100)))), FAR, weight=2.0),
        Part(Classes(TOLD, "sex", sized(Histogram(BOTH, kernels.Gaussian(0.3)))), LIKE),
        Part(sized(Moments(BOTH)), SQUARED),
    ]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"age": np.where(random.random(ROWS) < 0.6, 30.0, 60.0) + 5 * random.standard_normal(ROWS)})
    frame["pay"] = np.clip(random.gamma(4, 600, ROWS), 0, 9000)
    frame["sex"] = random.choice(["f", "m"], ROWS, p=[0.4, 0.6])
    frame.loc[::10, "pay"] = np.nan
    return frame


@pytest.fixture(scope="module")
def made(frame):
    return release(questions(), frame, Budget(4, "1e-6"), records=ROWS)


def test_one_entry_in_the_ledger_and_one_file(frame, tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    made = release(questions(), frame, Budget(1), ledger=ledger, dataset="people", records=ROWS)
    (entry,) = ledger.status("people").releases
    assert entry.cost.pure_epsilon == 1 and entry.note["mechanism"] == "parts"
    assert [part["name"] for part in entry.note["parameters"]["members"]] == [DENSE, FAR, LIKE, SQUARED]
    assert ledger.status("people").left == 0
    assert sum(shares(made)) == pytest.approx(0.98)


@pytest.mark.thorough
def test_what_cannot_be_kept_is_refused_before_anything_is_read():
    def never(cost):
        raise AssertionError("paid")

    class Unread:
        def __getattr__(self, name):
            raise AssertionError("read")

    facts = PublicInputs(Domain.of(age=(0, 100)), Budget(1, "1e-6"), kernels.Gaussian(9.0), size=4)
    with pytest.raises(RequestError, match="delta"):
        Job(kind_of(Parts.of([*questions(), card("pfda").make(facts)]), Budget(1), ROWS), Unread(), Paying(never)).run()
    for bought in ({"bounds": BoundsPurchase({"age": Grid(0, 1e6)})}, {"centre": CentrePurchase()}):
        with pytest.raises(RequestError, match="one question"):
            kind_of(Parts.of(questions()), Budget(1), ROWS, **bought)


@pytest.mark.thorough
def test_every_part_is_asked_as_a_release_of_its_own(made, frame):
    whole = frame.dropna()
    parts = made.parts
    assert list(parts) == [DENSE, FAR, LIKE, SQUARED] and all(part.privacy.epsilon == 4 for part in parts.values())
    places = pd.DataFrame({"age": [30.0, 45.0, 60.0], "pay": [2400.0, 2400.0, 2000.0]})
    for name, people in ((DENSE, whole), (FAR, frame), (SQUARED, whole)):
        part = parts[name]
        exact = part.sketch.exact(
            part.domain.encode_queries(places, part.sketch.metric),
            part.domain.encode_queries(people, part.sketch.metric),
        )
        answers = part.answer(places)
        # Eight deviations of the noise, beside what a grid adds: out by chance once in 1e14.
        noise = np.sqrt(part.sketch.noise_variance(part.privacy.counter_variance))
        assert (np.abs(answers.estimate - exact) < 8 * noise + 0.02 * exact).all()
        assert part.records == pytest.approx(len(people), abs=8 * part.records_error + 1)
    women = parts[LIKE].of_class("f")
    assert women.records == pytest.approx((whole.sex == "f").sum(), abs=8 * women.records_error + 1)
    assert len(find_modes(parts[DENSE])) >= 1
    assert made.records == pytest.approx(ROWS, abs=8 * made.records_error + 1)


def test_the_whole_says_which_parts_can_be_asked(made):
    for ask in (lambda: made.estimate({"age": [1.0], "pay": [2.0]}), lambda: made.answer_points(np.zeros((1, 2)))):
        with pytest.raises(RequestError, match=re.escape(f"'{FAR}', '{LIKE}'")):
            ask()
    with pytest.raises(RequestError, match="tells no classes"):
        made.of_class("f")


def test_a_file_gives_everything_back_and_a_part_is_a_file_too(made, tmp_path):
    path = tmp_path / "several.npz"
    made.save(path)
    again = load(path)
    assert again == made and again.privacy == made.privacy and list(again.parts) == list(made.parts)
    with np.load(path, allow_pickle=False) as arrays:
        for number, part in enumerate(made.parts.values(), 1):
            assert np.array_equal(arrays[f"table_{number}"], part.counters)
        manifest = json.loads(str(arrays["manifest"]))
    assert manifest["format_version"] == 3 and manifest["privacy"]["tables"] == 4
    for part in again.parts.values():
        alone = load(part.to_bytes())
        assert alone == part and alone.privacy == part.privacy and not alone.parts
        assert str(alone.privacy.epsilon) == "4"


def test_the_label_names_every_part_and_its_share(made):
    words = " ".join(describe(made))
    assert all(f"“{name}”" in words for name in made.parts)
    facts = to_json(made)
    assert [part["name"] for part in facts["parts"]] == list(made.parts)
    shares = [part["share"] for part in facts["parts"]]
    pure = [
        share for share, noise in zip(shares, made.privacy.noise, strict=False) if "gaussian" not in noise.distribution
    ]
    paid = 1 - sum(pure) if len(pure) < len(shares) else 1  # what numbers of records have a fiftieth of
    assert sum(shares) == pytest.approx(1 - 0.02 * paid)
    page = "".join(label_html(privacy_label(made)))
    assert all(name in page for name in made.parts)
    assert "Classes" not in page


@pytest.mark.thorough
def test_releases_of_parts_are_merged_part_by_part(made, frame):
    other = release(made.sketch, frame, Budget(4, "1e-6"))
    both = made.merged(other)
    assert both.privacy.releases == 2 and both.privacy.overlap_epsilon == 8
    for name, part in both.parts.items():
        assert np.array_equal(part.counters, made.parts[name].counters + other.parts[name].counters)
        assert part.privacy.counter_variance == pytest.approx(2 * made.parts[name].privacy.counter_variance)
    assert load(both.to_bytes()) == both
    with pytest.raises(RequestError, match="same release"):
        made.merged(made)
    with pytest.raises(RequestError, match="same"):
        made.merged(release(questions()[:2], frame, Budget(4, "1e-6"), records=ROWS))


def test_pure_noise_for_some_parts_and_gaussian_noise_for_others(frame):
    """Hashed rows of which a person moves two hundred counters, beside sums of which a person moves four."""
    hashed = Part(Race(BOTH, kernels.Laplacian(0.3), rows=200, width=30, seed=3), "hashed")
    made = release([hashed, Part(sized(Moments(BOTH)), "sums")], frame, Budget(1, "1e-6"), records=ROWS)
    assert [noise.distribution for noise in made.privacy.noise] == ["discrete_gaussian", "rounded_l2"]
    assert load(made.to_bytes()) == made and load(made.parts["sums"].to_bytes()) == made.parts["sums"]
    assert "adds up" in made.privacy.theorem and 0.95 < sum(shares(made)) < 1
    noise = manifest_in(made.to_bytes())["privacy"]["noise"]
    for place in range(2):  # a tenth less noise in either part, and the promise is broken
        less = [dict(one) for one in noise]
        less[place]["parameter"] = str(Fraction(less[place]["parameter"]) * Fraction(9, 10))
        facts = manifest_in(made.to_bytes())
        facts["privacy"]["noise"] = less
        with pytest.raises(ReleaseFileError, match="does not keep the promise"):
            load(with_manifest(made.to_bytes(), facts))


@pytest.mark.few(1)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, "1e-6")], ids=["pure", "gaussian"])
def test_every_part_gets_the_noise_that_was_planned_for_it(budget):
    """The sum of squares of each part's noise against its variance; out by chance once in 1e9."""
    parts = kind_of(Parts.of(questions()), budget, ROWS).sketch
    planned = plan_parts(parts, budget)
    runs = draws(8, 200)
    squares, counters = np.zeros(4), np.array([part.size for part in parts.split(parts.zeros())])
    both = []
    for _ in range(runs):
        made = seal(parts, ExactTable(parts.zeros(), np.zeros(parts.count_shape, np.int64)), budget, noise_source=None)
        squares += [float((part.astype(float) ** 2).sum()) for part in parts.split(made.counters)]
        both.append(made.counters)
    assert len({table.tobytes() for table in both}) == runs
    for square, size, noise in zip(squares, counters, planned.noises, strict=True):
        # Of Laplace noise the square has kurtosis 6: five times the variance of a Gaussian's square, over 2.
        wide = {"discrete_gaussian": 1.0}.get(noise.distribution, 2.5 * (noise.block or 1))
        freedom = runs * size / wide
        ratio = square / (runs * size * noise.variance) * freedom
        assert chi2.ppf(5e-10, freedom) < ratio < chi2.isf(5e-10, freedom)


@pytest.mark.thorough
def test_a_reading_of_parts_goes_on_where_it_was_stopped(frame, tmp_path, monkeypatch):
    monkeypatch.setattr("core.releases.engine.building.BATCH_ROWS", 500)
    monkeypatch.setattr(resuming, "SECONDS", 0.0)
    monkeypatch.setattr(resuming, "LARGEST_SHARE", np.inf)
    path, folder = tmp_path / "people.parquet", tmp_path / "kept"
    frame.to_parquet(path)
    members = [*questions()[:2], Part(Race(BOTH, kernels.Laplacian(0.3), rows=8, width=40, seed=3), "hashed")]

    def stopped(rows):
        if rows == 1500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(members, path, Budget(4, "1e-6"), records=ROWS, checkpoints=folder, progress=stopped)
    assert list(folder.iterdir())
    rows = []
    made = release(members, path, Budget(4, "1e-6"), records=ROWS, checkpoints=folder, progress=rows.append)
    assert rows[0] == 2000 and not folder.exists()
    building = TableBuilder(made.sketch, open_source(path))
    for _ in building:
        pass
    sd = max(noise.variance for noise in made.privacy.noise) ** 0.5
    assert np.abs(made.counters - building.exact.table).max() < 12 * sd


def test_people_with_several_rows_are_chosen_once_for_all_parts():
    unit = PrivacyUnit("who", 2)
    frame = pd.DataFrame({"who": np.repeat(np.arange(50), 10), "x": np.tile(np.arange(10.0), 50)})
    frame["y"] = frame["x"]
    one, other = (Domain.of(**{name: (-0.5, 9.5)}, unit=unit) for name in "xy")
    parts = Parts.of(
        [
            Part(Race(each, kernels.Laplacian(0.01), rows=4, width=64, seed=1), each.names[0], noise=1.0)
            for each in (one, other)
        ]
    )
    building = TableBuilder(parts, open_source(frame))
    for _ in building:
        pass
    tables = parts.split(building.exact.table)
    assert np.array_equal(*tables) and building.exact.records.tolist() == [100, 100]


@pytest.mark.thorough
def test_records_are_counted_first_where_a_size_follows_from_their_number(frame, tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    members = [Histogram(BOTH, kernels.Gaussian(0.2)), sized(Distance(Domain.of(age=(0, 100))))]
    made = release(members, frame, Budget(2), ledger=ledger, dataset="people")
    count, table = ledger.status("people").releases
    assert count.cost.epsilon + table.cost.epsilon == 2 == made.privacy.epsilon and ledger.status("people").left == 0
    assert [str(part.privacy.epsilon) for part in made.parts.values()] == ["2", "2"]
    assert load(made.to_bytes()) == made


@pytest.mark.deep
def test_as_many_parts_as_there_may_be():
    """The promise of all of them is short enough for a file, and holds by the bounds that it was calibrated by."""
    domain = Domain.of(x=(0, 1))
    sketches = [
        Race(domain, kernels.Laplacian(0.1), rows=10 + place, width=20, seed=place)
        if place % 2
        else sized(Moments(domain))
        for place in range(MAX_PARTS)
    ]
    members = [Part(sketch, f"p{place}", noise=1 + place / 7) for place, sketch in enumerate(sketches)]
    parts = Parts.of(members)
    for budget in (Budget(1), Budget(1, "1e-6")):
        made = seal(parts, ExactTable(parts.zeros(), np.zeros(parts.count_shape, np.int64)), budget)
        again = load(made.to_bytes())
        assert again == made and len(again.parts) == MAX_PARTS and load(again.parts["p7"].to_bytes())
        assert made.merged(seal(parts, ExactTable(parts.zeros(), np.zeros(parts.count_shape, np.int64)), budget))


@pytest.mark.thorough
def test_seeded_noise_is_no_release(frame):
    made = release(questions(), frame, Budget(1), records=ROWS, noise_source=SeededSource(1))
    assert not made.private and not any(part.private for part in made.parts.values())
    with pytest.raises(RequestError, match="teaching"):
        made.save("nowhere.npz")


@pytest.mark.thorough
def test_forged_files_are_refused(made):
    good = made.to_bytes()

    def forged(**changes):
        manifest = manifest_in(good)
        for path, value in changes.items():
            place = manifest
            *outer, last = path.split("__")
            for name in outer:
                place = place[int(name) if name.isdigit() else name]
            place[last] = value
        with pytest.raises(ReleaseFileError):
            load(with_manifest(good, json.dumps(manifest)))

    noise = manifest_in(good)["privacy"]["noise"]
    forged(privacy__tables=3)
    forged(privacy__tables=True)
    forged(privacy__tables=0)
    forged(privacy__tables=10**9)
    forged(privacy__noise=noise[:3])
    forged(privacy__noise=[noise[1], noise[0], *noise[2:]])
    forged(privacy__noise=[{**noise[0], "parameter": "1"}, *noise[1:]])
    forged(privacy__count_noise=[])
    forged(privacy__count_noise=manifest_in(good)["privacy"]["count_noise"][:1])
    forged(format_version=1)
    forged(format_version=2)
    forged(parameters__members=[])
    forged(parameters__members=manifest_in(good)["parameters"]["members"][:3])
