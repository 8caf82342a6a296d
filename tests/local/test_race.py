"""Records reported cell by cell: the promise, the errors that are stated, and releases that are like any other."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core import Domain, Race, kernels, load
from core.errors import ReleaseFileError, RequestError
from core.local.local_race import EXACT, MOST_ROWS, CellReports, forecast_reports, sized
from core.local.oracles.oracle import oracle
from core.local.survey import RecordSurvey, parse_survey
from core.privacy.noise.randomness import SeededSource
from core.runtime import archives
from tests.depth import draws
from tests.local.oracles.written_out import below_e_to

DOMAIN = Domain.of(x=(0, 10), y=(0, 5))
PEOPLE = 4_000
RNG = np.random.default_rng(5)
POINTS = np.asfortranarray(np.column_stack([RNG.normal(4, 1, PEOPLE).clip(0, 10), RNG.normal(2, 1, PEOPLE).clip(0, 5)]))


def race(rows=40, width=1000, bandwidth=1.5, seed=3, domain=DOMAIN):
    return Race(domain, kernels.Euclidean(bandwidth), rows=rows, width=width, groups=4, seed=seed)


@pytest.mark.parametrize("width", [1000, 7])
def test_cells_are_those_of_the_table(width):
    """Also where cells are hashed again to fewer columns."""
    one = CellReports.of(race(width=width), 1)
    table, counted = one.sketch.zeros(), one.sketch.zeros()
    one.sketch.add(table, POINTS[:500])
    for row in range(one.rows):
        np.add.at(counted[row], one.found(POINTS[:500], np.full(500, row)), 1)
    np.testing.assert_array_equal(counted, table)


@pytest.mark.parametrize("name", ["de", "ss", "oue", "hm", "pgr"])
@pytest.mark.parametrize("epsilon", ["0.3", "2"])
def test_no_ratio_is_above_e_to_epsilon(name, epsilon):
    """Of all reports that there are, of records from all over the bounds: exact fractions."""
    sketch = race(rows=4, width=4)
    one = CellReports(replace(sketch, domain=kept(DOMAIN)), oracle(name, 4, epsilon))
    matrix = one.transition_matrix(POINTS[:12])
    assert all(sum(row) == 1 for row in matrix)
    assert len({tuple(row) for row in matrix}) > 1
    ratio = max(max(column) / min(column) for column in zip(*matrix, strict=True))
    assert ratio == one.cells.odds <= below_e_to(epsilon)


def kept(domain):
    return replace(domain, outside="clamp", missing="refuse")


class EveryRow(CellReports):
    """All rows, each with all of epsilon."""

    def transition_matrix(self, points):
        chances = self.cells.transition_matrix()
        cells = [self.found(points, np.full(len(points), row)) for row in range(self.rows)]
        matrix = []
        for place in range(len(points)):
            row = [Fraction(1)]
            for each in cells:
                row = [one * chance for one in row for chance in chances[each[place]]]
            matrix.append(row)
        return matrix


class RowOfTheRecord(CellReports):
    """The row is picked by the record."""

    def transition_matrix(self, points):
        rows = (points[:, 0].astype(int)) % self.rows
        honest, reports = super().transition_matrix(points), len(self.cells.transition_matrix()[0])
        return [
            [self.rows * chance * (at // reports == row) for at, chance in enumerate(line)]
            for line, row in zip(honest, rows, strict=True)
        ]


@pytest.mark.parametrize("planted", [EveryRow, RowOfTheRecord])
def test_planted_errors_are_found(planted):
    one = planted(replace(race(rows=4, width=3), domain=kept(DOMAIN)), oracle("de", 3, 1))
    matrix = one.transition_matrix(POINTS[:12])
    assert all(sum(row) == 1 for row in matrix)
    columns = [column for column in zip(*matrix, strict=True) if max(column)]
    assert any(not min(column) or max(column) / min(column) > below_e_to(1) for column in columns)


def test_reports_are_sent_as_often_as_the_matrix_says():
    """Every report within six standard deviations: a false alarm once in 10^7."""
    one = CellReports(replace(race(rows=4, width=3), domain=kept(DOMAIN)), oracle("de", 3, 1))
    count = draws(20_000, 500_000)
    place = np.asfortranarray(np.repeat(POINTS[:1], count, axis=0))
    seen = np.bincount(one.privatise(place, SeededSource(2)), minlength=12) / count
    expected = np.array([float(chance) for chance in one.transition_matrix(POINTS[:1])[0]])
    assert (np.abs(seen - expected) < 6 * np.sqrt(expected * (1 - expected) / count)).all()


@pytest.mark.parametrize("name", ["de", "oue", "ss", "sue", "hm"])
def test_one_row_a_person_is_best_up_to_epsilon_two(name):
    """The formula of the module for t rows of R, for every share of rows in which record and query meet."""
    share = np.linspace(0, 1, 201)

    def variance(epsilon, t, rows, cells):
        at = np.zeros(cells)
        at[0] = 1
        own, other = oracle(name, cells, f"{epsilon / t:.9f}").variance(at)[:2]
        return (other + share * (own - other) + share * (1 - share) * (rows - t) / (rows - 1)) / t

    for epsilon in (0.1, 0.5, 1, 1.5, 2):
        for cells in (2, 5, 20, 100):
            for t in (2, 3, 7):
                assert (variance(epsilon, t, 7, cells) >= variance(epsilon, 1, 7, cells) - 1e-6).all()


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_answers_are_unbiased_with_the_forecast_error_and_intervals_hold(epsilon):
    """Over coins, rows and hashes; bands are six standard errors of so many runs."""
    runs = draws(16, 300)
    asked = np.asfortranarray([[4.0, 2.0], [6.0, 1.0], [9.5, 4.5]])
    errors, held, stated = [], [], []
    for run in range(runs):
        one = CellReports.of(race(rows=60, seed=run), epsilon)
        made = one.release(one.aggregate(one.privatise(POINTS, SeededSource(run))))
        answers, exact = made.answer_points(asked), one.sketch.exact(asked, POINTS)
        errors.append(answers.estimate - exact)
        held.append((answers.low <= exact) & (exact <= answers.high))
        meeting = one.sketch.point_kernel.evaluate(asked, POINTS)
        stated.append([one.variance(PEOPLE, share) for share in meeting.mean(axis=1)])
    errors, stated = np.array(errors), np.array(stated).mean(axis=0)
    plain = np.array([noiseless(run, asked) for run in range(runs)])
    spread = stated + plain.var(axis=0)
    assert (np.abs(errors.mean(axis=0)) < 6 * np.sqrt(spread / runs)).all()
    ratio = errors.var(axis=0, ddof=1) / spread
    assert (np.abs(ratio - 1) < 6 * np.sqrt(2 / runs) + 0.1).all()
    assert np.mean(held) > 0.95 - 6 * np.sqrt(0.05 * 0.95 / runs)


def noiseless(run, asked):
    """The error of the hash functions alone."""
    sketch = race(rows=60, seed=run)
    table = sketch.zeros()
    sketch.add(table, POINTS)
    return sketch.answer(table, PEOPLE, asked, 0.0, 0.95).estimate - sketch.exact(asked, POINTS)


@pytest.mark.thorough
def test_rows_cost_no_noise_and_the_forecast_says_so():
    few, many = (CellReports.of(race(rows=rows), 1) for rows in (50, 5_000))
    a, b = (forecast_reports(one, 100_000, 0.1) for one in (few, many))
    assert abs(a.noise_error / b.noise_error - 1) < 0.05 and a.sampling_error > 2 * b.sampling_error
    plain = Race(DOMAIN, kernels.Euclidean(1.5), seed=3)
    assert 50 < sized(plain, 1, 100_000, density=0.1).rows <= MOST_ROWS
    assert sized(few.sketch, 1, 100_000) is few.sketch


def released(people=1_000, seed=1, **facts):
    one = CellReports.of(race(**facts), 1)
    return one, one.release(one.aggregate(one.privatise(POINTS[:people], SeededSource(seed))))


def test_a_release_is_like_any_other():
    _, made = released()
    again = load(made.to_bytes())
    assert again == made and again.records == 1_000 and again.count_is_public
    assert again.privacy.epsilon == 1 and again.privacy.neighbours.value == "replace_one"
    assert "Nobody was trusted" in again.privacy.noise[0].describe()
    assert made.manifest.to_dict(4)["format_version"] == 4
    _, other = released(people=500, seed=2)
    both = made.merged(other)
    assert both.records == 1_500
    assert both.privacy.counter_variance == made.privacy.counter_variance + other.privacy.counter_variance
    assert load(both.to_bytes()) == both


@pytest.mark.parametrize(
    "change",
    [
        {"format_version": 1},
        {"format_version": 5},
        {"privacy": {"epsilon": "0.5", "overlap_epsilon": "0.5"}},
        {"privacy": {"neighbours": "add_remove"}},
        {"privacy": {"noise": [{"distribution": "local_reports", "parameter": "3", "epsilon": "0"}]}},
        {"privacy": {"noise": [{"distribution": "local_reports", "parameter": "3"}]}},
        {"privacy": {"noise": [{"distribution": "discrete_laplace", "parameter": "3", "epsilon": "1"}]}},
    ],
)
def test_files_that_contradict_themselves_are_refused(change):
    from core.releases.manifest import Manifest, described_sketch, parse

    _, made = released()
    facts = made.manifest.to_dict(4)
    for name, value in change.items():
        facts[name] = facts[name] | value if isinstance(value, dict) else value
    with pytest.raises((ReleaseFileError, RequestError)):
        read = parse(archives.dumps(facts))
        Manifest.from_dict(read, described_sketch(read))


def test_a_survey_is_read_as_it_was_written_and_a_forged_one_refused():
    survey = RecordSurvey("Where?", released()[0])
    assert parse_survey(survey.text) == survey
    facts = survey.to_dict()
    for forged in (
        facts | {"surplus": str(2 * survey.oracle.cells.surplus)},
        facts | {"sketch": facts["sketch"] | {"mechanism": "minhash"}},
        facts | {"sketch": facts["sketch"] | {"oracle": {"name": "de", "parameters": {"domain": 3, "epsilon": "1"}}}},
        facts | {"question": ""},
    ):
        with pytest.raises(RequestError):
            parse_survey(archives.dumps(forged))


def test_what_cannot_be_reported_is_refused():
    sketch = race()
    with pytest.raises(RequestError, match="no record may be left out"):
        CellReports(sketch, oracle("de", sketch.shape[1], 1))
    with pytest.raises(RequestError, match=EXACT[-1]):
        CellReports.of(sketch, 1, "hr")
    with pytest.raises(RequestError, match="no number of rows"):
        CellReports(replace(sketch, rows=None, groups=None), oracle("de", 5, 1))
    one, _ = released()
    with pytest.raises(RequestError, match="no reports"):
        one.fits(np.zeros(3))
    wrong = one.privatise(POINTS[:10], SeededSource(1))
    wrong[3, 0] = one.rows
    assert one.fits(wrong).tolist() == [True] * 3 + [False] + [True] * 6
    with pytest.raises(RequestError, match="cannot have been sent"):
        one.aggregate(wrong)
    with pytest.raises(RequestError, match="nothing to release"):
        one.release(one.zeros())


def test_liars_move_an_answer_no_further_than_stated():
    one, _ = released(people=1_000)
    honest = one.privatise(POINTS[:950], SeededSource(3))
    asked = np.asfortranarray([[9.9, 4.9]])
    told = honest[:50].copy()
    cells = np.array([int(one.found(asked, np.array([row]))[0]) for row in range(one.rows)])
    told[:, 0] = np.arange(50) % one.rows
    mine = cells[told[:, 0].astype(int)]
    size = one.cells.size
    for place, cell in enumerate(mine):  # a set of the right size that has the cell
        others = [other for other in range(one.cells.domain) if other != cell][: size - 1]
        told[place, 1] = sum(1 << other for other in [int(cell), *others])
    both = np.concatenate([honest, told])
    moved = [one.release(one.aggregate(sent)).answer_points(asked).estimate[0] for sent in (honest, both)]
    most = one.poisoned(0.05, 1_000)
    assert 0.95 * most < moved[1] - moved[0] <= most + 1
