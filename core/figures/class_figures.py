"""Figures of classes: where each is the answer, how likely each is at a place, and how often answers are right.

A class has its colour and its name wherever it is shown, as colours alone do not tell ten classes apart. Where the
noise decides, no class is coloured in full: the place is hatched, over a hint of the likelier class.
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from scipy.ndimage import distance_transform_edt

from ..analysis.classification import DONT_KNOW, TRAINED, Confusion, DecisionMap
from ..domain import Domain
from ..formatting.escapes import in_plotly
from ..formatting.numbers import percent, shortened
from . import figure_axes
from .density_figures import lattice, lying
from .figure_axes import Axis, apply
from .palette import FAINT, INK, PAPER, TEAL, faded
from .traces import PATTERN, bars, cells, dots, hatch

UNSURE = "Don't know: the noise decides"  # The legend's words for hatching.
# As far apart as they go for eyes with and without red, green or blue; none is near the amber of what is private or the
# red of errors. More classes than colours begin again, and go by their names.
CLASS_COLOURS = (
    TEAL.shape,
    "#8860C4",
    "#566010",
    "#B088EC",
    "#884274",
    "#24B09C",
    "#749C10",
    "#4C7E42",
    "#3856A6",
    "#B074BA",
)
HINT = 0.15  # Opacity of the likelier class where the noise decides.
MAP_HEIGHT = 520
BAR, CELL = 34, 46  # Pixels of a bar, and of a row of a table of confusions.
MOST_NAMED = 24  # Classes of a table of confusions that have room for numbers in their cells.
MAX_TARGETS = 48
LEGEND = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}


def class_colour(code: int) -> str:
    """The colour of a class by its number, as ``#RRGGBB``."""
    return CLASS_COLOURS[code % len(CLASS_COLOURS)]


def decision_figure(drawn: DecisionMap, domain: Domain, asked: tuple[object, object] | None = None) -> go.Figure:
    """A map of decisions: the colour and name of each class where it is surely the answer, hatching elsewhere."""
    columns = domain.drawn
    x, y = Axis.of(columns[drawn.x], drawn.x_values), Axis.of(columns[drawn.y], drawn.y_values)
    figure = go.Figure(
        [
            _areas(x, y, np.where(drawn.certain, np.nan, drawn.codes), len(drawn.classes), HINT),
            _areas(x, y, np.where(drawn.certain, drawn.codes, np.nan), len(drawn.classes), 1.0),
            *(_swatch(name, code) for code, name in enumerate(drawn.classes) if (drawn.codes == code).any()),
            hatch(~drawn.certain, x, y, UNSURE),
            _names(x, y, drawn),
            _lattice(x, y, drawn, asked),
        ]
    )
    figure_axes.clickable(figure)
    apply(figure, x, y)
    # Below, as the buttons that zoom and save stand above.
    return lying(figure, MAP_HEIGHT)


def decision_in_words(what: str, drawn: DecisionMap) -> str:
    """The text alternative of a map: how much of it is each class's, and how much nobody can tell."""
    shares = [
        f"{name} {percent(((drawn.codes == code) & drawn.certain).mean())}" for code, name in enumerate(drawn.classes)
    ]
    return f"{what}. Share of the map: {', '.join(shares)}; {DONT_KNOW} {percent(1.0 - drawn.certain.mean())}."


def probability_figure(classes: Sequence[str], probabilities: np.ndarray, certain: bool) -> go.Figure:
    """The probability of each class at one place, a bar a class; hatched where the noise decides which is the largest.

    `probabilities`: float64 (K,), which add up to 1. `certain`: whether the largest one is surely the largest.
    """
    colours = [class_colour(code) for code in range(len(classes))]
    hint = [faded(colour, HINT) for colour in colours]
    pattern = {} if certain else {"pattern": PATTERN | {"fgcolor": colours, "bgcolor": hint, "fgopacity": 1}}
    words = {"text": [_short(p) for p in probabilities], "textposition": "outside", "cliponaxis": False}
    names = [in_plotly(shortened(name)) for name in classes]
    look = {"color": colours, "line": {"width": 0}} | pattern
    figure = go.Figure(bars(np.asarray(probabilities), names, marker=look, orientation="h", **words))
    figure.update_xaxes(range=[0, 1], tickformat=".0%", title={"text": "probability"}, zeroline=False, nticks=6)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return lying(figure, 90 + BAR * len(classes), LEGEND).update_layout(bargap=0.35, margin={"r": 56})


def probability_in_words(classes: Sequence[str], probabilities: np.ndarray, certain: bool) -> str:
    """The text alternative: the classes from the likeliest on, and whether the noise may have put it first."""
    order = np.argsort(-np.asarray(probabilities), kind="stable")
    listed = ", ".join(f"{classes[code]} {percent(probabilities[code])}" for code in order)
    doubt = "" if certain else " The noise may decide which class is first."
    return f"Probability of each class: {listed}.{doubt}"


