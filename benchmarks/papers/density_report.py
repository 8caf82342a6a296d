"""What the experiments on sums of kernels and distances report: curves, functions, tables, and what came of claims."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.comparison.curves import Curve, curves
from core.figures.comparison_marks import method_marks
from core.privacy.budget import Budget

from ..race_reference import BUILD_PUBLISHED, QUERY_PUBLISHED
from ..tables import Sheet
from ..words import digits, duration
from . import published_noise
from .datasets import points, public_data
from .density import COMPARED, DELTA, GUARANTEED, SHOWN, Density, merged
from .pictures import Claim, Line, Picture, Section, functions_figure, lines_figure
from .work import DONE, ENDED, LONG, REFUSED, Record, Settings, Work

TITLES = {key: method.title for key, method in COMPARED.items()} | {published_noise.KEY: published_noise.TITLE}
ERRORS = {
    "relative_error": "mean relative error",
    "l2_error": "L2 error of the function, relative to its norm",
}
PAPER_NAMES = {"RACE": "race", "PrivBayes": "privbayes", "KME": "mean-embedding", "Bernstein": "bernstein",
               "PFDA, more than": "pfda"}  # fmt: skip
"""Our keys of the names in table 3."""


@dataclass(frozen=True)
class Found:
    """Curves by delta, tuned or not, and method."""

    curves: Mapping[tuple[str, bool, str], Curve]

    @classmethod
    def of(cls, experiment: Density, records: list[Record]) -> Found:
        """From all records."""
        return cls(
            {
                (delta, curve.tuned, curve.method): curve
                for delta in ("0", DELTA)
                for curve in curves(merged(records, delta), experiment.measure)
            }
        )

    def at(self, method: str, epsilon: float, tuned: bool | None = None, delta: str = "0") -> float | None:
        """The error of a method at a promise; the tuned one where there is one, when ``tuned`` is None."""
        for kind in (True, False) if tuned is None else (tuned,):
            curve = self.curves.get((delta, kind, method))
            if curve is not None and epsilon in curve.epsilons:
                return curve.centres[curve.epsilons.index(epsilon)]
        return None


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
        tuple(_claims(experiment, settings, found, records)),
        tuple(picture for picture in pictures if picture.figure.data),
        tuple(sheet for sheet in sheets if sheet.rows),
    )


def _about(experiment: Density, settings: Settings) -> str:
    if experiment.data == "line":
        return "1,000 uniform points in [0, 1], drawn anew for every repetition, and 41 questions evenly between them."
    data = public_data(_any_work(experiment, settings), settings)
    asked = f"{len(data.queries):,} held-out questions" + (
        f" ({data.left_out:,} more were left out, as almost nobody is near them)" if data.left_out else ""
    )
    columns = "one column" if data.domain.dimensions == 1 else f"{data.domain.dimensions} columns"
    source = points(experiment.data, settings.data).source
    return f"Data: {source}; {len(data.records):,} records of {columns}, {asked}."


def _any_work(experiment: Density, settings: Settings) -> Work:
    return Work(experiment.name, experiment.data, "race", None, SHOWN, "0", 0, False, settings.quick)


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
    data = public_data(_any_work(experiment, settings), settings)
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
        "method", "promise", "error, size by public facts", "best size", "its error", "tuning would cost", "to build",
        "a question", "file",
    )  # fmt: skip
    rows = []
    for delta in ("0", DELTA):
        for method, title in TITLES.items():
            plain, tuned = (found.curves.get((delta, kind, method)) for kind in (False, True))
            own = [
                one.found for one in records
                if one.outcome == DONE and (one.work.method, one.work.delta, one.work.epsilon) == (method, delta, SHOWN)
                and one.work.size is None and not one.work.tuning
            ]  # fmt: skip
            if plain is None or float(SHOWN) not in plain.epsilons or not own:
                continue
            at = plain.epsilons.index(float(SHOWN))
            best = ("", "", "")
            if tuned is not None and float(SHOWN) in tuned.epsilons:
                place = tuned.epsilons.index(float(SHOWN))
                size = tuned.sizes[place]
                best = ("the same" if size is None else f"{size:,}", f"{tuned.centres[place]:.2%}",
                        f"ε = {tuned.paid[place]:g} ({tuned.tried[place]} tried)")  # fmt: skip
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
    domain, question = experiment._question(settings)
    rows = []
    for key, method in COMPARED.items():
        own = [one for one in records if one.work.method == key]
        if not settings.takes(key) or method.answers != _answers(experiment):
            continue
        refusal = method.refusal(domain, question, Budget(1, DELTA))
        projected = sorted({one.work.data for one in own if "/" in one.work.data})
        if refusal and projected:
            rows.append(
                (method.title, f"{refusal} It got the records projected to {projected[0].split('/')[1]} dimensions.")
            )
        elif refusal:
            rows.append((method.title, refusal))
        for outcome in (LONG, REFUSED, ENDED):
            failed = [one for one in own if one.outcome == outcome]
            if failed:
                rows.append((method.title, _why(failed)))
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


def table_3(records: list[Record]) -> Sheet:
    """Seconds to build and to ask at ε = 1, beside what the RACE paper's table 3 says."""
    asked = {paper.means: paper.value for paper in QUERY_PUBLISHED}
    rows = []
    for paper in BUILD_PUBLISHED:
        key = PAPER_NAMES[paper.means]
        own = [
            one.found for one in records
            if one.outcome == DONE and (one.work.method, one.work.epsilon) == (key, SHOWN) and not one.work.tuning
        ]  # fmt: skip
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


