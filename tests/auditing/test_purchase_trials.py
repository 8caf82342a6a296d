"""Purchases on tape, and the doors that a release comes out of: sound ones pass, and planted faults are found."""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import core.cli.output
import core.releases.bounds_and_centre
import core.releases.fitting
import core.releases.going_on
import core.releases.job
import core.releases.seal
import core.sketches.tables.chosen
import core.sources.copies
import core.sources.queried
from core.auditing import door_trials, purchase_trials
from core.auditing.door_trials import commands, estimators, exported, page, sources
from core.auditing.purchase_trials import PURCHASES, purchases
from core.auditing.trials import BUDGETS, CLOSE, RECORDS, examine
from core.cli.commands import app
from core.domain import PrivacyUnit
from core.errors import RequestError
from core.estimators import PrivateKernelDensity
from core.privacy.choosing import private_bounds, selection
from core.privacy.noise import divided_noise
from core.releases.payment import LedgerAccount
from core.releases.release_store import Place
from core.releases.rounds import masking, owner_steps
from core.releases.rounds.masking import RoundSecrets
from core.releases.rounds.round_plan import WAYS, RoundPlan
from core.sketches.factorisation import WHOLE, Factor
from core.sketches.living import ByPeriod, Living
from core.sketches.tables import pair_ways
from core.sources.copies import is_utf8
from core.ui.release.release_task import ReleaseTask

PURE, DELTA = BUDGETS[0], BUDGETS[1]
QUICK = 2
"""Pairs of a trial in the quick tests."""
SOME = 4
"""Pairs with a record in each of three periods."""


def sound(trials, most=QUICK):
    """All pass, and none by being refused before it drew."""
    for trial in trials:
        verdict = examine(trial, most)
        assert verdict.passed, verdict.sentence
        assert verdict.reached > 0, f"{trial.name} drew nothing"


@pytest.mark.few(4)
@pytest.mark.parametrize("bought", PURCHASES, ids=lambda one: one.__name__)
def test_everything_that_is_bought_is_replayed(bought):
    """A tenth of each kind in the quick tests, under the pure promise, whose losses are the fastest to add up."""
    sound(islice(bought(PURE), 0, None, 10))


@pytest.mark.deep
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_everything_that_is_bought_is_replayed_under_every_promise(budget):
    sound(purchases([budget]), None)


@pytest.mark.thorough
def test_every_way_to_share_noise_is_replayed_and_uses_all_of_its_promise():
    for trial in purchase_trials.rounds(PURE):
        verdict = examine(trial, QUICK)
        assert verdict.passed, verdict.sentence
        assert verdict.reached > CLOSE, trial.name


def main(arguments):
    return app(arguments)


@pytest.mark.thorough
def test_the_page_and_sources_of_every_kind_are_replayed():
    sound(islice([*sources(PURE), *page(PURE)], 0, None, 2))
    sound(exported(PURE))


@pytest.mark.thorough
def test_what_an_estimator_keeps_is_replayed():
    sound(islice(estimators(PURE), 0, None, 4))


@pytest.mark.deep
def test_commands_are_replayed():
    trials = [trial for trial in commands(main, PURE) if "command release," in trial.name]
    sound(trials, 2)


@pytest.mark.deep
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_every_door_is_replayed_under_every_promise(budget):
    sound(door_trials.doors(main, [budget]), 6)


# Planted faults: each is found by a trial that passes without it.


def first(trials: Iterator, word: str = ""):
    return next(trial for trial in trials if word in trial.name)


def found(trial, most=QUICK):
    """What is wrong; most faults show in the first pair."""
    return examine(trial, 1).findings or examine(trial, most).findings


def exactly(table, scale, source=None, out=None):
    """What stands in for noise that was forgotten."""
    if out is not None:
        out[...] = table
    return np.array(table)


def test_a_count_that_is_bought_without_a_price_is_found(monkeypatch):
    monkeypatch.setattr(LedgerAccount, "spend_part", lambda payer, *what, **more: None)
    assert found(first(purchase_trials.counts(PURE)))


def test_a_bound_from_exact_counts_is_found(monkeypatch):
    honest = private_bounds._bounds
    exact = []

    def remembered(one, *more):
        exact.append(np.array(one))
        return noised(one, *more)

    noised = private_bounds.add_noise
    monkeypatch.setattr(private_bounds, "add_noise", remembered)
    monkeypatch.setattr(private_bounds, "_bounds", lambda grid, noisy, *more: honest(grid, exact[-1], *more))
    assert found(first(purchase_trials.bounds(PURE)), None)


