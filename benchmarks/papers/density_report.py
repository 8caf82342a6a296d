"""What the experiments on sums of kernels and distances report: curves, functions and tables."""

from __future__ import annotations

import statistics

import numpy as np

from core.figures.comparison_figures import method_marks
from core.privacy.budget import Budget

from ..race_reference import BUILD_PUBLISHED, QUERY_PUBLISHED
from ..tables import Sheet
from ..words import digits, duration
from . import published_noise
from .datasets import points, public_data
from .density import COMPARED, DELTA, SHOWN, Density
from .density_claims import TITLES, Found, any_work, claims
from .pictures import Line, Picture, Section, functions_figure, lines_figure
from .work import DONE, ENDED, LONG, REFUSED, Record, Settings

ERRORS = {"relative_error": "mean relative error", "l2_error": "L2 error of the function, relative to its norm"}
PAPER_NAMES = {
    "RACE": "race",
    "PrivBayes": "privbayes",
    "KME": "mean-embedding",
    "Bernstein": "bernstein",
    "PFDA, more than": "pfda",
}
"""Our keys of the names in table 3."""


def section(experiment: Density, settings: Settings, records: list[Record]) -> Section:
    """Everything about one experiment."""
    found = Found.of(experiment, records)
    error = ERRORS[experiment.measure]
    pictures = [
        Picture(
            f"{error[:1].upper()}{error[1:]}. {caption} Bands hold 80% of the repetitions.",
            lines_figure(_panels(found, tuned), TITLES, "ε", error),
        )
        for tuned, caption in (
            (False, "Every size was chosen by public facts alone, which costs nothing: what a private release gets."),
            (
                True,
                "Every method at its best size, as in papers; tuning on private data would cost what each point says.",
            ),
        )
    ]
    pictures += _functions(experiment, settings, records)
    sheets = [_listed(experiment, records, found), _left_out(experiment, settings, records)]
    if experiment.data == "skin":
        sheets.append(table_3(records))
    return Section(
        experiment.title,
        experiment.source,
        (_about(experiment, settings), *filter(None, [experiment.about])),
        tuple(claims(experiment, settings, found, records)),
        tuple(picture for picture in pictures if picture.figure.data),
        tuple(sheet for sheet in sheets if sheet.rows),
    )


def _about(experiment: Density, settings: Settings) -> str:
    if experiment.data == "line":
        return "1,000 uniform points in [0, 1], drawn anew for every repetition, and 41 questions evenly between them."
    data = public_data(any_work(experiment, settings), settings)
    asked = f"{len(data.queries):,} held-out questions" + (
        f" ({data.left_out:,} more were left out, as almost nobody is near them)" if data.left_out else ""
    )
    columns = "one column" if data.domain.dimensions == 1 else f"{data.domain.dimensions} columns"
    source = points(experiment.data, settings.data).source
    return f"Data: {source}; {len(data.records):,} records of {columns}, {asked}."


def _panels(found: Found, tuned: bool) -> dict[str, list[Line]]:
    """Pure and (ε, δ); in the tuned picture, methods with nothing to tune stand as they are."""
    panels = {}
    for delta, title in (("0", "pure ε"), (DELTA, f"(ε, {DELTA})")):
        lines = []
        for method in TITLES:
            curve = found.curves.get((delta, tuned, method)) or found.curves.get((delta, False, method))
            if curve is not None:
                warning = method == published_noise.KEY
                line = Line.of(curve, TITLES[method], warning)
                lines.append(line if warning or tuned else _solid(line))
        if lines:
            panels[title] = lines
    return panels


def _solid(line: Line) -> Line:
    return Line(line.key, line.name, line.x, line.centres, line.lows, line.highs, line.notes)


def _functions(experiment: Density, settings: Settings, records: list[Record]) -> list[Picture]:
    """Released functions at one ε, where there is one column."""
    if experiment.measure != "l2_error" or experiment.data == "line":
        return []
    data = public_data(any_work(experiment, settings), settings)
    marks = method_marks(TITLES)
    drawn = {}
    for record in records:
        if record.outcome == DONE and "function" in record.found and record.work.size is None:
            promise = "" if record.work.delta == "0" else f", δ = {record.work.delta}"
            name = f"{TITLES[record.work.method]}{promise}"
            drawn[name] = (np.array(record.found["function"]), marks[record.work.method].colour)
    exact = data.grid_truth / len(data.records)
    caption = (
        f"One release of every method at ε = {SHOWN}, over the exact average closeness; click names to hide curves."
    )
    return [Picture(caption, functions_figure(drawn, exact, data.grid[:, 0]))] if drawn else []


