"""Local reports on tape: every oracle, sketch, search and store keeps its promise, and planted faults are found."""

import tempfile
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from core.auditing import registry_trials
from core.auditing.registry_trials import EPSILONS, oracles, polled, records_reported, repeated, searches
from core.auditing.trials import examine
from core.local.heavy_hitters import Finder
from core.local.local_race import EXACT
from core.local.oracles import oracle, rappor
from core.local.oracles.cell_sketches import CellSketch
from core.local.oracles.local_hashing import FastHashing, LocalHashing, OptimalHashing
from core.local.oracles.oracle import ORACLES
from core.local.oracles.rappor import Rappor
from core.local.oracles.unary_subset_direct import DirectEncoding, OptimisedUnary
from core.local.poll_store import ASKED_BY_BROWSERS
from core.local.survey import FINDERS, SKETCHES
from core.privacy.replay.tape import Tape, recording
from tests.depth import draws

QUICK = 4
"""Pairs of a trial in the quick tests."""


def named(trials):
    return {trial.name.split(" ")[0].strip(",") for trial in trials}


def sound(trials):
    """All trials pass, and each uses up its promise: no slack is hidden."""
    for trial in trials:
        verdict = examine(trial, draws(QUICK, None))
        assert verdict.passed, verdict.sentence
        yield verdict.reached / float(trial.budget.epsilon)


@pytest.mark.thorough
def test_every_oracle_is_replayed():
    assert named(oracles()) == set(ORACLES)
    used = list(sound(oracles(draws(("0.5",), EPSILONS))))
    assert max(used) <= 1 + 1e-12 and sum(share > 0.99 for share in used) > len(used) / 2


@pytest.mark.thorough
def test_every_sketch_is_replayed():
    trials = list(registry_trials.sketches())
    assert named(trials) == set(SKETCHES)
    step = draws(7, 1)
    assert max(sound(trials[::step])) > 0.99


@pytest.mark.thorough
def test_every_search_is_replayed():
    assert named(searches()) == {*FINDERS, "privtrie"}
    assert max(sound(searches(draws(("3",), EPSILONS)))) > 0.99


@pytest.mark.thorough
def test_every_report_of_a_record_is_replayed():
    assert {trial.name.split(" by ")[1].split(",")[0] for trial in records_reported()} == set(EXACT)
    assert max(sound(records_reported(draws(("3",), EPSILONS)))) > 0.99


def test_what_a_poll_keeps_is_replayed():
    assert len(list(polled(("1",)))) == len(ASKED_BY_BROWSERS)
    assert max(sound(polled(draws(("0.5",), EPSILONS)))) > 0.99


def test_reports_that_are_sent_again_cost_no_more_than_what_is_kept():
    used = list(sound(repeated()))
    assert 0.99 < max(used) <= 1 + 1e-12


@pytest.mark.parametrize("name", sorted(set(ORACLES) - {"blh", "olh", "flh", "hm"}))
def test_the_law_of_an_oracle_loses_what_its_transition_matrix_says(name):
    """For every two values, the largest ratio of any report in the probabilities written out as fractions."""
    one = ORACLES[name](4, "1.1")
    matrix = one.transition_matrix()

    def draw(value, forced=None):
        with recording(Tape(forced)) as tape:
            one.privatise(np.array([value]))
        return tape

    for value, other in permutations(range(4), 2):
        first = draw(value)
        (drawn,), (hidden,) = first.draws, draw(other, first).draws
        ratios = [max(a / b, b / a) for a, b in zip(matrix[value], matrix[other], strict=True)]
        assert drawn.law.loss(drawn.hidden, hidden.hidden, drawn.outcome).odds == max(ratios)


# Planted faults, each found where the sound code passes above.


def finds(trials, most=None):
    return any(not examine(trial, most).passed for trial in trials)


def only(trials, word):
    return [trial for trial in trials if word in trial.name]


def rounded_up(epsilon):
    return odds(epsilon) + 1


odds = oracle.odds_below


def test_odds_of_one_of_2_to_the_32_too_many_are_found(monkeypatch):
    monkeypatch.setattr(oracle, "odds_below", rounded_up)
    assert finds(only(oracles(("3",)), "de of 3"))


def test_bits_that_are_set_a_billionth_too_seldom_are_found(monkeypatch):
    honest = OptimisedUnary.thresholds.fget

    def seldom(one):
        own, other = honest(one)
        return own, other - (1 << 34)

    monkeypatch.setattr(OptimisedUnary, "thresholds", property(seldom))
    assert finds(only(oracles(("3",)), "oue of 3"))


