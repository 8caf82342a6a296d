"""What a release promises to be, drawn from public facts before anything is spent; uncertain numbers as fifty dots.

People read chances off countable outcomes better than off error bars: "in 40 of 50 futures it is above 6,400".

References
----------
Kay, Kola, Hullman, Munson (2016), When (ish) is my bus?, CHI; Fernandes et al. (2018), Uncertainty displays using
quantile dotplots or CDFs improve transit decision-making, CHI.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import plotly.graph_objects as go

from ..formatting.numbers import percent, significant
from ..geometry.kernels import Kernel
from ..sketches.linear import LinearSketch
from .palette import AMBER, FAINT, INK, TEAL, faded
from .traces import CLEAR, RULED, STILL, laid_out, line, logarithmic
from .traces import dots as dots_at

PLACES = 81  # Places along the line on which possible releases are drawn.
SIMULATED = 50
# The imagined crowd: centre, spread (in shares of the range) and share of the people.
CROWDS = ((0.3, 0.09, 0.62), (0.68, 0.06, 0.38))


def error_figure(
    epsilons: Sequence[float],
    pure: Sequence[float],
    slack: Sequence[float],
    epsilon: float,
    has_slack: bool,
    whole: str,
) -> go.Figure:
    """Typical error against ε on logarithmic axes: the chosen kind of promise in full, the other one faint.

    `epsilons`: Increasing, shape (n,). `pure`, `slack`: Typical errors with and without a δ, as shares of ``whole``,
    shape (n,). `whole`: what errors are shares of, "all records" or "the distance".
    """
    chosen, other = (slack, pure) if has_slack else (pure, slack)
    names = ("with risk δ", "without risk δ") if has_slack else ("without risk δ", "with risk δ")
    lines = ((other, names[1], FAINT.shape, "dot"), (chosen, names[0], TEAL.shape, "solid"))
    said = "ε = %{x:,.3~r}: %{y:.2~p} of " + whole
    figure = go.Figure([line(list(epsilons), list(errors), *look[:2], 2, look[2], said) for errors, *look in lines])
    present = math.exp(float(np.interp(math.log(epsilon), np.log(epsilons), np.log(chosen))))
    figure.add_trace(dots_at([epsilon], [present], said="here: %{y:.2~p} of " + whole))
    figure.update_xaxes(logarithmic((0.01, 0.1, 1, 10), ("ε = 0.01", "0.1", "1", "10")))
    figure.update_yaxes(RULED | {"type": "log", "dtick": 1, "tickformat": ".2~p", "title": "typical error"})
    # The curves fall, so the upper right corner is free; two short lines fit into it on every screen.
    # Not in the right corner, where the camera is.
    legend = {"orientation": "v", "x": 0.92, "xanchor": "right", "y": 1.02, "yanchor": "top", "bgcolor": CLEAR}
    return laid_out(figure, 135, legend, margin={"t": 4}, showlegend=True)


def error_in_words(epsilons: Sequence[float], errors: Sequence[float], whole: str) -> str:
    """The text alternative of the curve: the error at its two ends."""
    return (
        f"The typical error falls from {percent(errors[0])} of {whole} at ε = {epsilons[0]:g} "
        f"to {percent(errors[-1])} at ε = {epsilons[-1]:g}."
    )


@dataclass(frozen=True)
class PossibleReleases:
    """Releases that could come out, of an imagined crowd along one column."""

    places: np.ndarray  # float64 (n,), in the column's unit.
    crowd: np.ndarray  # float64 (n,), the exact answers for the imagined people.
    releases: np.ndarray  # float64 (s, n), s equally likely releases of them.
    # In how many of them the place that matters, of the greatest closeness or the least distance, lies where the
    # crowd's own does, give or take a tenth of the range.
    kept: int


def imagined_crowd(share: np.ndarray) -> np.ndarray:
    """How many of the imagined crowd are at places along a line from 0 to 1, float64 of their shape; in no unit."""
    return sum(weight * np.exp(-(((share - at) / spread) ** 2) / 2) / spread for at, spread, weight in CROWDS)


def possible_releases(
    low: float, high: float, kernel: Kernel, coordinates: np.ndarray, estimate: float, standard_error: float
) -> PossibleReleases:
    """Simulate releases of a crowd that nobody is part of; no data and no privacy noise is touched.

    The error of a sketch at two places is shared by the rows in which they share a cell, so its correlation is the
    kernel itself: errors are a Gaussian process with covariance ``standard_error² k(x, y)``. The draws are fixed ones
    (a public seed), so that moving a control changes the picture by its effect alone.

    `kernel`: of the sketch, for encoded points. `coordinates`: Encoded places along the column, float64 (PLACES,
    dimensions). `estimate`, `standard_error`: of a typical answer, from the forecast; the crowd is scaled to it.
    """
    share = np.linspace(0, 1, PLACES)
    weights = imagined_crowd(share)
    closeness = kernel.evaluate(coordinates, coordinates)
    crowd = closeness @ weights
    crowd *= estimate / float(np.average(crowd, weights=weights))
    values, vectors = np.linalg.eigh(closeness)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    draws = np.random.default_rng(0).standard_normal((SIMULATED, PLACES))
    releases = crowd + standard_error * draws @ root.T
    moved = np.abs(share[releases.argmax(axis=1)] - share[crowd.argmax()])
    return PossibleReleases(low + share * (high - low), crowd, releases, int((moved <= 0.1).sum()))


def possible_releases_figure(
    possible: PossibleReleases, name: str, answer: str = "answer", ticks: Sequence[tuple[float, str]] = ()
) -> go.Figure:
    """Every possible release as a thin line, the imagined crowd's own shape as a thick one among them.

    `ticks`: What is written at which places along the column; none where they are numbers.
    """
    breaks = np.full((len(possible.releases), 1), np.nan)
    x = np.tile(np.append(possible.places, np.nan), len(possible.releases))
    figure = go.Figure(line(x, np.hstack([possible.releases, breaks]).ravel(), None, faded(TEAL.shape, 0.2), 1))
    said = ("" if ticks else "%{x:,.4~r}: ") + "%{y:,.4~r}<extra>imagined crowd</extra>"
    crowd = line(possible.places, possible.crowd, None, INK.shape, 3, hovertemplate=said, hoverinfo=None)
    written = {"tickvals": [at for at, _ in ticks], "ticktext": [text for _, text in ticks]} if ticks else {"nticks": 6}
    figure.add_trace(crowd).update_xaxes(STILL | {"title": name} | written)
    zero = {"zeroline": True, "zerolinecolor": faded(FAINT.shape, 0.5)}
    return laid_out(figure.update_yaxes(STILL | zero | {"title": answer, "nticks": 4}), 220)


def possible_releases_in_words(possible: PossibleReleases) -> str:
    return (
        f"In {possible.kept} of {len(possible.releases)} simulated releases the place with the most is found "
        "where it is, give or take a tenth of the bounds."
    )


def exact_figure(exact: np.ndarray, released: np.ndarray) -> go.Figure:
    """Released against exact answers, float64 (n,) each; the truth is amber, and on the line the two agree."""
    ends = [0.0, 1.05 * float(max(exact.max(), released.max()))]
    said = "exact %{x:,.4~r}, released %{y:,.4~r}"
    points = dots_at(exact, released, None, faded(TEAL.shape, 0.6), 5, said)
    figure = go.Figure([line(ends, ends, None, AMBER.shape, 2), points])
    figure.update_xaxes(STILL | {"title": "exact", "range": ends, "nticks": 5})
    least = min(0.0, float(released.min()))
    figure.update_yaxes(STILL | {"title": "released", "range": [least, ends[1]], "nticks": 5})
    return laid_out(figure, 260)


DOTS = 50
BINS = 13  # Columns over the whole range: few enough to stack, many enough to show the shape.


def normal_outcomes(estimate: float, standard_error: float, dots: int = DOTS) -> np.ndarray:
    """Equally likely outcomes of a number known up to a normal error: its quantiles at (i − ½)/dots.

    `estimate`, `standard_error`: in the number's own unit; a standard error of 0 gives the same outcome every time.
    """
    unit = NormalDist()
    steps = np.array([unit.inv_cdf((i + 0.5) / dots) for i in range(dots)])
    return estimate + standard_error * steps


def stacked(outcomes: Sequence[float] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the dots go: the centre of each one's bin and its height in the stack, both of shape (n,)."""
    values = np.sort(np.asarray(outcomes, dtype=float))
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError("A dot plot needs at least one outcome, and finite ones only.")
    low, high = values[0], values[-1]
    width = (high - low) / BINS
    if width <= 0:
        return values, np.arange(values.size, dtype=float)
    bins = np.minimum((values - low) // width, BINS - 1)
    first = np.searchsorted(bins, bins, side="left")
    return low + (bins + 0.5) * width, np.arange(values.size) - first.astype(float)


def dots(outcomes: Sequence[float] | np.ndarray, name: str, colour: str = TEAL.shape) -> go.Figure:
    """A dot plot of equally likely outcomes.

    `outcomes`: Shape (n,), in the unit of ``name``; usually `normal_outcomes` or n simulated releases. `colour`:
    ``#RRGGBB``; teal unless the number is private.
    """
    x, height = stacked(outcomes)
    # Room on both sides keeps the dots of a stack close to those of the next.
    room = max(0.45 * float(x.max() - x.min()), 1e-9 * max(1.0, float(np.abs(x).max())))
    span = [float(x.min()) - room, float(x.max()) + room]
    across = {"title": {"text": name}, "range": span, "showgrid": False, "zeroline": False, "nticks": 6}
    up = {"visible": False, "range": [0, max(8.0, float(height.max()) + 1.5)], "fixedrange": True}
    figure = go.Figure(dots_at(x, height + 0.5, None, colour, hoverinfo="x"))
    figure.update_layout(xaxis=across | {"tickformat": ","}, yaxis=up)
    return laid_out(figure, 190, margin={"b": 44})


def dots_in_words(outcomes: Sequence[float] | np.ndarray, name: str) -> str:
    """The text alternative of the figure: where the outcomes lie, by counting dots."""
    values = np.sort(np.asarray(outcomes, dtype=float))
    low, high = values[values.size // 10], values[values.size - 1 - values.size // 10]
    inside = int(((values >= low) & (values <= high)).sum())
    middle = float(np.median(values))
    return (
        f"{values.size} equally likely outcomes of {name}: {inside} of them lie between {significant(low, 4)} and "
        f"{significant(high, 4)}, the middle one at {significant(middle, 4)}."
    )


# Counters that all simulated tables together may have; of larger tables fewer releases are drawn.
LARGEST_SIMULATED = 4_000_000
LEAST_SIMULATED = 10


def possible_distances(
    low: float, high: float, sketch: LinearSketch, coordinates: np.ndarray, records: float, counter_variance: float
) -> PossibleReleases:
    """Simulate average distances from places along one column; no data and no privacy noise is touched.

    An answer is linear in the table, so what noise does to it is the answer to a table of noise alone. The draws are
    fixed ones (a public seed), so that moving a control changes the picture by its effect alone.

    `sketch`: of distances, with its size. `coordinates`: Encoded places along the column, float64 (PLACES, dimensions);
    the crowd stands on them.
    """
    share = np.linspace(0, 1, PLACES)
    people = imagined_crowd(share)
    distances = np.column_stack([sketch.exact(coordinates, coordinates[[place]]) for place in range(PLACES)])
    crowd = distances @ people / people.sum()
    draws = min(SIMULATED, max(LEAST_SIMULATED, LARGEST_SIMULATED // math.prod(sketch.shape)))
    random, deviation = np.random.default_rng(0), math.sqrt(counter_variance)
    releases = np.empty((draws, PLACES))
    without = _answers(sketch, sketch.zeros(), coordinates)
    for draw in range(draws):
        noise = np.rint(deviation * random.standard_normal(sketch.shape)).astype(np.int64)
        releases[draw] = crowd + (_answers(sketch, noise, coordinates) - without) / records
    moved = np.abs(share[releases.argmin(axis=1)] - share[crowd.argmin()])
    return PossibleReleases(low + share * (high - low), crowd, releases, int((moved <= 0.1).sum()))


def _answers(sketch: LinearSketch, table: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    return sketch.answer(table, 1.0, coordinates, 1.0, 0.95).estimate


def possible_distances_in_words(possible: PossibleReleases) -> str:
    """One sentence: how often the place that is nearest to everyone is found."""
    return (
        f"In {possible.kept} of {len(possible.releases)} simulated releases the place nearest to everyone, the lowest "
        "point, is found where it is, give or take a tenth of the bounds."
    )