def _listed(experiment: Density, records: list[Record], found: Found) -> Sheet:
    """Every method at one ε."""
    heads = (
        "method",
        "promise",
        "error, size by public facts",
        "best size",
        "its error",
        "tuning would cost",
        "to build",
        "a question",
        "file",
    )
    rows = []
    for delta in ("0", DELTA):
        for method, title in TITLES.items():
            plain, tuned = (found.curves.get((delta, kind, method)) for kind in (False, True))
            own = [one for one in _shown(records, method, delta) if one["size"] is None]
            if plain is None or float(SHOWN) not in plain.epsilons or not own:
                continue
            at = plain.epsilons.index(float(SHOWN))
            best = ("", "", "")
            if tuned is not None and float(SHOWN) in tuned.epsilons:
                place = tuned.epsilons.index(float(SHOWN))
                size = tuned.sizes[place]
                best = (
                    "the same" if size is None else f"{size:,}",
                    f"{tuned.centres[place]:.2%}",
                    f"ε = {tuned.paid[place]:g} ({tuned.tried[place]} tried)",
                )
            times = [statistics.median(one[name] for one in own) for name in ("seconds_build", "seconds_query")]
            size = statistics.median(one["file_bytes"] for one in own)
            promise = f"ε = {SHOWN}" + ("" if delta == "0" else f", δ = {delta}")
            costs = (duration(times[0]), duration(times[1]), f"{digits(size / 1024)} KiB")
            if method == published_noise.KEY:
                promise, costs = f"said ε = {SHOWN}; really {own[0]['real_epsilon']:,.0f}", ("", "", "")
            rows.append((title, promise, f"{plain.centres[at]:.2%}", *best, *costs))
    return Sheet(f"{experiment.title}: at ε = {SHOWN}", heads, tuple(rows))


def _left_out(experiment: Density, settings: Settings, records: list[Record]) -> Sheet:
    """Methods that did not take part as the data are, and why."""
    domain, question = experiment.question(settings)
    rows = []
    for key, method in COMPARED.items():
        own = [one for one in records if one.work.method == key]
        if not settings.takes(key) or method.card.answers != _answers(experiment):
            continue
        refusal = method.refusal(domain, question, Budget(1, DELTA))
        projected = sorted({one.work.data for one in own if "/" in one.work.data})
        if refusal and projected:
            rows.append(
                (
                    method.card.title,
                    f"{refusal} It got the records projected to {projected[0].split('/')[1]} dimensions.",
                )
            )
        elif refusal:
            rows.append((method.card.title, refusal))
        for outcome in (LONG, REFUSED, ENDED):
            failed = [one for one in own if one.outcome == outcome]
            if failed:
                rows.append((method.card.title, _why(failed)))
    return Sheet(f"{experiment.title}: what did not run as it is", ("method", "why"), tuple(dict.fromkeys(rows)))


def _answers(experiment: Density) -> str:
    return "distance" if experiment.data == "line" else "closeness"


def _why(failed: list[Record]) -> str:
    sizes = sorted({one.work.size for one in failed if one.work.size is not None})
    which = f"At sizes {', '.join(f'{size:,}' for size in sizes)}: " if sizes else ""
    one = failed[0]
    if one.outcome == LONG:
        told = [other.found["foretold"] for other in failed if "foretold" in other.found]
        said = f"; from a small part of the records, {duration(max(told))} are foretold for all" if told else ""
        return f"{which}stopped after {duration(one.found['limit'])} a piece{said}."
    return which + (one.reason if one.outcome == REFUSED else "its process ended, for want of memory as a rule.")


def _shown(records: list[Record], method: str, delta: str) -> list[dict]:
    """What was found of a method at one ε, at the sizes that are reported."""
    return [
        one.found
        for one in records
        if one.outcome == DONE and not one.work.tuning
        if (one.work.method, one.work.delta, one.work.epsilon) == (method, delta, SHOWN)
    ]


def table_3(records: list[Record]) -> Sheet:
    """Seconds to build and to ask at ε = 1, beside what the RACE paper's table 3 says."""
    asked = {paper.means: paper.value for paper in QUERY_PUBLISHED}
    rows = []
    for paper in BUILD_PUBLISHED:
        key = PAPER_NAMES[paper.means]
        own = _shown(records, key, "0") or _shown(records, key, DELTA)
        times = [
            duration(statistics.median(one[name] for one in own)) if own else "not run"
            for name in ("seconds_build", "seconds_query")
        ]
        long = [one for one in records if one.work.method == key and one.outcome == LONG]
        if not own and long:
            times[0] = _why(long)
        name = paper.means.partition(",")[0]
        more = "more than " if "more than" in paper.means else ""
        theirs = duration(asked[paper.means]) if paper.means in asked else "–"
        rows.append((name, f"{more}{duration(paper.value)}", times[0], theirs, times[1]))
    heads = ("method", "to build, published", "to build, here", "a question, published", "a question, here")
    return Sheet("Table 3: times on the skin set, one core", heads, tuple(rows))
