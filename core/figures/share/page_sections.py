"""What stands on the page of a release besides its picture: promise, privacy label, answers, columns and differences.

It is markup that needs no script, and prints. Whatever comes from a file or a visitor is escaped on its way in.

Pictures of a page that are looked at and not asked are densities that were asked for. The page draws them with the same
code as the picture that is asked; here is what it draws them from, and what is said below each.

Models are shown by their coefficients, with what the page needs to predict from a form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ...analysis import table_profile
from ...analysis.answerable import Box
from ...analysis.density import Curve, Heatmap
from ...analysis.differences import (
    Row,
    cell_differences,
    groups_of,
    means_of_groups,
    rows_of_differences,
    strength_differences,
)
from ...analysis.product_sums import Sums
from ...analysis.regression import Regression, regression
from ...domain import Categorical, Vector
from ...errors import RequestError
from ...formatting.escapes import in_html
from ...formatting.numbers import best_guess, listed, minute, percent, shown, significant
from ...models.linear_models import LinearModel, NumberModel
from ...releases.comparison import Comparison
from ...releases.release import Release
from ..answer_sentences import MODES_OF_RECORDS
from ..difference_figures import difference_words, strength_words
from ..distance_figures import distance_unit
from ..exploration import Density, Modes, Step
from ..label import PrivacyLabel
from ..meaning import counted
from ..model_figures import reaches
from ..release_pictures import drawn, height, in_units, in_words
from .shared_pictures import column_facts, numbers

MOST_COLUMNS = 100  # Columns that the label lists.


def promise_html(label: PrivacyLabel) -> Iterator[str]:
    """How much better a guess may become, as a bar and as sentences."""
    yield (
        f"<p class='lead'>A noisy table was released in place of {in_html(label.records)} records. It answers "
        "questions about all of them together, for ever, and hides every single one.</p>"
        f"<p class='odds'>{in_html(label.odds_in_words)}</p>"
        f"<svg class='bar' role='img' aria-label='{percent(label.odds, 3)} on a scale from 50% to 100%' "
        f"viewBox='0 0 1 1' preserveAspectRatio='none'><rect width='{2 * label.odds - 1:.4f}' height='1'/></svg>"
        "<p class='scale'><span>50%, a coin flip</span><span>100%, certainty</span></p>"
    )
    worst = "That is the worst case: a guesser who knows everyone else's records and has all the time in the world."
    yield f"<p>{in_html(' '.join(filter(None, (worst, label.slack, label.overlap))))}</p>"


def label_html(label: PrivacyLabel) -> Iterator[str]:
    """The privacy label: the same facts in the same order for every release."""
    yield "<section class='label' aria-labelledby='label'><h2 id='label'>Privacy label</h2><dl>"
    yield from _fact("Protected", label.protected if label.private else "nobody: a file for teaching")
    yield from _fact("Promise" if label.private else "Promise it would have", label.promise)
    yield from _fact("Hidden", label.hidden)
    if label.one_record:
        yield from _fact("One record", label.one_record)
    yield from _fact("Records", label.records, label.records_source)
    known = "Columns, said and found" if label.found else "Columns, from public knowledge"
    yield f"<div><dt>{known}</dt><dd><ul>{''.join(_columns(label))}</ul></dd></div>"
    if label.found:
        yield from _fact("Found", label.found)
    yield from _fact("Records that do not fit", label.left_out)
    if label.parts:
        yield from _fact("Questions", _capital(label.table))
        for part in label.parts:
            what = f"{listed(part.columns)}; {percent(part.share, 2)} of the budget"
            yield from _fact(in_html(part.name), what, *part.sentences)
    else:
        yield from _fact(label.asked, f"{_capital(label.measured)}.", label.clipped)
        yield from _fact("Table", _capital(label.table), label.chosen, label.classes, *label.noise)
        yield from _fact("Noise in an answer", label.answer_noise_in_words)
    yield from _fact("Why it holds", label.theorem, label.audited)
    yield from _fact("Made", f"{minute(label.created)} by {label.software}")
    if label.fingerprint:
        fingerprint = f"<code>{label.fingerprint}</code><small>SHA-256 of the file</small>"
        yield f"<div><dt>Fingerprint</dt><dd>{fingerprint}</dd></div>"
    yield "</dl></section>"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _columns(label: PrivacyLabel) -> Iterator[str]:
    for column in label.columns[:MOST_COLUMNS]:
        yield f"<li><strong>{in_html(column.name)}</strong> {in_html(column.values)}</li>"
    if len(label.columns) > MOST_COLUMNS:
        yield f"<li>and {len(label.columns) - MOST_COLUMNS:,} further columns</li>"


def _fact(name: str, value: str, *notes: str) -> Iterator[str]:
    below = "".join(f"<small>{in_html(note)}</small>" for note in notes if note)
    yield f"<div><dt>{name}</dt><dd>{in_html(value)}{below}</dd></div>"


COUNTS = (
    "Shares say how many of all {counted} are in a cell. Lines across bars and what stands in brackets hold the exact "
    "number in 95 of 100 cases. What cannot be told from none is hatched up to where it very likely ends."
)
SUMS = (
    "A coefficient says by how much what is predicted of {counted} changes with a column, all others staying as they "
    "are. Intervals hold what these records would give without noise in 95 of 100 cases: where one has zero in it, the "
    "noise alone may make its coefficient."
)
PARTS = (
    "The release answers several questions about the same records under one promise; each has its own share of the "
    "budget, and so its own noise. Bands and intervals hold the exact answer in 95 of 100 cases unless said otherwise."
)
DISTANCE = (
    "An answer adds up how far all {counted} are from a place; divided by their number it is the average distance. "
    "Bands and intervals hold the exact answer in 95 of 100 cases unless said otherwise."
)
CLOSENESS = (
    "An answer counts {counted} close by: whoever is exactly at a place counts in full, and whoever is farther away "
    "counts less. Bands and intervals hold the exact answer in 95 of 100 cases unless said otherwise. Where the noise "
    "is larger than what could be there, a picture is hatched: nothing is known about such places, and they may be "
    "empty."
)


def reading_html(label: PrivacyLabel, asked_for: str) -> Iterator[str]:
    """How the answers of a page are read, by what its file is asked for."""
    of_places = PARTS if label.parts else DISTANCE if label.asked == "Distance" else CLOSENESS
    words = {"tables": COUNTS, "products": SUMS}.get(asked_for, of_places)
    yield (
        "<section aria-labelledby='reading'><h2 id='reading'>How to read it</h2>"
        f"<p>{in_html(words.format(counted=label.counted))}</p><p>Everything here was computed from the released file "
        "alone. Anyone who has the file can ask it more, at no further cost in privacy, and can check by its "
        "fingerprint that it is the one described here.</p></section>"
    )


MOST_ROWS = 20  # Rows of answers that are printed; the file answers the rest.
ROUNDED = ("estimate", "low", "high")  # Columns of answers that are rounded to what their error supports.
HEADS = {"significant": "more than noise", "anomalous": "unusual", "certain": "surely"}
# Columns of answers that intervals and marks already speak of.
NOT_PRINTED = ("standard_error", "prominence", "prominence_error")


def answers_html(release: Release, step: Step) -> Iterator[str]:
    """A table of answers; the first columns are those of the release."""
    table, names = step.table(release), release.domain.names
    errors = None if "standard_error" in names else table.get("standard_error")
    columns = [name for name in table.columns if name in names or name not in NOT_PRINTED]
    heads = [name if name in names else HEADS.get(name, name) for name in columns]
    yield from table_html("Answers", heads, _cells(table[columns].head(MOST_ROWS), errors), len(table))


def table_html(title: str, heads: Sequence[str], lines: Iterable[Sequence[str]], of: int = 0) -> Iterator[str]:
    """A table that scrolls by itself where it is wide, and says how many of so many lines it has; cells are markup."""
    head = "".join(f"<th scope='col'>{in_html(shown(name))}</th>" for name in heads)
    yield f"<div class='wide' tabindex='0' role='region' aria-label='{in_html(title)}'>"
    yield f"<table><thead><tr>{head}</tr></thead><tbody>"
    rows = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>" for cells in lines]
    yield from (*rows, "</tbody></table></div>")
    if of > len(rows):
        yield f"<p class='note'>The first {len(rows):,} of {of:,} rows.</p>"


def _cells(table: pd.DataFrame, errors: pd.Series | None) -> Iterator[list[str]]:
    for place, row in enumerate(table.itertuples(index=False, name=None)):
        error = None if errors is None else float(errors.iloc[place])
        each = zip(table.columns, row, strict=True)
        yield [in_html(cell_words(value, error if name in ROUNDED else None)) for name, value in each]


def cell_words(value: object, error: float | None = None) -> str:
    """A value of a table in words."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if error is not None:
        return best_guess(float(value), error)
    return significant(value, 4) if isinstance(value, (int, float)) else shown(str(value))


