"""A living release from its first part on: runs of periods, files at every stage, no period drawn twice."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, kernels, load, release
from core.domain import Categorical, Numeric
from core.errors import RequestError
from core.privacy.calibration import NoiseScale
from core.privacy.ledger.ledger import Ledger
from core.releases import going_on
from core.releases.comparison import Comparison
from core.releases.going_on import go_on
from core.releases.manifest import Manifest
from core.releases.release_store import shelf_of
from core.sketches.histogram import Histogram
from core.sketches.living import Living
from core.sketches.plan import planned_for
from core.sketches.race import Race

NAMES = tuple(f"2024-{month:02}" for month in range(1, 13))
DOMAIN = Domain((Categorical("month", NAMES), Numeric("x", 0, 1)))
BUDGET = Budget(2, "1e-6")


def some_records(n=3_000):
    random = np.random.default_rng(3)
    return pd.DataFrame({"month": random.choice(NAMES, n), "x": random.random(n) ** 2})


RECORDS = some_records()


def living(released=3):
    inner = Race(DOMAIN.without("month"), kernels.Euclidean(bandwidth=0.2), rows=64, width=16, seed=5)
    return Living.of(DOMAIN, "month", inner, BUDGET, released=released)


def begun(ledger=None, **facts):
    return release(living(), RECORDS, BUDGET, ledger=ledger, dataset=None if ledger is None else "people", **facts)


def of(*months):
    return RECORDS[RECORDS.month.isin(months)]


@pytest.mark.thorough
def test_it_is_one_file_that_grows_and_opens_at_every_stage(tmp_path):
    ledger, file = Ledger(tmp_path / "ledger.sqlite"), tmp_path / "stream.npz"
    begun(ledger).save(file)
    for month in ("2024-04", "2024-08", "2024-12"):
        opened = load(file)
        go_on(opened, RECORDS, month, ledger=ledger, dataset="people").save(file)
        assert load(file).sketch.names[load(file).sketch.released - 1] == month
    made = load(file)
    (kept,) = shelf_of(ledger).entries()
    assert shelf_of(ledger).load(kept.name) == made  # the one beside the ledger has grown too
    for first, last in [(1, 12), (4, 4), (3, 9), (12, 12)]:
        run, own = made.run(first, last), of(*NAMES[first - 1 : last])
        assert abs(run.records - len(own)) < 6 * run.records_error
        answers = run.answer([[0.1], [0.6]])
        exact = run.sketch.exact(run.domain.encode_queries([[0.1], [0.6]], "l2"), own[["x"]].to_numpy())
        assert (np.abs(answers.estimate - exact) < 6 * answers.standard_error + 1e-9).all()
    assert ledger.status("people").spent == pytest.approx(2, rel=1e-3)
    assert len(ledger.entries("people")) == 1


def test_a_run_is_a_release_like_any_other(tmp_path):
    begun_once = begun()
    run = begun_once.run("2024-02", "2024-03")
    run.save(tmp_path / "run.npz")
    opened = load(tmp_path / "run.npz")
    assert opened == run
    assert opened.privacy.epsilon == 2
    assert begun_once.part("2024-02:2024-03") == run != begun_once.part("2024-02") != begun_once.part(None)
    np.testing.assert_array_equal(opened.estimate([[0.5]]), run.estimate([[0.5]]))


def test_noise_of_runs_has_the_variance_that_is_said():
    """1,024 counters of a table without records: the mean square is off by a third with a chance below 1e-11."""
    wide = Race(DOMAIN.without("month"), kernels.Euclidean(bandwidth=0.2), rows=64, width=16, seed=5)
    made = release(Living.of(DOMAIN, "month", wide, BUDGET), RECORDS[:0], BUDGET)
    for first, last in [(1, 1), (5, 8), (1, 12)]:
        run = made.run(first, last)
        assert 2 / 3 < np.mean(run.counters.astype(float) ** 2) / run.privacy.counter_variance < 4 / 3


def test_all_together_costs_what_one_release_of_any_period_costs_and_runs_say_more_noise():
    alone = release(living().inner, of("2024-01"), BUDGET).privacy.counter_variance
    assert all(begun().run(first, 3).privacy.counter_variance >= alone for first in (1, 2, 3))


def test_no_period_is_drawn_twice(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    first = begun(ledger)
    go_on(first, RECORDS, 5, ledger=ledger, dataset="people")
    with pytest.raises(RequestError, match="5 periods of this release were drawn, and the file has 3"):
        go_on(first, RECORDS, 5, ledger=ledger, dataset="people")
    with pytest.raises(RequestError, match="is in the release already"):
        go_on(first, RECORDS, 2, ledger=ledger, dataset="people", lost=True)
    with pytest.raises(RequestError, match="has not paid"):
        go_on(begun(), RECORDS, 5, ledger=ledger, dataset="people")


def with_less_noise(made):
    planned = planned_for(made.sketch, Budget(100, "1e-6"))
    more = {"epsilon": planned.cost.epsilon, "rho": planned.cost.rho, "overlap_epsilon": planned.cost.epsilon}
    return replace(made, privacy=replace(made.privacy, noise=planned.noises, **more))


FORGED = {
    "less noise": with_less_noise,
    "counts without noise": lambda made: replace(
        made, counted=np.zeros(made.sketch.count_shape, np.int64), privacy=replace(made.privacy, count_noise=())
    ),
    "other weights": lambda made: replace(made, sketch=replace(made.sketch, power=made.sketch.power + 1)),
    "other periods": lambda made: replace(
        made, sketch=made.sketch.within(replace(DOMAIN, columns=(Categorical("month", NAMES[::-1]), DOMAIN.columns[1])))
    ),
}


@pytest.mark.parametrize("way", FORGED)
def test_a_file_that_says_less_noise_or_other_periods_than_were_paid_for_goes_on(tmp_path, way):
    """What noise further rows have was taken from the file alone, which a stranger may have written."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    first = begun(ledger)
    with pytest.raises(RequestError, match="other noise or other periods"):
        go_on(FORGED[way](first), RECORDS, 4, ledger=ledger, dataset="people")
    assert ledger.drawn("people", first.sketch.parameters()["seed"]) == 3


