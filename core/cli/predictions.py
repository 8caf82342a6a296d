"""What a release or a model predicts, and how good that is: `classify`, `regress`, `predict` and `judge`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from ..errors import RequestError
from ..formatting.numbers import count, percent
from .asked_release import PartOption, QueriesArgument, ReleaseArgument, TableOption, opened, read_queries
from .output import check_table, check_writable, print_table, say, write_file, write_table

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from ..analysis.classification import Classification, Confusion, Rate


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
            "the release: likelihood where closeness is released."
        ),
    ] = None,
    truth: Annotated[
        str | None,
        Option(
            metavar="COLUMN",
            help="A column of QUERIES with the true classes, which must be public or of people who are "
            "not in the release: accuracy and confusions are printed, and the answers only go to --out.",
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
    from ..analysis.class_scores import classes_of
    from ..analysis.classification import classify as classified
    from ..analysis.classification import confusion_of, drowned_in_largest, label_codes
    from ..sources.public_tables import beside

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
    from ..analysis.classification import DONT_KNOW

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


def regress(
    release: ReleaseArgument,
    target: Annotated[str, Option("--target", metavar="COLUMN", help="The column to predict.")] = "",
    on: Annotated[
        str | None,
        Option("--from", "--on", metavar="A,B,...", help="Columns to predict it from; without it, all others."),
    ] = None,
    category: Annotated[
        str | None, Option("--category", metavar="NAME", help="Of a target with categories, which one's share.")
    ] = None,
    ridge: Annotated[
        str, Option("--ridge", help="A number of records, 0 for least squares, or a rule: least-error, adassp.")
    ] = "least-error",
    predict: Annotated[
        str | None,
        Option(
            "--predict",
            metavar="COLUMN|QUERIES",
            help="The column to predict; beside --target a table whose rows are predicted, in place of coefficients.",
        ),
    ] = None,
    about: Annotated[
        str, Option("--about", help="What intervals hold: what the records give, or with sampling the population.")
    ] = "records",
    level: Annotated[float, Option("--level", help="Probability with which an interval holds what it is for.")] = 0.95,
    part: PartOption = None,
    out: TableOption = None,
) -> None:
    """Predict any column of a release of products from any others: coefficients, or predictions, with intervals.

    One release answers every regression at no further cost. The ridge is chosen from what was released.
    """

    from ..analysis.regression import regression
    from ..figures.answer_sentences import NO_RIDGE
    from ..releases.release import load
    from ..sources.public_tables import beside

    check_table(out)
    if not target:
        target, predict = predict or "", None
    if not target:
        raise RequestError("Say which column is predicted, as --predict COLUMN.")
    asked = load(release)
    asked = asked if part is None else asked.part(part)
    try:
        strength: float | str = float(ridge)
    except ValueError:
        strength = ridge
    if "," in target:
        raise RequestError("One column is predicted at a time.")
    found = regression(asked, target, None if on is None else on.split(","), category, strength)
    if predict is None:
        table = found.coefficients(level, about)
        names = [f"{row.column}={row.category}" if row.category else row.column for row in table.itertuples()]
        table.insert(0, "name", names)
        write_table(table, out)
        say(f"The intercept is {found.intercept:.6g}.")
    else:
        domain = found.domain
        table = read_queries(predict, domain)
        answers = found.predict(table, level, about)
        write_table(beside(table, {name: answers[name].to_numpy() for name in answers}), out)
    say(
        f"It explains about {found.explained:.0%} of the variance of {found.name}; a record is "
        f"{found.residual_deviation:.3g} from its prediction (root mean square). {of_ridge(found.ridge)}"
    )
    if about == "population" and found.ridge > 0.0:
        say(NO_RIDGE)


def of_ridge(ridge: float) -> str:
    """What the ridge is, and what an infinite one means."""
    if math.isinf(ridge):
        return "The mean is predicted, as slopes would say more of the noise than of the records."
    return f"The ridge is {ridge:.4g} records."


def predict(
    model: Annotated[Path, Argument(metavar="MODEL", help="A model file.")],
    queries: Annotated[str | None, QueriesArgument.__metadata__[0]] = None,
    coefficients: Annotated[
        bool, Option("--coefficients", help="Write the model's coefficients in the columns' own units instead.")
    ] = False,
    onnx: Annotated[
        Path | None,
        Option("--onnx", metavar="FILE", help="Write the model as an ONNX file instead, for other programs."),
    ] = None,
    out: TableOption = None,
) -> None:
    """Ask a model: the columns of QUERIES, and what it predicts: a number, or a class with the probability of each.

    With --coefficients, the model itself as a table: a score is the intercept, the row without a column, and each
    number times its coefficient, and the coefficient of each category.
    """
    import numpy as np
    import pyarrow as pa

    from ..models.linear_models import load_model
    from ..models.onnx_export import to_onnx
    from ..sources.public_tables import beside

    check_table(out)
    opened = load_model(model)
    for sentence in opened.warnings:
        say(sentence)
    if coefficients:
        write_table(opened.coefficients(), out)
        return
    if onnx is not None:
        check_writable(onnx, overwrite=False)
        content = to_onnx(opened)
        write_file(onnx, lambda file: file.write(content))
        say(f"Wrote {onnx}, with an input for each column: {', '.join(opened.features.names)}.")
        return
    if queries is None:
        raise RequestError("Say which records are asked about, as QUERIES, or take --coefficients or --onnx.")
    table = read_queries(queries, opened.features)
    whole = _whole_rows(table, opened.features.names)
    if not whole.any():
        raise RequestError("Every row misses a value of a column that the model predicts from.")
    answers = opened.predict(table.filter(pa.array(whole)))
    places = pa.array(np.where(whole, np.cumsum(whole) - 1, 0), mask=~whole)
    write_table(beside(table, {name: pa.array(answers[name].to_numpy()).take(places) for name in answers}), out)
    if not whole.all():
        say(f"{count(int((~whole).sum()), 'row')} of {len(whole):,} miss a value, and nothing is predicted of them.")


def _whole_rows(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """Which rows have a value in every one of these columns, bool (n,)."""
    import numpy as np
    import pyarrow.compute as pc

    gaps = [pc.is_null(table.column(name), nan_is_null=True).to_numpy() for name in names if name in table.column_names]
    return ~np.logical_or.reduce(gaps) if gaps else np.ones(table.num_rows, bool)


def judge(
    model: Annotated[Path, Argument(metavar="MODEL", help="A model file.")],
    table: Annotated[
        str,
        Argument(
            metavar="TABLE",
            help="Public records with the column that is predicted; never those that the model was made of.",
        ),
    ],
    fit: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write a model whose probabilities are made to fit TABLE, at no further cost."),
    ] = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Say how often a model is right about public records, or how far off it is.

    Of classes: the share that is right, what is taken for what, and whether probabilities mean what they say.
    """
    from ..errors import RequestError
    from ..figures.class_figures import confusion_in_words
    from ..figures.model_figures import reliability_in_words
    from ..formatting.numbers import percent, significant
    from ..models.judging import calibrated, calibrated_reliability, judge_classes, judge_numbers, read_test
    from ..models.linear_models import NumberModel, load_model
    from ..sources import open_source

    opened = load_model(model)
    for sentence in opened.warnings:
        say(sentence)
    if fit is not None:
        if isinstance(opened, NumberModel):
            raise RequestError("Only a model of classes has probabilities that can be made to fit.")
        check_writable(fit, overwrite)
    tested = read_test(opened, open_source(table))
    left = f", {tested.left_out:,} more were left out as they miss something" if tested.left_out else ""
    say(f"Asked about {len(tested.truth):,} records{left}.")
    if isinstance(opened, NumberModel):
        numbers = judge_numbers(opened, tested)
        say(
            f"It is typically {significant(numbers.typical, 4)} off (root mean square), and on average "
            f"{significant(numbers.absolute, 4)}; always their mean would be {significant(numbers.of_mean, 4)} off. "
            f"It explains {percent(max(0.0, numbers.explained), 3)} of how they differ."
        )
        return
    found = judge_classes(opened, tested)
    rate = found.confusion.accuracy
    low, high = (percent(float(end), 3) for end in (rate.low, rate.high))
    say(
        f"It is right in {percent(float(rate.estimate), 3)} (95%: {low} to {high}); always the most common answer in "
        f"{percent(found.common, 3)}."
    )
    say(confusion_in_words(found.confusion))
    say(reliability_in_words(found.reliability))
    after = calibrated_reliability(opened, tested)
    say(
        f"Its probabilities are off by {percent(found.reliability.off, 2)} on average, and by {percent(after.off, 2)} "
        "once they are made to fit (each half of the table judged by the other)."
    )
    if fit is not None:
        made = calibrated(opened, tested)
        made.save(fit, teaching=not made.private)
        say(f"Wrote {fit}, whose probabilities fit {len(tested.truth):,} public records.")
