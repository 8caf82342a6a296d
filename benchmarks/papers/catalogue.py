"""Every experiment that the one command knows."""

from __future__ import annotations

from functools import partial

from . import classes, density_report, embeddings, published_constants, storm_tables, training, training_sets
from .datasets import public_data
from .density import Density
from .work import Experiment

RACE, ICLR = "RACE (CCS 2021)", "Efficiently Computing Similarities (ICLR 2024)"
DENSITIES = (
    Density("salaries-sf", "sf", "l2_error", "Salaries, San Francisco", f"{RACE}, figure 3"),
    Density(
        "salaries-nyc",
        "nyc",
        "l2_error",
        "Salaries with sharp peaks",
        f"{RACE}, figure 3",
        "The paper has New York's salaries of 2018; these are made up in their likeness.",
    ),
    Density("skin", "skin", "relative_error", "Colours of skin", f"{RACE}, figure 3 and table 3"),
    Density("eight", "eight", "relative_error", "Eight columns", f"{RACE}, figure 3"),
    Density(
        "wide",
        "wide",
        "relative_error",
        "Many columns",
        f"{RACE}, figure 7",
        "Whoever cannot have all columns gets records on random directions that everyone knows, as many as it can have "
        "below nine; its error is against the exact sums of the records as they are. The paper's rivals had 100 "
        "thousand of the records.",
    ),
    Density(
        "distances",
        "line",
        "relative_error",
        "Sums of distances",
        f"{ICLR}, figure 1",
        "The answers are sums of distances of 1,000 points; the paper's size is not printed in its text.",
    ),
)


def _density(one: Density) -> Experiment:
    return Experiment(
        one.name,
        one.title,
        memory=2 << 30 if one.data in ("skin", "wide") else 1 << 30,
        first=one.first,
        then=one.then,
        prepare=public_data,
        measure=one.trial,
        section=partial(density_report.section, one),
    )


CLASSIFICATION = Experiment(
    classes.NAME,
    "Classification",
    memory=classes.MEMORY,
    first=classes.first,
    then=classes.then,
    prepare=lambda work, settings: classes.sets(settings.data, work.quick),
    measure=classes.measure,
    section=classes.section,
)
PROJECTION = Experiment(
    embeddings.PROJECTION,
    "A projection before a kernel sum",
    memory=embeddings.MEMORY,
    first=embeddings.projection_first,
    then=lambda settings, records: [],
    prepare=lambda work, settings: None,
    measure=embeddings.projection_measure,
    section=embeddings.projection_section,
    trials=embeddings.TRIALS,
)
NEAREST_MEAN = Experiment(
    embeddings.MEAN,
    "Classification by the nearest mean",
    memory=embeddings.MEMORY,
    first=embeddings.mean_first,
    then=lambda settings, records: [],
    prepare=lambda work, settings: None,
    measure=embeddings.mean_measure,
    section=embeddings.mean_section,
    trials=embeddings.TRIALS,
)
TRAINING, REGRESSIONS = (
    Experiment(
        kind,
        title,
        memory=training.MEMORY,
        first=partial(training.first, kind),
        then=lambda settings, records: [],
        prepare=training.prepare_of(kind),
        measure=training.measure,
        section=partial(training.section, kind),
    )
    for kind, title in ((training_sets.CLASSES, "Trained classifiers"), (training_sets.NUMBERS, "Numbers predicted"))
)
STORM = Experiment(
    storm_tables.NAME,
    "Regression on RACE tables",
    memory=storm_tables.MEMORY,
    first=storm_tables.first,
    then=lambda settings, records: [],
    prepare=lambda work, settings: storm_tables.problems(settings.data, work.quick),
    measure=storm_tables.measure,
    section=storm_tables.section,
)
CONSTANTS = Experiment(
    published_constants.NAME,
    "Promises with wrong constants",
    memory=published_constants.MEMORY,
    first=published_constants.first,
    then=lambda settings, records: [],
    prepare=lambda work, settings: None,
    measure=published_constants.measure,
    section=published_constants.section,
)
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        *map(_density, DENSITIES),
        CLASSIFICATION,
        PROJECTION,
        NEAREST_MEAN,
        TRAINING,
        REGRESSIONS,
        STORM,
        CONSTANTS,
    )
}
"""By name, in the order of the report."""
