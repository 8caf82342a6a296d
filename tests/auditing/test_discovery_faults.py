"""Faults planted in how things are found out, one at a time: exact replay finds each of them."""

from dataclasses import replace

import pytest

from core.auditing import purchase_trials
from core.auditing.trials import BUDGETS, examine
from core.privacy.accounting import Reserve
from core.privacy.choosing import partition_selection
from core.releases import alike_questions, discovery_reading, discovery_stage

FRAMES = 0
BEFORE = 1
SETTLED = 3


def trial(place=FRAMES):
    """Discovery of records in a frame under a delta, or before a release."""
    return list(purchase_trials.discoveries(BUDGETS[1]))[place]


def too_low(monkeypatch):
    real = partition_selection.least_threshold
    monkeypatch.setattr(partition_selection, "least_threshold", lambda *facts: real(*facts) // 4)


def shown_alone(monkeypatch):
    real = discovery_stage.shown_values

    def shown(counts, selection, source=None):
        found = real(counts, selection, source)
        rarest = [min(column, key=lambda name: (column[name], name), default=None) for column in counts]
        return [one if name is None else one | {name: 1} for one, name in zip(found, rarest, strict=True)]

    monkeypatch.setattr(discovery_stage, "shown_values", shown)


def kinds_of_exact_counts(monkeypatch):
    exact, drawn, formats = [], discovery_stage.add_noise, discovery_reading.Votes.formats

    def kept(table, scale, source=None):
        exact.append(table.copy())
        return drawn(table, scale, source)

    def chosen(votes, *facts):
        found = formats(votes, *facts)
        odd = exact[-1][-1] // votes.weight % 2
        return dict(list(found.items())[:-1]) if odd else found

    monkeypatch.setattr(discovery_stage, "add_noise", kept)
    monkeypatch.setattr(discovery_reading.Votes, "formats", chosen)


def counts_used_twice(monkeypatch):
    real = discovery_stage.shown_values

    def shown(counts, selection, source=None):
        for _ in range(8):  # all but one for nothing
            real(counts, selection, source)
        return real(counts, selection, source)

    monkeypatch.setattr(discovery_stage, "shown_values", shown)


def ordered_by_exact_counts(monkeypatch):
    real = discovery_stage.shown_values

    def shown(counts, selection, source=None):
        found = real(counts, selection, source)
        return [
            dict(sorted(one.items(), key=lambda it: exact[it[0]] % 2)) for one, exact in zip(found, counts, strict=True)
        ]

    monkeypatch.setattr(discovery_stage, "shown_values", shown)


def counts_chosen_by_what_is_exact(monkeypatch):
    exact, drawn, found = [], discovery_stage.shown_values, alike_questions.found_category

    def shown(counts, selection, source=None):
        exact.append(sum(counts[0].values()))
        return drawn(counts, selection, source)

    def chosen(*facts):
        one = found(*facts)
        return replace(one, sure=() if exact[-len(facts[2])] % 2 else tuple(one.values))

    monkeypatch.setattr(discovery_stage, "shown_values", shown)
    monkeypatch.setattr(alike_questions, "found_category", chosen)


def how_many_without_noise(monkeypatch):
    real = discovery_stage.add_noise

    def noised(table, scale, source=None):
        noisy = real(table, scale, source)
        noisy[-1] = table[-1]
        return noisy

    monkeypatch.setattr(discovery_stage, "add_noise", noised)


def share_by_exact_counts(monkeypatch):
    exact, drawn = [], discovery_stage.shown_values

    def shown(counts, selection, source=None):
        exact.append(sum(sum(column.values()) for column in counts))
        return drawn(counts, selection, source)

    def settled(stage, looks, noise, scales, seen):
        return stage._with_share("0.2" if exact[-1] % 2 else "0.25", looks, noise, scales)

    monkeypatch.setattr(discovery_stage, "shown_values", shown)
    monkeypatch.setattr(discovery_stage.Discovery, "settled", settled)


@pytest.mark.thorough
def test_a_share_that_follows_from_exact_counts_is_found(monkeypatch):
    """As below: a draw may find nothing, so that nothing is settled."""
    share_by_exact_counts(monkeypatch)
    assert any(not examine(trial(SETTLED), turned=True).passed for _ in range(5))


@pytest.mark.few(1)
@pytest.mark.parametrize("fault", [too_low, shown_alone], ids=lambda fault: fault.__name__)
def test_a_value_that_one_person_alone_has_and_that_may_be_shown_is_found(monkeypatch, fault):
    """An audit draws real noise, and one in ten finds no column of words to show it by: none of nine, 1e-9 a run."""
    fault(monkeypatch)
    assert any(not examine(trial(), 2).passed for _ in range(9))


@pytest.mark.deep
@pytest.mark.parametrize(
    "fault",
    [
        kinds_of_exact_counts,
        counts_used_twice,
        ordered_by_exact_counts,
        counts_chosen_by_what_is_exact,
        how_many_without_noise,
    ],
    ids=lambda fault: fault.__name__,
)
def test_a_fault_in_finding_out_is_found(monkeypatch, fault):
    """As above: a draw may find no two values of a column to be in an order, so one audit may see nothing."""
    fault(monkeypatch)
    assert any(not examine(trial(), turned=True).passed for _ in range(9))


@pytest.mark.deep
def test_a_promise_that_is_spent_twice_is_found(monkeypatch):
    """What is found out is paid for, and the release after it takes the whole promise once more."""
    monkeypatch.setattr(Reserve, "later_mu", property(lambda reserve: reserve.mu))
    monkeypatch.setattr(Reserve, "covers", lambda reserve, events, first=False: True)
    monkeypatch.setattr(Reserve, "rest", property(lambda reserve: reserve.first_cost.events[0]))
    assert not examine(trial(BEFORE), 2).passed