@pytest.mark.thorough
def test_a_cohort_that_depends_on_the_value_is_found(monkeypatch):
    honest = Rappor.permanent

    def permanent(one, values, source=None):
        cohorts = (np.asarray(values) % one.cohorts).astype(np.uint64)
        monkeypatch.setattr(rappor, "told", lambda bound, count, source: cohorts)
        return honest(one, values, source)

    monkeypatch.setattr(Rappor, "permanent", permanent)
    assert finds(repeated(("3",)))


def test_a_row_that_depends_on_the_value_is_found(monkeypatch):
    honest = CellSketch.privatise

    def privatise(one, values, source=None):
        sent = honest(one, values, source)
        if one.report_words:
            sent[:, 0] = np.asarray(values) % one.rows
        return sent

    monkeypatch.setattr(CellSketch, "privatise", privatise)
    assert finds(only(registry_trials.sketches(("3",)), "count-min olh"))


def test_a_group_that_depends_on_the_text_is_found(monkeypatch):
    honest = FINDERS["pem"].privatise

    def privatise(one, texts, source=None):
        sent = honest(one, texts, source)
        sent[:, 0] = [len(text) % one.groups for text in texts]
        return sent

    monkeypatch.setattr(FINDERS["pem"], "privatise", privatise)
    assert finds(only(searches(("3",)), "pem of 4"))


def test_a_value_that_is_reported_twice_for_one_price_is_found(monkeypatch):
    honest = DirectEncoding._reports

    def twice(one, values, source):
        honest(one, values, source)
        return honest(one, values, source)

    monkeypatch.setattr(DirectEncoding, "_reports", twice)
    assert finds(only(oracles(("3",)), "de of 3"))


def test_the_whole_text_with_all_of_epsilon_beside_its_prefix_is_found(monkeypatch):
    monkeypatch.setattr(Finder, "hashing", property(lambda one: OptimalHashing(2, one.epsilon)))
    assert finds(only(searches(("3",)), "treehist of 4"))


def test_a_hash_function_drawn_by_the_value_is_found(monkeypatch):
    honest = LocalHashing._reports

    def drawn(one, values, source):
        sent = honest(one, values, source)
        sent[:, 0] ^= values.astype(np.uint64)
        return sent

    monkeypatch.setattr(LocalHashing, "_reports", drawn)
    assert finds(only(oracles(("3",)), "olh of 3"))


def test_a_function_of_a_list_drawn_by_the_value_is_found(monkeypatch):
    honest = FastHashing._reports
    monkeypatch.setattr(
        FastHashing,
        "_reports",
        lambda one, values, source: (honest(one, values, source) + one.cells * values) % one.outcomes,
    )
    assert finds(only(oracles(("3",)), "flh of 3"))


@pytest.mark.thorough
def test_an_answer_that_a_poll_keeps_as_it_is_is_found(monkeypatch):
    monkeypatch.setattr(DirectEncoding, "_reports", lambda one, values, source: values.astype(one.report_type))
    assert finds(only(polled(("3",)), "de"))


def test_values_left_in_a_temporary_file_are_found(monkeypatch):
    honest = registry_trials.write_reports

    def leaving(survey, batches, file):
        batches = list(batches)
        with tempfile.NamedTemporaryFile("w", delete=False) as left:
            left.write(str(batches))
        return honest(survey, batches, file)

    monkeypatch.setattr(registry_trials, "write_reports", leaving)
    assert finds(only(oracles(("3",)), "de of 3"))


@pytest.mark.thorough
def test_bits_flipped_less_often_than_hashes_need_are_found(monkeypatch):
    honest = Rappor.threshold.func
    monkeypatch.setattr(Rappor, "threshold", property(lambda one: honest(replace(one, hashes=1))))
    assert finds(repeated(("3",)))


def test_one_stream_of_coins_for_two_reports_is_found(monkeypatch):
    class Same:
        private, stream_ = True, None

        def __init__(self, source):
            self.source = source

        def stream(self):
            Same.stream_ = Same.stream_ or self.source.stream()
            return Same.stream_

    honest = LocalHashing._reports
    monkeypatch.setattr(LocalHashing, "_reports", lambda one, values, source: honest(one, values, Same(source)))
    assert finds(only(oracles(("3",)), "olh of 3"))


def test_a_device_that_looks_at_another_is_found(monkeypatch):
    honest = DirectEncoding._reports

    def looked(one, values, source):
        return honest(one, (values + np.roll(values, 1)) % one.domain, source)

    monkeypatch.setattr(DirectEncoding, "_reports", looked)
    assert finds(only(oracles(("3",)), "de of 3"))
