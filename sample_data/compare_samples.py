"""Compare all methods on the sample data: python sample_data/compare_samples.py [NAME ...]

Writes what the page Compare shows first of each sample (all, or the named ones) into sample_data/comparisons: how dense
it is, by all methods that need no δ, at every ε, and then with the best settings, as far as the page itself would go.
It takes minutes of a processor for each, and goes on where it was stopped; remove the files first when samples or
mechanisms have changed. Errors come from seeds, and times are those of the computer that it runs on.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.experiments.comparison.bundled import COMPARISONS, bundled, keep
from core.experiments.comparison.work import FAULT, tried
from core.forecast.recommendation import Closeness
from core.machine.threads import one_core
from core.sources.samples import Sample, samples
from core.ui.compare.choice import first_plan
from core.ui.compare.subject import sample_subject


def compare(one: Sample, tuning: bool) -> None:
    """The comparison of a sample that the page shows first, or that without the best settings; what is there stays."""
    subject = sample_subject(one, Closeness(one.kernel))
    plan, known = first_plan(subject), bundled(subject.identity)
    with one_core():
        while (step := plan.next_step(known)) is not None and (tuning or not step.sizing):
            known[step] = tried(subject.work, step)
            if known[step].problem == FAULT:
                raise RuntimeError(f"{step} failed; the log says how.")
    path = COMPARISONS / f"{one.name}.parquet"
    keep(path, {subject.identity: known})
    print(f"{one.name}: {len(known):,} steps, {path.stat().st_size:,} bytes", flush=True)


if __name__ == "__main__":
    chosen = [one for one in samples() if one.name in sys.argv[1:] or not sys.argv[1:]]
    for tuning in (False, True):  # curves of every sample first
        for one in chosen:
            if not one.domain.holds_sets:
                compare(one, tuning)