def test_a_file_whose_counts_have_the_noise_that_was_paid_for_the_table_does_not_go_on(tmp_path):
    """One price of 0.99 was taken for two, where rows and counts are moved alike."""
    ledger, domain = Ledger(tmp_path / "ledger.sqlite"), Domain((*DOMAIN.columns, Numeric("y", 0, 1)))
    grid = Histogram(domain.without("month"), kernels.Gaussian(0.02), cells=(120, 120))
    sketch = Living.of(domain, "month", grid, Budget(1), released=3)
    first = release(sketch, RECORDS.assign(y=0.5), Budget(1), ledger=ledger, dataset="people")
    count, scale = NoiseScale("discrete_laplace", Fraction(102_400, 99)), first.privacy.count_noise[0]
    assert scale.parameter == 99 * count.parameter
    forged = replace(first, privacy=replace(first.privacy, count_noise=(count,), rho=Fraction(1)))
    with pytest.raises(RequestError, match="other noise or other periods"):
        go_on(forged, RECORDS.assign(y=0.5), 4, ledger=ledger, dataset="people")
    assert ledger.drawn("people", first.sketch.parameters()["seed"]) == 3


def test_two_who_go_on_at_once_draw_a_period_once(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    first, made = begun(ledger), []

    def draw(_):
        with suppress(RequestError):
            made.append(go_on(first, RECORDS, 4, ledger=Ledger(tmp_path / "ledger.sqlite"), dataset="people"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(draw, range(4)))
    assert len(made) == 1


def test_a_crash_after_the_ledger_knows_loses_the_period_and_never_privacy(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    first = begun(ledger)

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(going_on, "add_noise", crash)
        go_on(first, RECORDS, 4, ledger=ledger, dataset="people")
    assert ledger.drawn("people", first.sketch.parameters()["seed"]) == 4
    with pytest.raises(RequestError, match="give them up as lost"):
        go_on(first, RECORDS, 5, ledger=ledger, dataset="people")
    on = go_on(first, RECORDS, 6, ledger=ledger, dataset="people", lost=True)
    run = on.run(5, 6)
    assert abs(run.records - len(of("2024-05", "2024-06"))) < 6 * run.records_error
    with pytest.raises(RequestError, match="'2024-04' was lost"):
        on.run(1)
    assert on.run() == run
    assert on.sketch.sensitivity(BUDGET.neighbours) == first.sketch.sensitivity(BUDGET.neighbours)


def test_what_is_refused_while_reading_draws_nothing(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    first = begun(ledger)
    with pytest.raises(RequestError):
        go_on(first, RECORDS.drop(columns="x"), 4, ledger=ledger, dataset="people")
    assert ledger.drawn("people", first.sketch.parameters()["seed"]) == 3


def test_the_log_says_that_it_went_on_and_is_whole(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    go_on(begun(ledger), RECORDS, 4, ledger=ledger, dataset="people")
    line = ledger.log.lines()[-1]
    assert (line.did, line.about["periods"]) == ("continued", 4)
    assert ledger.log.verify()


def test_an_ordinary_release_has_no_runs():
    with pytest.raises(RequestError, match="no periods"):
        release(living().inner, RECORDS, BUDGET).run()
    with pytest.raises(RequestError, match="made all at once"):
        go_on(release(living().inner, RECORDS, BUDGET), RECORDS, 2)


def test_a_difference_of_two_runs_had_bands_as_if_their_noise_were_apart(tmp_path):
    made = release(living(12), RECORDS, BUDGET)
    made.run(1, 3).save(tmp_path / "first.npz")
    one, other = load(tmp_path / "first.npz"), made.run(4, 6)
    assert one.run_of == other.run_of == made.sketch.parameters()["seed"]
    apart = Comparison(one, replace(other, run_of=""), shares=False).answer([[0.3]]).standard_error[0]
    error = Comparison(one, other, shares=False).answer([[0.3]]).standard_error[0]
    assert error == pytest.approx(sum(run.answer([[0.3]]).standard_error[0] for run in (one, other))) and error > apart
    facts = Manifest.to_dict(one.manifest, 1)
    with pytest.raises(RequestError, match="adds up periods"):
        Manifest.from_dict(facts | {"run_of": "x"}, one.sketch)