def test_bounds_that_take_twice_their_share_are_found(monkeypatch):
    honest = core.releases.bounds_and_centre.release_bounds

    def twice(grids, counts, budget, *more, **named):
        return honest(grids, counts, replace(budget, epsilon=2 * budget.epsilon), *more, **named)

    monkeypatch.setattr(core.releases.bounds_and_centre, "release_bounds", twice)
    assert any("promised" in one for one in found(first(purchase_trials.bounds(PURE))))


def refusing_odd_numbers(stage, known, offer, counts):
    """What a decision by exact counts may come to."""
    if counts[-1] % 2:
        raise RequestError("An odd number of records fit.")
    yield known


@pytest.mark.thorough
def test_exact_counts_of_what_fits_are_found(monkeypatch):
    monkeypatch.setattr(core.releases.fitting, "add_noise", exactly)
    monkeypatch.setattr(core.releases.fitting.Fitting, "learnt", refusing_odd_numbers)
    assert found(first(purchase_trials.fittings(PURE), "of three a person"), None)


@pytest.mark.thorough
def test_what_fits_priced_as_if_a_person_had_one_record_is_found(monkeypatch):
    monkeypatch.setattr(core.releases.fitting.Sensitivity, "scaled", lambda moved, records: moved)
    assert found(first(purchase_trials.fittings(PURE), "of three a person"), None)


@pytest.mark.deep
def test_a_choice_of_pairs_that_is_left_out_of_the_price_is_found(monkeypatch):
    honest = core.sketches.tables.chosen.select
    monkeypatch.setattr(
        core.sketches.tables.chosen,
        "select",
        lambda scores, moved, price, source: honest(scores, moved, 200 * price, source),
    )
    # Three audits of eight chose by luck what the honest price likes as well: none of thirty finds it in 1e-9 of runs.
    assert any(found(first(purchase_trials.tables(DELTA), "chosen"), None) for _ in range(30))


@pytest.mark.thorough
@pytest.mark.parametrize("word", ["are chosen", "worth it"])
def test_pairs_under_a_pure_promise_are_replayed_and_one_without_a_price_is_found(monkeypatch, word):
    sound([first(purchase_trials.tables(PURE), word)])
    real = pair_ways.noisy_max
    monkeypatch.setattr(
        pair_ways, "noisy_max", lambda scores, moved, price, *rest: real(scores, moved, 200 * price, *rest)
    )
    assert found(first(purchase_trials.tables(PURE), word), None)


@pytest.mark.thorough
def test_an_exponential_mechanism_without_its_factor_of_two_is_found(monkeypatch):
    honest = selection._chosen
    laws = selection.WeighedChoice
    monkeypatch.setattr(selection, "_chosen", lambda scores, rate, source: honest(scores, 2 * rate, source))
    monkeypatch.setattr(selection, "WeighedChoice", lambda rate, sizes: laws(2 * rate, sizes))
    assert found(first(purchase_trials.quantiles(PURE)), None)


def test_classes_whose_counts_are_exact_are_found(monkeypatch):
    honest = core.releases.seal.add_noise

    def but_counts(table, scale, source=None, out=None):
        return (
            exactly(table, scale, source, out)
            if table.ndim == 1 and len(table) <= 3
            else honest(table, scale, source, out)
        )

    monkeypatch.setattr(core.releases.seal, "add_noise", but_counts)
    trial = first(purchase_trials.centres(PURE), "classes of directions")
    assert found(trial)


