"""`judge`: how good a model is on a public test file, and probabilities that are made to fit it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from .output import check_writable, say


def judge(
    model: Annotated[Path, Argument(metavar="MODEL", help="A model file.", show_default=False)],
    table: Annotated[
        str,
        Argument(
            metavar="TABLE",
            help="Public records with the column that is predicted; never those that the model was made of.",
            show_default=False,
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
    from ..models.calibrating import calibrated, calibrated_reliability
    from ..models.judging import judge_classes, judge_numbers, read_test
    from ..models.number_model import NumberModel
    from ..models.opening import load_model
    from ..sources import open_source
    from ..words.numbers import percent, significant

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
