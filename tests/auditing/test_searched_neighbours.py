"""Neighbours that are searched for: made-up others of many sizes, and a person who climbs towards the promise."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.auditing.trials import BUDGETS, Pair, examine, of_mechanism, pairs
from core.sketches.registry import card
from tests.depth import draws

NAMES = ("race", "features", "histogram", "distance", "products", "moments", "privbayes", "mst")
REACHED = {"histogram": 0.99, "distance": 0.99, "products": 0.99, "race": 0.99}


def with_pairs(trial, tried):
    class Searched(type(trial)):
        def pairs(self):
            yield from tried

    return Searched(**{name: getattr(trial, name) for name in trial.__dataclass_fields__})


@pytest.mark.deep
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_escapes_with_others_of_any_number(name, budget):
    trial, rng = of_mechanism(card(name), budget), np.random.default_rng(len(name))
    for seed in range(draws(2, 40)):
        tried = list(pairs(trial.domain, budget.neighbours, records=int(rng.integers(1, 51)), seed=seed))
        verdict = examine(with_pairs(trial, tried))
        assert verdict.passed, verdict.sentence


@pytest.mark.deep
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_a_person_who_climbs_towards_the_promise_never_passes_it(name, budget):
    """Random steps within the bounds that keep whatever loses more; no step may lose more than was promised."""
    trial, rng = of_mechanism(card(name), budget), np.random.default_rng(7)
    first = next(iter(pairs(trial.domain, budget.neighbours)))
    low, high = (np.array([getattr(column, end) for column in trial.domain.columns]) for end in ("low", "high"))
    best, place = 0.0, rng.uniform(low, high)
    for _ in range(draws(3, 60)):
        step = np.clip(place + rng.normal(size=len(low)) * (high - low) / 4, low, high)
        person = pd.DataFrame([step], columns=list(trial.domain.fields))
        pair = Pair("somebody who climbs", first.data, pd.concat([first.data.iloc[:12], person], ignore_index=True))
        verdict = examine(with_pairs(trial, [pair]))
        assert verdict.passed, verdict.sentence
        if verdict.reached >= best:
            best, place = verdict.reached, step
    if budget.neighbours == "add_remove":
        assert best >= REACHED.get(name, 0.0) * float(budget.epsilon)


def test_pairs_of_other_seeds_are_other_people():
    trial = replace(of_mechanism(card("histogram"), BUDGETS[0]))
    one, other = (next(iter(pairs(trial.domain, "add_remove", seed=seed))).data for seed in (1, 2))
    assert not one.equals(other)