@pytest.mark.few(1)
@pytest.mark.parametrize(("norm", "budget"), [("l1", PURE), ("l2_squared", DELTA)])
def test_weighted_sums_of_periods_that_are_paid_for_as_one_period_are_found(monkeypatch, norm, budget):
    monkeypatch.setattr(Factor, norm, WHOLE if norm == "l1" else WHOLE**2 // 2)
    assert found(first(purchase_trials.living(budget), "bands"), SOME)


@pytest.mark.thorough
def test_more_records_of_a_person_than_are_paid_for_in_a_living_release_are_found(monkeypatch):
    monkeypatch.setattr(Living, "read_as", property(lambda sketch: replace(sketch.domain, unit=PrivacyUnit("id", 9))))
    assert found(first(purchase_trials.living(PURE), "person"), SOME)


@pytest.mark.thorough
def test_a_period_that_is_drawn_twice_is_found(monkeypatch):
    honest = purchase_trials.go_on

    def twice(made, records, period, **more):
        honest(made, records, period)  # without the ledger, which would refuse it
        return honest(made, records, period, **more)

    monkeypatch.setattr(purchase_trials, "go_on", twice)
    assert any("promise" in one or "paid" in one for one in found(first(purchase_trials.living(PURE), "tree"), SOME))


def test_noise_of_an_earlier_period_that_is_used_again_is_found(monkeypatch):
    honest, kept = core.releases.going_on.add_noise, []

    def again(table, scale, source=None, out=None):
        exact = table.copy()
        if not kept:
            kept.append(honest(table, scale, source, out) - exact)
        np.copyto(out, exact + kept[0])
        return out

    monkeypatch.setattr(core.releases.going_on, "add_noise", again)
    assert found(first(purchase_trials.living(PURE), "bands"), SOME)


@pytest.mark.thorough
def test_a_record_that_counts_in_two_periods_is_found(monkeypatch):
    honest = Living.encode

    def doubled(sketch, batch):
        points = honest(sketch, batch).points
        return ByPeriod((*points, *((period + 1, own) for period, own in points if period + 1 < sketch.released)))

    monkeypatch.setattr(Living, "encode", doubled)
    assert found(first(purchase_trials.living(PURE), "bands"), SOME)


@pytest.mark.few(1)
@pytest.mark.parametrize("budget", [PURE, DELTA], ids=str)
def test_half_a_part_of_noise_in_a_round_is_found(monkeypatch, budget):
    honest = divided_noise.part_sampler
    monkeypatch.setattr(divided_noise, "part_sampler", lambda scale, owners: honest(scale, 2 * owners))
    assert f"{'noise is' if budget.delta else 'parts of noise are'} shorter than the law" in _only(budget, "shared")


@pytest.mark.few(1)
@pytest.mark.parametrize("way", ["shared", "masked"])
def test_noise_that_only_all_owners_together_have_where_fewer_are_honest_is_found(monkeypatch, way):
    honest = owner_steps.add_part
    monkeypatch.setattr(owner_steps, "add_part", lambda table, scale, owners, *more: honest(table, scale, 3, *more))
    assert "the parts of 2 owners are 2/3 of the noise" in _only(PURE, way)


@pytest.mark.thorough
def test_a_mask_that_is_the_same_in_two_rounds_is_found(monkeypatch):
    monkeypatch.setattr(RoundSecrets, "own_mask", property(lambda one: one.key.of_round("00" * 32, "own mask")))
    assert "a mask was used for two shares" in _only(PURE, "two rounds")


@pytest.mark.thorough
def test_a_mask_that_is_the_same_with_two_neighbours_is_found(monkeypatch):
    monkeypatch.setattr(masking, "pair_secret", lambda *agreed: bytes(32))
    assert "a mask was used for two shares" in _only(PURE, "a round, masked")


@pytest.mark.few(1)
@pytest.mark.parametrize("way", WAYS)
def test_records_of_a_round_that_count_twice_for_one_price_are_found(monkeypatch, way):
    honest = RoundPlan.flat
    monkeypatch.setattr(RoundPlan, "flat", lambda plan, table, records: 2 * honest(plan, table, records))
    assert "the draws keep ε = 1.9" in _only(PURE, f"a round, {way}")  # nearly 2, as few cells are full


@pytest.mark.thorough
def test_an_owner_who_is_told_that_there_are_more_records_than_a_round_has_room_for_is_found(monkeypatch):
    honest = RoundPlan.flat

    def refusing(plan, table, records):
        if table[0].sum() > plan.records:
            raise RequestError("There are more records than the plan says.")
        return honest(plan, table, records)

    monkeypatch.setattr(RoundPlan, "flat", refusing)
    assert "what is refused is there for one data set and not for its neighbour" in _only(PURE, "a round, masked")


def _only(budget, word):
    """What is found in the one trial of rounds with a word in its name."""
    return "; ".join(found(first(purchase_trials.rounds(budget), word), 1))


def test_records_left_in_a_temporary_file_are_found(monkeypatch):
    honest = core.releases.job.open_source

    def leaving(data, **reading):
        with tempfile.NamedTemporaryFile("w", delete=False) as left:
            left.write(str(np.asarray(data)))
        return honest(data)

    monkeypatch.setattr(core.releases.job, "open_source", leaving)
    assert found(first(purchase_trials.classes(PURE)))


@pytest.mark.thorough
def test_one_encoding_for_the_whole_file_is_found(monkeypatch):
    def of_all(pieces, encoding):
        content = b"".join(pieces)
        yield content.decode("utf-8" if is_utf8([content]) else "cp1252").encode()

    monkeypatch.setattr(core.sources.copies, "in_utf8", of_all)
    assert found(first(exported(PURE)))


@pytest.mark.thorough
def test_more_records_of_a_person_than_their_share_are_found(monkeypatch):
    monkeypatch.setattr(core.sources.queried, "keep_at_most", lambda batches, records: batches_of(batches))

    def batches_of(batches):
        for batch in batches:
            yield batch.select(range(batch.num_columns - 1))

    assert found(first(purchase_trials.owners(PURE)))


def test_an_exact_number_of_records_in_a_manifest_is_found(monkeypatch):
    read = []
    honest = core.releases.job.Job.finish

    def finish(job, *more):
        read.append(job._reader.rows)
        return honest(job, *more)

    monkeypatch.setattr(core.releases.job.Job, "finish", finish)
    dated = "2020-02-29T12:00:{:02}+00:00".format
    monkeypatch.setattr(Place, "dated", lambda place, release: replace(release, created=dated(read[-1])))
    assert found(first(purchase_trials.classes(PURE)))


def test_a_refusal_that_depends_on_the_number_of_records_is_found(monkeypatch):
    honest = core.releases.job.Job.finish

    def finish(job, *more):
        made = honest(job, *more)
        if job._reader.rows > RECORDS:
            raise RequestError("There are too many records.")
        return made

    monkeypatch.setattr(core.releases.job.Job, "finish", finish)
    assert found(first(purchase_trials.classes(PURE)))


@pytest.mark.thorough
def test_a_command_that_says_how_many_rows_there_were_is_found(monkeypatch):
    command = sys.modules["core.cli.release_command"]
    honest = command._run

    def counted(job, source):
        made = honest(job, source)
        core.cli.output.say(f"{job._reader.rows:,} rows were read.")
        return made

    monkeypatch.setattr(command, "_run", counted)
    assert any("standard error" in one for one in found(first(commands(main, PURE)), 2))


def test_an_estimator_that_keeps_its_records_is_found(monkeypatch):
    honest = PrivateKernelDensity.fit

    def fit(one, X, y=None):
        fitted = honest(one, X, y)
        fitted.centre_ = np.mean(X, axis=0)
        return fitted

    monkeypatch.setattr(PrivateKernelDensity, "fit", fit)
    assert found(first(estimators(PURE)))


def test_a_page_whose_remark_names_a_number_of_rows_is_found(monkeypatch):
    honest = ReleaseTask.finish

    def finish(making):
        honest(making)
        making.remark = f"{making.pace.rows} rows"

    monkeypatch.setattr(ReleaseTask, "finish", finish)
    assert found(first(page(PURE)))


@pytest.mark.thorough
def test_topping_up_is_replayed_and_uses_all_of_its_promise():
    (trial,) = door_trials.topped_up(PURE)
    verdict = examine(trial, QUICK)
    assert verdict.passed, verdict.sentence
    assert verdict.reached > CLOSE


def test_topping_up_without_a_price_is_found(monkeypatch):
    honest = LedgerAccount.spend

    def nothing_more(payer, cost, released):
        return None if "tops_up" in payer.note else honest(payer, cost, released)

    monkeypatch.setattr(LedgerAccount, "spend", nothing_more)
    (trial,) = door_trials.topped_up(PURE)
    assert any("paid" in one for one in found(trial))


@pytest.mark.thorough
def test_noise_that_is_made_less_than_was_paid_for_is_found(monkeypatch):
    honest = core.releases.going_on.less_noise
    monkeypatch.setattr(
        core.releases.going_on, "less_noise", lambda kept, shown, wanted, finest: honest(kept, shown, finest, finest)
    )
    (trial,) = door_trials.topped_up(PURE)
    assert any("paid" in one for one in found(trial))
