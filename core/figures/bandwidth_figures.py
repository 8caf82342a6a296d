"""What a bandwidth does: a kernel drawn to scale inside the public bounds, and the errors of smoothing and of noise."""

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..domain import Categorical, Cyclic, Domain, Scalar, Vector
from ..formatting.escapes import in_plotly
from ..formatting.numbers import percent, significant
from ..geometry.kernels import Angular, Kernel, of_coordinates
from ..releases.forecast.scales import Scales
from .palette import DENSITY_SCALE, FAINT, INK, TEAL, faded
from .traces import ABOVE, CLEAR, RULED, bars, contour, dots, laid_out, line, logarithmic

STEPS = 401
MOST_NUMBERS = 2_000_000  # Coordinates that one curve may hold; of very wide data it is drawn from fewer points.
PLANE_STEPS = 61
MOST_COLUMNS = 3  # Columns drawn side by side; the others look alike.


def kernel_figure(domain: Domain, kernel: Kernel) -> go.Figure:
    """Closeness to the middle of the bounds, in each column's own unit.

    Two numeric columns are drawn as a map of the bounds, with a line where closeness is a half. Otherwise every column
    gets a curve (numbers) or bars (categories) while all other columns stay in the middle; of many columns, the first
    three are drawn.

    Angles are seen from the origin, where no angle is defined, so an angular kernel is drawn from the upper corner.
    """
    if len(domain.columns) == 2 and all(isinstance(column, Scalar) for column in domain.columns):
        return _map(domain, kernel)
    return _profiles(domain, kernel)


def half_distance(domain: Domain, kernel: Kernel, index: int) -> float | None:
    """How far from the middle closeness is half gone along numeric column ``index``, in the column's own unit.

    None when it stays above a half as far as the bounds reach. An entry of a vector moves alone.
    """
    column = domain.columns[index]
    place = sum(before.width for before in domain.columns[:index])
    closeness = _profile(domain, kernel, place, 0.5)
    below = int(np.argmax(closeness < 0.5))
    if closeness[below] >= 0.5:
        return None
    # The curve is drawn finely enough to be straight between two of its points.
    before, after = closeness[below - 1], closeness[below]
    step = below - 1 + (before - 0.5) / (before - after)
    return float(step / (len(closeness) - 1) * column.span / 2)


def kernel_in_words(domain: Domain, kernel: Kernel) -> str:
    """The figure of a kernel in one sentence, also its text alternative."""
    if isinstance(kernel, Angular):
        return f"Two {domain.many_records} are close when they lie in the same direction, seen from the origin."
    halves = {}
    for index, column in enumerate(domain.columns[:MOST_COLUMNS]):
        if not isinstance(column, Categorical):
            distance = half_distance(domain, kernel, index)
            if distance is not None:
                halves[column.name] = f"{significant(distance, 3)} {column.measure}".strip()
    if not halves:
        return f"Each {domain.one_record} at the other end of the bounds still counts half or more."
    alike = len(set(halves.values())) == 1
    where = next(iter(halves.values())) if alike else " or ".join(f"{far} in {name}" for name, far in halves.items())
    return f"Each {domain.one_record} counts half at a distance of {where}, and less farther away."


def _seen_from(domain: Domain, kernel: Kernel) -> np.ndarray:
    """The encoded point that closeness is measured from, (1, dimensions)."""
    low, high = domain.bounds(kernel.metric)
    return (high if isinstance(kernel, Angular) else (low + high) / 2)[None]


def _of_points(domain: Domain, kernel: Kernel) -> Kernel:
    """The kernel of encoded points, in which a column of categories has several coordinates."""
    return of_coordinates(kernel, domain.widths)


def _closeness(domain: Domain, kernel: Kernel, points: np.ndarray) -> np.ndarray:
    """Closeness of encoded points to where it is measured from, (n,)."""
    return _of_points(domain, kernel).evaluate(points, _seen_from(domain, kernel))[:, 0]


def _map(domain: Domain, kernel: Kernel) -> go.Figure:
    low, high = domain.bounds(kernel.metric)
    across, up = (np.linspace(low[i], high[i], PLANE_STEPS) for i in (0, 1))
    plane = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    closeness = _closeness(domain, kernel, plane).reshape(PLANE_STEPS, PLANE_STEPS)
    first, second = domain.columns
    ends = [np.linspace(*column.bounds(1.0), PLANE_STEPS) for column in (first, second)]
    scale = {"zmin": 0, "zmax": 1, "colorscale": DENSITY_SCALE, "zsmooth": "best", "showscale": False}
    said, z = "closeness %{z:.2f}<extra></extra>", closeness.astype(np.float32)
    figure = go.Figure(go.Heatmap(x=ends[0], y=ends[1], z=z, hovertemplate=said, **scale))
    half = {"start": 0.5, "end": 0.5, "size": 1}
    figure.add_trace(contour(*ends, z, half, {"color": INK.shape, "width": 1.5}))
    figure.update_xaxes(title=_axis_title(first), showgrid=False, zeroline=False, nticks=6)
    figure.update_yaxes(title=_axis_title(second), showgrid=False, zeroline=False, nticks=5)
    return laid_out(figure, 250)