def confusion_figure(made: Confusion) -> go.Figure:
    """Shares of each true class by what was said: one row a true class, "don't know" in a column of its own.

    Right answers lie on the diagonal, which is framed. A trained model always answers, and has no such column.
    """
    size = len(made.classes)
    names = [in_plotly(shortened(name)) for name in made.classes]
    shares = np.nan_to_num(made.rates.estimate)
    answers = names if made.rule == TRAINED else [*names, DONT_KNOW]
    figure = go.Figure(_cells(shares, np.arange(size), answers, names, {"coloraxis": "coloraxis"}))
    if len(answers) > size:
        greys = {"colorscale": _GREYS, "showscale": False}
        figure.add_trace(_cells(shares, np.array([size]), answers, names, greys))
    for place in range(size):
        edge = {"x0": place - 0.5, "x1": place + 0.5, "y0": place - 0.5, "y1": place + 0.5}
        figure.add_shape(type="rect", line={"width": 2, "color": INK.shape}, **edge)
    bar = {"tickformat": ".0%", "outlinewidth": 0, "thickness": 10, "title": {"text": "of true class", "side": "right"}}
    plainly = {"showgrid": False, "zeroline": False, "tickmode": "array"}
    said = {"tickvals": np.arange(len(answers)), "ticktext": answers, "range": [-0.52, len(answers) - 0.48]}
    true = {"tickvals": np.arange(size), "ticktext": names, "range": [size - 0.48, -0.52]}
    figure.update_xaxes(title={"text": "what is said"}, **said, **plainly)
    figure.update_yaxes(title={"text": "true class"}, **true, **plainly)
    figure.update_layout(coloraxis={"cmin": 0, "cmax": 1, "colorbar": bar})
    return lying(figure, 150 + CELL * min(size, MOST_NAMED), LEGEND)


def confusion_in_words(made: Confusion) -> str:
    """The text alternative: how often it is right, how often it does not know, and what it mixes up most."""
    wrong = np.array(made.counts[:, :-1])
    np.fill_diagonal(wrong, 0)
    text = f"Table of confusions. Right in {percent(float(made.accuracy.estimate))} of all places"
    if made.rule != TRAINED and made.certain_accuracy.estimate == made.certain_accuracy.estimate:
        text += f", in {percent(float(made.certain_accuracy.estimate))} of those that it is certain of"
    text += "." if made.rule == TRAINED else f"; {DONT_KNOW} in {percent(1.0 - float(made.certain.estimate))}."
    if not wrong.any():
        return f"{text} No class is {'' if made.rule == TRAINED else 'surely '}taken for another."
    true, said = np.unravel_index(wrong.argmax(), wrong.shape)
    return (
        f"{text} Most often {made.classes[true]} is taken for {made.classes[said]}: "
        f"{wrong[true, said]:,} of {made.counts[true].sum():,} places."
    )


# Opaque ones, as Plotly chooses the colour of a cell's text by the cell's own, whatever shines through.
_GREYS = [[0.0, FAINT.dark], [1.0, FAINT.light]]


def _areas(x: Axis, y: Axis, codes: np.ndarray, classes: int, opacity: float) -> go.Heatmap:
    """Cells in the colours of their classes; NaN leaves one out."""
    edges = np.arange(classes + 1) / classes
    scale = [[float(edge), class_colour(code)] for code in range(classes) for edge in edges[code : code + 2]]
    ends = {"zmin": -0.5, "zmax": classes - 0.5, "colorscale": scale, "opacity": opacity, "showscale": False}
    return cells(x, y, codes, **ends)


def _swatch(name: str, code: int) -> go.Scatter:
    """The entry of a class in the legend."""
    return dots([None], [None], in_plotly(shortened(name)), class_colour(code), 12, marker={"symbol": "square"})


def _names(x: Axis, y: Axis, drawn: DecisionMap) -> go.Scatter:
    """Each class's name inside the area that is surely its own, as far from other areas as it goes."""
    places = []
    for code, name in enumerate(drawn.classes):
        depth = distance_transform_edt(np.pad((drawn.codes == code) & drawn.certain, 1))[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        if depth[row, column] >= 2:
            places.append((x.values[column], y.values[row], in_plotly(shortened(name))))
    xs, ys, texts = zip(*places, strict=True) if places else ((), (), ())
    look = {"mode": "text", "textfont": {"size": 14, "color": PAPER.light}, "hoverinfo": "skip", "showlegend": False}
    return go.Scatter(x=xs, y=ys, text=texts, **look)


def _lattice(x: Axis, y: Axis, drawn: DecisionMap, asked: tuple[object, object] | None) -> go.Scatter:
    """Targets at every k-th place of either axis."""
    across, up = (np.arange(0, len(axis.values), -(-len(axis.values) // MAX_TARGETS)) for axis in (x, y))
    at = np.ix_(up, across)
    parts = (part[at].ravel() for part in (drawn.codes, drawn.confidence, drawn.certain))
    said = [in_plotly(_said(drawn, *each)) for each in zip(*parts, strict=True)]
    return lattice(x, y, x.values[across], y.values[up], said, asked)


def _said(drawn: DecisionMap, code: int, confidence: float, certain: bool) -> str:
    name = drawn.classes[code]
    return name if certain else f"{DONT_KNOW}; perhaps {name} ({percent(confidence)} sure)"


def _cells(shares: np.ndarray, columns: np.ndarray, said: list[str], true: list[str], colours: dict) -> go.Heatmap:
    """A heat map of some columns of a table of confusions."""
    part = shares[:, columns]
    text = [[_short(share) for share in row] for row in part] if len(true) <= MOST_NAMED else None
    words = [
        [f"{name}: {percent(share)} said {said[c]}" for c, share in zip(columns, row, strict=True)]
        for name, row in zip(true, part, strict=True)
    ]
    shown = {"x": columns, "y": np.arange(len(true)), "z": part.astype(np.float32), "zmin": 0, "zmax": 1, "dx": 1}
    said = {"customdata": words, "hovertemplate": "%{customdata}<extra></extra>", "text": text}
    template = None if text is None else "%{text}"
    return go.Heatmap(**shown, **said, **colours, texttemplate=template, xgap=2, ygap=2)


def _short(share: float) -> str:
    """A percentage where there is little room."""
    return percent(share).replace("more than ", ">").replace("less than ", "<")