MOST_DIFFERENCES = (
    30  # Lines of a table of differences, those that are more than noise first; two files answer the rest.
)
NOISE = (
    "Bold: more than noise alone may make. Of a hundred lines without a difference, about five are bold all the same."
)
Told = tuple[bool, tuple[str, ...]]  # Whether a line is more than noise, and its cells.


def differences_html(compared: Comparison, other: str) -> Iterator[str]:
    """The difference of two releases of tables."""
    yield "<section aria-labelledby='differences'>"
    yield f"<h2 id='differences'>Difference to {in_html(shown(other))}</h2>"
    counted = "shares of all" if compared.shares else "numbers of records"
    yield f"<p>This file less the other. Means are of numbers and dates, {counted} of categories. {NOISE}</p>"
    yield from _told("Columns", ("column", "difference"), _lines(rows_of_differences(compared), compared.shares))
    places = table_profile.place_columns(compared.first.asked())
    if places is not None:
        yield from _told("On the map", (*places, "difference"), _of_cells(compared, places))
    means = [row for pair in groups_of(compared) for row in _named(means_of_groups(compared, *pair), pair[1])]
    yield from _told("Means of groups", ("mean", "difference"), _lines(means, False))
    strengths = [
        (row.told, (_both(row.column, row.other), *strength_words(row))) for row in strength_differences(compared)
    ]
    yield from _told("What goes together (Cramér's V)", ("columns", "this file", "the other", "difference"), strengths)
    yield "</section>"


