"""Compare all methods on the sample data: python sample_data/compare_samples.py [NAME ...]

Writes what the page Compare shows first of each sample (all, or the named ones) into sample_data/comparisons: how dense
it is, by all methods that need no δ, at every ε, as far as the page itself would go, and functions released at ε = 1.
Rounds go over all samples: one release at every ε, then more of them, then the best settings. It takes minutes of a
processor for each, may be stopped at any time and goes on from there, as the page does; remove the files first when
samples or mechanisms have changed.
Errors come from seeds, and times are those of the computer that it runs on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.lab.comparison_plan import Outcome, Plan, Step
from core.lab.comparison_work import COMPARISONS, FAULT, bundled, keep, tried
from core.releases.forecast.recommendation import Closeness
from core.runtime.environment import one_core
from core.sources.public_tables import sample, samples
from core.ui.compare_choices import first_shown
from core.ui.compare_subject import Subject, sample_subject

OFTEN = 20
"""Seconds of a processor after which what is known is written."""
ROUNDS: tuple[Callable[[Step], bool], ...] = (
    lambda step: not (step.repetition or step.sizing),
    lambda step: not step.sizing,
    lambda step: True,
)
"""Which steps belong to a round; one ends at the first step that does not."""


@cache
def subject_of(name: str) -> Subject:
    """What methods are compared on by a sample's name."""
    one = sample(name)
    return sample_subject(one, Closeness(one.kernel))


def steps(plan: Plan, known: dict[Step, Outcome], within: Callable[[Step], bool]) -> Iterator[Step]:
    """What is left of a round: functions first, also those that would keep a visitor waiting."""
    yield from (step for step in map(plan.drawing, plan.methods) if step not in known)
    while (step := plan.next_step(known)) is not None and within(step):
        yield step


def compare(name: str, within: Callable[[Step], bool]) -> None:
    """One round of the comparison of a sample that the page shows first; what is there stays."""
    subject = subject_of(name)
    plan, known, unwritten = first_shown(subject), bundled(subject.identity), 0.0
    path = COMPARISONS / f"{name}.parquet"
    with one_core():
        for step in steps(plan, known, within):
            known[step] = tried(subject.work, step)
            if known[step].problem == FAULT:
                raise RuntimeError(f"{step} failed; the log says how.")
            unwritten += known[step].seconds
            if unwritten > OFTEN:
                keep(path, {subject.identity: known})
                unwritten = 0.0
    keep(path, {subject.identity: known})
    print(f"{name}: {len(known):,} steps, {path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    every = [one.name for one in samples() if not one.domain.holds_sets]
    for of_round in ROUNDS:
        for one in sys.argv[1:] or every:
            compare(one, of_round)