def _profiles(domain: Domain, kernel: Kernel) -> go.Figure:
    shown = domain.columns[:MOST_COLUMNS]
    figure = make_subplots(1, len(shown), shared_yaxes=True, horizontal_spacing=0.06)
    start = 0
    for index, column in enumerate(shown, 1):
        place, start = slice(start, start + column.width), start + column.width
        draw = _bars if isinstance(column, Categorical) else _curve
        figure.add_trace(draw(domain, kernel, column, place), 1, index)
        figure.update_xaxes(title=_axis_title(column), showgrid=False, zeroline=False, nticks=4, row=1, col=index)
    figure.update_yaxes(range=[0, 1.04], showgrid=False, zeroline=False, tickvals=[0, 0.5, 1])
    figure.update_yaxes(title="closeness", row=1, col=1)
    return laid_out(figure, 190, showlegend=False)


def _profile(domain: Domain, kernel: Kernel, place: int, start: float) -> np.ndarray:
    """Closeness along one coordinate, from a share of its range to its upper bound, all others staying put."""
    low, high = domain.bounds(kernel.metric)
    origin = _seen_from(domain, kernel)
    points = np.repeat(origin, max(21, min(STEPS, MOST_NUMBERS // domain.dimensions)), axis=0)
    points[:, place] = np.linspace(low[place] + start * (high[place] - low[place]), high[place], len(points))
    return _closeness(domain, kernel, points)


def _curve(domain: Domain, kernel: Kernel, column: Scalar | Vector, place: slice) -> go.Scatter:
    closeness = _profile(domain, kernel, place.start, 0.0)
    filled = {"fill": "tozeroy", "fillcolor": faded(TEAL.shape, 0.15)}
    x, said = np.linspace(*column.bounds(1.0), len(closeness)), "%{x:,.4~r}: closeness %{y:.2f}"
    return line(x, closeness, width=2, said=said, **filled)


def _bars(domain: Domain, kernel: Kernel, column: Categorical, place: slice) -> go.Bar:
    shown = len(column.categories) // 2 + 1 if isinstance(column, Cyclic) else 2
    points = np.tile(_seen_from(domain, kernel), (shown, 1))
    points[:, place] = 0.0
    column.place(points[:, place], np.arange(shown), np.arange(shown), domain.amplitude(kernel.metric))
    shift, width = column.scaling(domain.scale)
    points[:, place] = (points[:, place] - shift) / width
    closeness = _of_points(domain, kernel).evaluate(points[:1], points)[0]
    names = ["same", *(f"{step} apart" for step in range(1, shown))] if shown > 2 else ["same", "another"]
    return bars(names, closeness, colour=faded(TEAL.shape, 0.55), said="closeness %{y:.2f}", width=0.5)


def _axis_title(column: Scalar | Vector | Categorical) -> str:
    unit = "" if isinstance(column, Categorical) else column.measure if getattr(column, "scale", "") else column.unit
    return in_plotly(f"{column.name} ({unit})" if unit else column.name)


LABELLED = 4  # One bandwidth of so many is written below the axis.


def smoothing_figure(scales: Scales) -> go.Figure:
    """Typical error of the picture against the bandwidth, on logarithmic axes, with what it is made of."""
    lines = (
        (scales.smoothing, "smoothed away", FAINT.shape, 1.5, "dot"),
        (scales.noise, "noise and chance", INK.shape, 1.5, "dash"),
        (scales.errors, "both", TEAL.shape, 2.5, "solid"),
    )
    said = "bandwidth %{x:,.3~r}: %{y:.2~p}"
    figure = go.Figure([line(list(scales.tried), errors.tolist(), *look, said) for errors, *look in lines])
    here = min(range(len(scales.tried)), key=lambda place: abs(scales.tried[place] - scales.bandwidth))
    at = [scales.tried[here]], [float(scales.errors[here])]
    figure.add_trace(dots(*at, said="where nobody chooses: %{y:.2~p}"))
    labelled = scales.tried[::LABELLED]
    words = [scales.in_words(one).partition(" ") for one in labelled]
    units = {unit for _, _, unit in words}
    unit = units.pop() if len(units) == 1 else ""  # said once, as it has no room below each
    texts = [number if unit else in_plotly(f"{number} {own}".strip()) for number, _, own in words]
    title = f"bandwidth, {in_plotly(unit)}" if unit else "bandwidth"
    figure.update_xaxes(logarithmic(list(labelled), texts, title=title))
    ticks = {"tickvals": [0.001, 0.01, 0.1, 1], "tickformat": ".2~%"}
    figure.update_yaxes(RULED | ticks | {"type": "log", "range": [-3, 0.1], "title": "typical error"})
    # There is room for a legend of several lines on narrow screens.
    return laid_out(figure, 230, ABOVE | {"bgcolor": CLEAR}, margin={"t": 28}, showlegend=True)


def smoothing_in_words(scales: Scales) -> str:
    """The figure of the errors in one sentence, also its text alternative."""
    least = int(scales.errors.argmin())
    return (
        f"Over ordinary populations, from one hump to narrow heaps, the typical error of the picture is "
        f"{percent(float(scales.errors[0]))} at a bandwidth of {scales.in_words(scales.tried[0])}, least "
        f"({percent(float(scales.errors[least]))}) at {scales.in_words(scales.tried[least])}, and "
        f"{percent(float(scales.errors[-1]))} at {scales.in_words(scales.tried[-1])}."
    )