def _lines(rows: Iterable[Row], shares: bool) -> list[Told]:
    return [(row.told, (_said(row), _difference(row, shares))) for row in rows]


def _said(row: Row) -> str:
    return f"{shown(row.column)}: {shown(row.what)}{f' ({shown(row.unit)})' if row.unit else ''}"


def _difference(row: Row, shares: bool) -> str:
    return difference_words(row.estimate, row.low, row.high, shares and not row.mean)


def _named(rows: Iterable[Row], by: str) -> Iterator[Row]:
    """Differences of means whose names say by which column their groups are."""
    return (replace(row, what=f"{by} {row.what}") for row in rows)


def _of_cells(compared: Comparison, places: tuple[str, str]) -> list[Told]:
    frame = cell_differences(compared, *places).frame()
    return [
        (low > 0.0 or high < 0.0, (across, up, difference_words(estimate, low, high, compared.shares)))
        for across, up, estimate, low, high in frame.itertuples(index=False)
    ]


def _both(one: str, other: str) -> str:
    return listed([shown(one), shown(other)])


def _told(title: str, heads: Sequence[str], lines: list[Told]) -> Iterator[str]:
    """A table of differences, those that are more than noise first and bold."""
    if not lines:
        return
    first = sorted(lines, key=lambda line: not line[0])[:MOST_DIFFERENCES]
    yield f"<h3>{in_html(title)}</h3>"
    cells = ([f"<strong>{in_html(one)}</strong>" if told else in_html(one) for one in line] for told, line in first)
    yield from table_html(title, heads, cells, len(lines))


Facts = dict[str, Any]


def steps_html(release: Release, steps: tuple[Step, ...], whom: str, stills: list[Facts]) -> Iterator[str]:
    """A section for each thing that was asked: a picture, whose facts are added to ``stills``, or a table."""
    for place, step in enumerate(steps, start=1):
        title = f"{drawn(release)} over {listed(step.columns)}" if isinstance(step, Density) else step.title
        title = f"{title} ({shown(whom)})" if whom else title
        yield f"<section aria-labelledby='step-{place}'><h2 id='step-{place}'>{in_html(title)}</h2>"
        if isinstance(step, Density):
            picture = step.call.of(release)
            stills.append(_density(release, picture))
            yield from figure_html(f"{in_words(release, picture)} {_others(picture)}", f"step-{place}-words")
        else:
            yield from answers_html(release, step)
            if isinstance(step, Modes) and release.population is not None:
                yield f"<p class='note'>{in_html(MODES_OF_RECORDS)}</p>"
        yield "</section>"


def figure_html(words: str, identity: str) -> Iterator[str]:
    """Where the page's script draws the next still; without it the words are there."""
    yield f"<figure class='still'><figcaption id='{identity}'>{in_html(words.strip())}</figcaption></figure>"


