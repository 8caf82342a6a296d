"""`classify`: which class places are like, and how often that is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from ..errors import RequestError
from ..words.numbers import percent
from .output import check_table, print_table, say, write_table
from .reading import PartOption, QueriesArgument, ReleaseArgument, TableOption, opened, read_queries

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from ..tasks.classification import Classification
    from ..tasks.confusion import Confusion, Rate


def classify(
    release: ReleaseArgument,
    queries: QueriesArgument,
    out: TableOption = None,
    part: PartOption = None,
    rule: Annotated[
        Literal["likelihood", "posterior", "distance", "mean", "discriminant", "direction"] | None,
        Option(
            help="What decides: average closeness of a class's records (likelihood), that of all of them together "
            "(posterior), their average distance, or the distance from their mean or direction; without it, what suits "
            "the release: likelihood where closeness is released.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="A column of QUERIES with the true classes, which must be public or of people who are "
            "not in the release: accuracy and confusions are printed, and the answers only go to --out.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        float, Option(help="Confidence from which an answer is certain; intervals of rates have it too.")
    ] = 0.95,
) -> None:
    """Say which class each place is like: the columns of QUERIES, and beside them the answers.

    They are label, confidence (probability that the release without its noise would say the same), certain (whether
    that reaches the level), and the probability of each class.
    """
    from ..sources.public_tables import beside
    from ..tasks.class_scores import classes_of
    from ..tasks.classification import classify as classified
    from ..tasks.classification import drowned_in_largest
    from ..tasks.confusion import confusion_of, label_codes

    check_table(out)
    asked = opened(release, None, part)
    sketch = classes_of(asked)
    table = read_queries(queries, sketch.query_domain)
    codes = None if truth is None else label_codes(sketch, _column(table, truth))
    found = classified(asked, table, rule, level)
    if codes is None or out is not None:
        write_table(beside(table, _answers(found)), out)
    if codes is not None:
        _print(confusion_of(found, codes, level))
    say(
        f"Certain of {percent(float(found.certain.mean()), 3)} of {len(found.codes):,} places, by the rule of "
        f"{found.rule}."
    )
    drowned = drowned_in_largest(asked, found.rule, found.codes)
    if drowned is not None:
        say(f"{drowned} Ask with --rule likelihood.")


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        raise RequestError(f"The queries have no column {name!r} with the true classes.")
    return table.column(name)


def _answers(found: Classification) -> dict[str, np.ndarray]:
    """The answers by name, one a place; a class's probability is named after it."""
    answers = {"label": found.labels, "confidence": found.confidence, "certain": found.certain}
    for name, share in zip(found.classes, found.probabilities.T, strict=True):
        answers[f"probability_{name}"] = share
    return answers


def _print(made: Confusion) -> None:
    """Rates in words, and a table of true classes by what was said of them."""
    from ..tasks.confusion import DONT_KNOW

    print_table(
        ("", "share", "very likely within"),
        [
            ("right, certain or not", *_in_words(made.accuracy)),
            ("right where certain", *_in_words(made.certain_accuracy)),
            ("certain", *_in_words(made.certain)),
        ],
    )
    rows = [(name, *(f"{count:,}" for count in counts)) for name, counts in zip(made.classes, made.counts, strict=True)]
    print_table(("true class", *made.classes, DONT_KNOW), rows, "Places by their true class and by what was said")


def _in_words(rate: Rate) -> tuple[str, str]:
    estimate, low, high = (percent(float(share), 3) for share in (rate.estimate, rate.low, rate.high))
    return estimate, f"{low} to {high}"
