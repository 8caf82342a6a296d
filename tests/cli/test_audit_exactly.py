"""`audit --exact` as it is typed: what is replayed, what is said, and the exit code."""

import json
from dataclasses import replace

import pytest

from core.auditing import trials
from core.releases import seal


@pytest.mark.deep
def test_a_mechanism_is_replayed_and_what_was_reached_is_said(command):
    done = command("audit", "--exact", "--mechanism", "histogram", "--epsilon", "1", "--bandwidth", "0.25")
    assert done.exit_code == 0 and "nothing escaped" in done.stdout and "at most ε = 1 was used" in done.stdout


def test_a_local_report_is_replayed_as_json(command):
    done = command("audit", "--exact", "--local", "olh", "--epsilon", "1", "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 0 and said["passed"] and all(one["reached"] <= 1 for one in said["trials"])


@pytest.mark.thorough
def test_a_broken_promise_is_said_and_ends_with_exit_code_1(command, monkeypatch):
    real = seal.add_noise

    def halved(table, scale, source=None, out=None):
        return real(table, replace(scale, parameter=scale.parameter / 2), source, out)

    monkeypatch.setattr(seal, "add_noise", halved)
    done = command("audit", "--exact", "--mechanism", "histogram", "--epsilon", "1", "--bandwidth", "0.25")
    assert done.exit_code == 1 and "the draws keep ε = 2, and 1 was promised" in done.stdout


def test_a_broken_promise_is_said_as_json_where_an_attack_was_to_follow(command, monkeypatch):
    """Nothing was printed, and a script that reads JSON met an empty text."""

    def broken(trial, **options):
        return trials.Verdict(trial, ("the draws keep ε = 2, and 1 was promised",), 2.0, 3)

    monkeypatch.setattr(trials, "examine", broken)
    done = command("audit", "--mechanism", "histogram", "--epsilon", "1", "--bandwidth", "0.25", "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 1 and not said["passed"] and said["exact"][0]["failed"] == 1


def test_a_name_of_nothing_is_refused_in_a_sentence(command):
    done = command("audit", "--exact", "--local", "nobody", "--epsilon", "1")
    assert done.exit_code == 2 and "There is no kind of local report 'nobody'" in done.stderr
    done = command("audit", "--train", "sgd", "--local", "olh", "--epsilon", "1")
    assert done.exit_code == 2 and "one at a time" in done.stderr