def _density(release: Release, picture: Curve | Heatmap) -> Facts:
    names = (picture.column,) if isinstance(picture, Curve) else (picture.x, picture.y)
    box = Box.of(release.sketch)
    return {
        "columns": [column_facts(box, name) for name in names],
        "pictures": {"0" if len(names) == 1 else "0,1": numbers(in_units(release, picture))},
        "answers": release.sketch.answers,
        "counted": counted(release.domain),
        "unit": distance_unit(release.sketch) if release.sketch.answers == "distance" else "",
        "title": height(release),
    }


def _others(picture: Curve | Heatmap) -> str:
    """A sentence about the columns that are not drawn."""
    sentences = []
    if picture.at:
        held = [f"{shown(name)} at {cell_words(value)}" for name, value in picture.at.items()]
        sentences.append(f"Held: {listed(held)}.")
    if picture.averaged:
        sentences.append(f"Averaged over all values, likely or not: {listed(picture.averaged)}.")
    return " ".join(sentences)


MOST_TARGETS = 30


def model_facts(model: LinearModel) -> dict[str, Any]:
    """A trained model: what carries each class; the page predicts by what the file itself says."""
    named = model.categories[1:] if len(model.rows) == 1 else model.categories
    tables = [reaches(model, row) for row in range(len(named))]
    return {
        "kind": "model",
        "banded": model.bands is not None,
        "coefficients": [
            {"name": name, "rows": _carrying(table), "curves": _curves(model, row)}
            for row, (name, table) in enumerate(zip(named, tables, strict=True))
        ],
    }


def _carrying(table: pd.DataFrame) -> list[list[Any]]:
    """Name, how far it moves what is predicted over its range, and between which ends; None where nothing says them."""
    names = [f"{row.column} = {row.category}" if row.category else row.column for row in table.itertuples()]
    whole = np.where(table.estimate == 0.0, 1.0, table.carries / table.estimate.replace(0.0, 1.0))
    ends = [[None if np.isnan(end) else end for end in pair] for pair in zip(table.low, table.high, strict=True)]
    return [
        [name, float(move), *(None if end is None else end * by for end in pair)]
        for name, move, by, pair in zip(names, table.carries, whole.tolist(), ends, strict=True)
    ]


def _curves(model: LinearModel | NumberModel, row: int) -> list[dict[str, Any]]:
    """The curves of a row of scores, with bands where they are known."""
    return [
        {
            "name": curve.column,
            "texts": list(curve.texts),
            "values": curve.values.tolist(),
            "reach": None if curve.reach is None else curve.reach.tolist(),
        }
        for curve in model.curves(row)
    ]


def number_facts(model: NumberModel) -> dict[str, Any]:
    """A trained model of numbers, as one regression."""
    every = model.coefficients().iloc[1:]
    straight = every.drop(every.index[[place for places, _ in model.task.curves_of.values() for place in places]])
    target = {
        "name": model.named,
        "link": model.kind,
        "explained": None,
        "deviation": model.residual_deviation,
        "mean_off": None if model.of_mean is None else model.goal.half * model.of_mean,
        "rows": _estimates(straight),
        "curves": _curves(model, 0),
    }
    return {"kind": "regressions", "targets": [target]}


def _estimates(table: pd.DataFrame) -> list[list[Any]]:
    """Of each coefficient its name, the estimate and the ends of its interval; None where nothing says them."""
    names = [f"{row.column} = {row.category}" if row.category else row.column for row in table.itertuples()]
    ends = [[None if np.isnan(end) else end for end in (row.low, row.high)] for row in table.itertuples()]
    return [[name, row.estimate, *end] for name, row, end in zip(names, table.itertuples(), ends, strict=True)]


def regression_facts(release: Release) -> dict[str, Any] | None:
    """Each column of numbers predicted from all others, with intervals; None for anything but sums of products."""
    if release.sketch.asked_for != "products":
        return None
    sums = Sums.of(release)
    domain = release.domain
    targets = [c.name for c in domain.columns if not isinstance(c, (Categorical, Vector))][:MOST_TARGETS]
    found = []
    for target in targets:
        try:
            found.append(_regression(regression(sums, target)))
        except RequestError:
            continue
    return {"kind": "regressions", "targets": found} if found else None


def _regression(fitted: Regression) -> dict[str, Any]:
    return {
        "name": fitted.name,
        "explained": fitted.explained,
        "deviation": fitted.residual_deviation,
        "weights": fitted.weights.tolist(),  # of what lies between -1 and 1, in the order of the columns
        "rows": _estimates(fitted.coefficients()),
    }