def _claims(experiment: Density, settings: Settings, found: Found, records: list[Record]) -> list[Claim]:
    claims = {"sf": _bernstein_wins, "nyc": _race_wins_peaks, "skin": _race_wins_space, "line": _tree_gets_better}
    made = [claims[experiment.data](found)] if experiment.data in claims else []
    if experiment.data == "wide":
        made.append(_race_runs(records))
    if experiment.data == "line":
        made.append(_baseline_says_nothing(found))
    else:
        made += [_rank(found), _published_curve(experiment, settings, found)]
    return [claim for claim in made if claim is not None]


def _pair(found: Found, one: str, other: str) -> str:
    pairs = [(epsilon, found.at(one, epsilon), found.at(other, epsilon)) for epsilon in (0.1, 1.0, 10.0)]
    return "; ".join(
        f"ε = {epsilon:g}: {TITLES[one]} {a:.2%}, {TITLES[other]} {b:.2%}"
        for epsilon, a, b in pairs
        if a is not None and b is not None
    )


def _beats(found: Found, one: str, other: str) -> bool | None:
    a, b = found.at(one, float(SHOWN)), found.at(other, float(SHOWN))
    return None if a is None or b is None else a < b


def _bernstein_wins(found: Found) -> Claim | None:
    holds = _beats(found, "bernstein", "race") if "bernstein" in TITLES else None
    if holds is None:
        return None
    said = _pair(found, "bernstein", "race")
    return Claim("The Bernstein mechanism outperforms RACE on San Francisco's pay.", holds, f"{said}, both tuned.")


def _race_wins_peaks(found: Found) -> Claim | None:
    holds = _beats(found, "race", "bernstein") if "bernstein" in TITLES else None
    if holds is None:
        return None
    said = _pair(found, "race", "bernstein")
    return Claim("RACE keeps sharp peaks that the Bernstein mechanism misses.", holds, f"{said}, both tuned.")


def _race_wins_space(found: Found) -> Claim | None:
    holds = _beats(found, "race", "bernstein") if "bernstein" in TITLES else None
    if holds is None:
        return None
    said = _pair(found, "race", "bernstein")
    return Claim("RACE beats interpolation where there are more than a few columns.", holds, f"{said}, both tuned.")


def _tree_gets_better(found: Found) -> Claim | None:
    curve = found.curves.get(("0", False, "interval-tree"))
    if curve is None:
        return None
    falls = all(later < before for before, later in pairwise(curve.centres))
    rivals = {key: found.at(key, float(SHOWN)) for key in TITLES}
    said = "; ".join(f"{TITLES[key]} {value:.2%}" for key, value in rivals.items() if value is not None)
    return Claim(
        "The error of the paper's algorithm falls smoothly as ε grows.",
        falls,
        f"At ε = {SHOWN}: {said}.",
    )


def _baseline_says_nothing(found: Found) -> Claim | None:
    theory, practical = (found.at(key, float(SHOWN), tuned=False) for key in (GUARANTEED.key, "huang-roth"))
    if theory is None or practical is None:
        return None
    return Claim(
        "Huang and Roth's algorithm says nothing at such budgets: its relative error is 1.",
        theory > 0.95 and practical > 0.95,
        f"At ε = {SHOWN} its error is {theory:.2%} with the constants of the theory, and {practical:.2%} with "
        "constants that suit so few records.",
    )


def _race_runs(records: list[Record]) -> Claim | None:
    times = [one.found["seconds_build"] for one in records if one.outcome == DONE and one.work.method == "race"]
    if not times:
        return None
    whole = sorted({one.work.method for one in records if one.outcome == DONE and "/" not in one.work.data})
    names = ", ".join(TITLES[key] for key in whole)
    return Claim(
        "RACE runs on many columns in under two minutes, and others only after a projection.",
        max(times) < 120,
        f"RACE took {duration(max(times))} at most. Without a projection ran: {names}.",
    )


def _rank(found: Found) -> Claim | None:
    errors = {
        method: found.at(method, float(SHOWN)) for (delta, _, method) in found.curves
        if delta == "0" and method != published_noise.KEY
    }  # fmt: skip
    ranked = sorted((error, TITLES[method]) for method, error in errors.items() if error is not None)
    own = found.at("race", float(SHOWN))
    if own is None or len(ranked) < 2:
        return None
    place = [title for _, title in ranked].index(TITLES["race"]) + 1
    said = "; ".join(f"{title} {error:.2%}" for error, title in ranked)
    rest = [error for error, title in ranked if title != TITLES["race"]]
    return Claim(
        "RACE is competitive with the state of the art.",
        own <= 1.5 * min(rest),
        f"RACE is number {place} of {len(ranked)} at ε = {SHOWN}, all tuned: {said}.",
    )


def _published_curve(experiment: Density, settings: Settings, found: Found) -> Claim | None:
    shown, real = found.at(published_noise.KEY, 0.1), found.at("race", 0.1)
    if shown is None or real is None:
        return None
    records = len(public_data(_any_work(experiment, settings), settings).records)
    return Claim(
        "The error that the published code shows is what ε = 0.1 allows.",
        real < 1.2 * shown,
        f"With the code's noise RACE shows {shown:.2%} at what it calls ε = 0.1; with the noise that ε = 0.1 needs it "
        f"has {real:.2%}, at its best size. The code's noise keeps ε = {0.1 * records:,.0f}.",
    )
