"""What a shared page draws: grids that it decodes itself, pictures worked out beforehand, and released counts.

The page decodes a grid's counters from the very file that it carries, fits the kernel's factors to the splines of each
axis and adds up, as `core.sketches.smoothing` does: answers and errors are the same but for rounding. Of other
releases it gets pictures on some number of places each; between them it reads along straight lines.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, cast

import numpy as np
from scipy.special import ndtri

from ...analysis import density, table_profile
from ...analysis.answerable import Box, map_size, noise_alone, places_along, reach_together
from ...analysis.centres import nearest_place
from ...analysis.other_columns import FEWEST_PLACES, NOTHING, Averaged, averaged_answers
from ...domain import Categorical, Column, Cyclic, Dates, Items, Numeric, Ordered, Vector
from ...domain.columns import as_places
from ...domain.round_columns import LATITUDE, Coordinate
from ...errors import RequestError
from ...formatting.numbers import number, shown
from ...geometry.kernels import Bandwidth, Stationary, stationary
from ...geometry.uniforms import PublicRandom
from ...local.local_answers import LocalAnswers, SketchRelease
from ...local.post_processing import POST, said_of
from ...releases.forecast.scales import closely
from ...releases.release import Release
from ...runtime.environment import one_thread
from ...sketches.histogram import Histogram
from ...sketches.tables.best_guess import BestGuess
from ...sketches.tables.counts import missing_label
from ...sketches.tables.table_answers import TableAnswers
from ...sketches.tables.table_axes import Axis as TableAxis
from ..figure_axes import Axis as PictureAxis
from ..figure_axes import amount_ticks, date_ticks, is_map, outlines
from ..meaning import left_out_in_words
from ..release_pictures import in_units


def column_facts(box: Box, name: str) -> dict[str, Any]:
    """One column that can be an axis: name, unit and bounds, or categories.

    Of numbers the ``gap`` between two besides, where they have steps. Of dates ``ticks``, ``origin`` and ``step``, in
    seconds since 1970. Of amounts ``ticks`` and the ``finest`` of their doublings, and bounds are in these.
    """
    column = box.domain.drawn[name]
    if isinstance(column, (Categorical, Ordered)):
        return {"name": name, "unit": "", "kind": "category", "categories": list(column.categories)}
    ends = np.array(column.bounds(1.0))
    low, high = ends.tolist()
    amounts = isinstance(column, Numeric) and column.doublings is not None
    natural = column.between(ends) if isinstance(column, Dates) or amounts else ends
    axis = PictureAxis.of(column, natural)
    facts = {"name": name, "unit": axis.unit, "kind": "number", "low": low, "high": high}
    facts |= {"measure": axis.measure, "length": axis.length, "turns": axis.is_longitude}
    if isinstance(column, Numeric) and column.spacing:
        facts["gap"] = column.spacing
    if isinstance(column, Dates):
        first, second = column.between(np.array([low, low + 1.0])).astype("int64").tolist()
        facts |= {"kind": "date", "ticks": date_ticks(column), "origin": first, "step": second - first}
    if amounts:
        facts |= {"kind": "amount", "ticks": amount_ticks(column), "finest": column.doublings.finest}
    return facts


MOST_COUNTERS = 1 << 20  # Beyond, a picture of a grid takes a browser longer than a person waits.
MOST_AXES = 3
MOST_TERMS = 48  # Products whose sum a kernel is: noise is known from all pairs of them.
# Mechanisms whose counters the page asks itself, at any place; pictures of others are worked out beforehand.
ASKED_IN_PAGES = ("race", "features", "projected", "histogram", "distance", "projected-distance", "moments")


def is_asked_in_pages(release: Release) -> bool:
    """Whether a page asks the file itself: pictures at any place, and lists that somebody pastes."""
    known = (*ASKED_IN_PAGES, "minhash", "directions")
    sketches = [part.sketch.one_answer[0] for part in (release.parts or {"": release}).values()]
    return release.population is None and all(sketch.name in known for sketch in sketches)


def live_facts(
    release: Release, as_it_is: bool = False, known: tuple[float, float] | None = None
) -> dict[str, Any] | None:
    """What a page needs beside the file to ask it at any place of some columns; None where it cannot.

    `as_it_is`: whether all columns may be drawn, and others say what is held and how closely a grid is looked at.
    `known`: by how many errors a place stands out from the noise of all, and the error of noise alone, if worked out.
    """
    names = drawn_names(release, None if as_it_is else MOST_COLUMNS)
    if release.sketch.name not in ASKED_IN_PAGES or not names:
        return None
    near = release.sketch.answers == "closeness"
    readings = _readings(release, as_it_is) if release.sketch.on_grid else {}
    if readings is None:
        return None
    with one_thread():  # as below
        held = {} if near or as_it_is or len(names) < 3 else nearest_place(release)
    box = Box.of(release.sketch)
    return {
        "kind": "live",
        "columns": [column_facts(box, name) for name in names],
        **_noise_facts(release, known),
        "nearest": {name: _for_json(value) for name, value in held.items()},
        "outline": _outline_facts([release.domain.drawn[name] for name in names]),
        **readings,
    }


OPENING = (48, 36)  # Places along the sides of the picture that a page opens with.
AVERAGED = 16  # Places that a page averages over.


def opening_facts(release: Release, live: Mapping[str, Any]) -> dict[str, Any] | None:
    """The map that a page opens with, answered beforehand as its decoder would; None where there is none.

    Its ``numbers`` are estimates and errors, float64 of ``shape`` each; intervals reach so many errors. The page
    decodes whatever is looked at next.
    """
    if len(live["columns"]) < 2 or any(isinstance(column, (Dates, Items, Vector)) for column in release.domain.columns):
        return None  # dates are places between seconds there
    x, y = (live["outline"] or {}).get("columns", (0, 1))
    reading = live["readings"][live["suited"]]["bandwidth"] if "readings" in live else None
    read = release if reading is None else release.smoothed(reading)
    box, names = Box.of(read.sketch), [live["columns"][place]["name"] for place in (x, y)]
    values = [box.encode(n, density.axis(box, n, side, ends=False)) for n, side in zip(names, OPENING, strict=True)]
    width, height = map(len, values)
    drawn = {names[0]: np.tile(values[0], (height, 1)), names[1]: np.repeat(values[1], width, axis=0)}
    held = {name: value for name, value in live["nearest"].items() if name not in names}
    if (others := tuple(n for n in release.domain.names if n not in (*names, *held))) and release.sketch.on_grid:
        return None
    with one_thread():
        answers = averaged_answers(read, drawn, box.encode_fixed(held), _page_average(box, others), LEVEL)
    stacked = np.array([answers.estimate, answers.standard_error], dtype="<f8")
    stacked /= 1.0 if release.sketch.answers == "closeness" else release.records
    errors = answers.standard_error
    reach = (answers.high - answers.estimate) / np.where(errors > 0.0, errors, np.nan)
    if not np.isfinite(reach).all() or np.ptp(reach) > 1e-9 * reach[0]:
        return None
    packed = base64.b64encode(stacked.tobytes()).decode()
    return {"columns": [x, y], "shape": [height, width], "reach": float(reach[0]), "numbers": packed}


def _page_average(box: Box, names: tuple[str, ...]) -> Averaged:
    """The places that `across.js` averages over: even ones of each column, or its categories, in their own order."""
    if not names:
        return NOTHING
    random, points = PublicRandom(0), np.zeros((AVERAGED, box.domain.dimensions))
    for name in names:
        even, order = density.axis(box, name, AVERAGED, ends=False), np.argsort(random.uniforms(AVERAGED))
        points[:, box.places[name]] = box.encode(name, even[order % len(even)])
    return Averaged(names, points)


def _outline_facts(columns: Sequence[Column]) -> dict[str, Any] | None:
    """Coasts and borders where there is one longitude and one latitude; None elsewhere."""
    places = [place for place, column in enumerate(columns) if isinstance(column, Coordinate)]
    if len(places) != 2 or not is_map(*(columns[place] for place in places)):
        return None
    places.sort(key=lambda place: cast(Coordinate, columns[place]).axis == LATITUDE)
    longitude, latitude = (cast(Coordinate, columns[place]) for place in places)
    ends = (longitude.low, longitude.high), (latitude.low, latitude.high)
    return {"columns": places, "lines": [np.round(line, 2).tolist() for line in outlines(*ends)]}


def drawn_names(release: Release, most: int | None = None) -> list[str]:
    """The columns that can be an axis of a picture."""
    if release.domain.holds_sets:
        return []
    return [c.name for c in release.domain.columns if not isinstance(c, (Items, Vector))][:most]


def _for_json(value: object) -> object:
    return value if isinstance(value, (str, int, float)) else str(value)


def _readings(release: Release, as_it_is: bool) -> dict[str, Any] | None:
    """The bandwidths that a grid may be read with, in words, and the one that suits; None where none can be read."""
    sketch = cast(Histogram, release.sketch)
    if len(sketch.axes) > MOST_AXES or math.prod(sketch.shape) > MOST_COUNTERS:
        return None
    if as_it_is:
        return {} if _read(release, None) is not None else None
    found = [(one, read) for one in _bandwidths(sketch) if (read := _read(release, one)) is not None]
    if not found:
        return None
    suited = 0
    if len(found) > 1:
        wanted = _length(stationary(cast(Histogram, release.smoothed().sketch).kernel).bandwidth)
        suited = int(np.argmin([abs(math.log(_length(one) / wanted)) for one, _ in found if one is not None]))
    words = [{"bandwidth": one, "words": "" if one is None else _in_words(read, one)} for one, read in found]
    return {"readings": words, "suited": suited}


def _bandwidths(sketch: Histogram) -> list[Bandwidth | None]:
    """What the grid may be read with; None for its own kernel where it has no bandwidth to choose."""
    if not isinstance(sketch.kernel, Stationary) or len(sketch.bandwidths) < 2:
        return [None]
    own = sketch.kernel.bandwidth
    return [
        tuple(float(f"{one * factor:.4g}") for one in own) if isinstance(own, tuple) else float(f"{own * factor:.4g}")
        for factor in sketch.bandwidths
    ]


def _read(release: Release, bandwidth: Bandwidth | None) -> Release | None:
    """The grid read with one bandwidth; None where it cannot be, axis by axis."""
    try:
        read = release if bandwidth is None else release.smoothed(bandwidth)
    except RequestError:
        return None
    kernels = cast(Histogram, read.sketch).smoothing.kernels
    return None if kernels is None or len(kernels) > MOST_TERMS else read


def _in_words(release: Release, bandwidth: Bandwidth) -> str:
    if isinstance(bandwidth, tuple):
        return ", ".join(number(one) for one in bandwidth)
    return closely(release.domain, bandwidth)


def _length(bandwidth: Bandwidth) -> float:
    return float(np.exp(np.mean(np.log(bandwidth))))


LEVEL = 0.95
MOST_COLUMNS = 8
CURVE, DISTANCE_CURVE, MOST_CURVE = 400, 96, 2_000
# Places along a side of a map: of two columns, of more, whose others are averaged over, of distances, and at least.
MOST_SIDE, AVERAGED_SIDE, DISTANCE_SIDE, LEAST_SIDE = 128, 64, 24, 16
NUMBERS = 150_000  # The most numbers in all pictures of a page, both ends of their intervals included: some 600 KB.


def lattice_facts(release: Release, share: float = 1.0) -> dict[str, Any] | None:
    """Curves and maps of a release of closeness or distances; None where no column can be drawn.

    `share`: of the room that a page has for numbers, where there are several populations.
    """
    names = drawn_names(release, MOST_COLUMNS)
    if not names:
        return None
    near = release.sketch.answers == "closeness"
    averaged = near and len(release.domain.names) > 2
    # Average distances are read with matrices so small that threads spend ten times longer waiting for each other.
    with one_thread():
        held = {} if near else nearest_place(release)
        side = _side(release, names, averaged, share)
        pictures = {str(place): _curve(release, name, held, side, share) for place, name in enumerate(names)}
        for (i, x), (j, y) in combinations(enumerate(names), 2):
            pictures[f"{i},{j}"] = _map(release, x, y, held, side, share / max(1, math.comb(len(names), 2)))
    box = Box.of(release.sketch)
    return {
        "kind": "lattice",
        "columns": [column_facts(box, name) for name in names],
        "pictures": {key: numbers(in_units(release, picture)) for key, picture in pictures.items()},
        **_noise_facts(release),
    }


def _noise_facts(release: Release, known: tuple[float, float] | None = None) -> dict[str, Any]:
    """What says where an answer stands out from the noise of all places together."""
    if release.sketch.answers != "closeness":
        return {}
    together, noise = known or (reach_together(release.sketch, release.privacy.noise), noise_alone(release))
    return {"together": together, "noise": noise if math.isfinite(noise) else None}


def numbers(picture: density.Curve | density.Heatmap) -> dict[str, Any]:
    """The estimates of a picture and both ends of their intervals, float32; nothing of ends that nobody knows."""
    arrays = [picture.estimate] + ([picture.low, picture.high] if picture.errors_known else [])
    stacked = np.ascontiguousarray(arrays, dtype="<f4")
    return {"shape": list(stacked.shape[1:]), "numbers": base64.b64encode(stacked.tobytes()).decode()}


def _side(release: Release, names: Sequence[str], averaged: bool, share: float) -> int:
    """How many places along a side of each map leave room for all of them."""
    pairs = max(1, math.comb(len(names), 2))
    room = math.isqrt(int(share * NUMBERS / (3 * pairs)))
    if release.sketch.answers != "closeness":
        return max(LEAST_SIDE, min(DISTANCE_SIDE, room))
    most = min(AVERAGED_SIDE if averaged else MOST_SIDE, room)
    return max(LEAST_SIDE, map_size(release, most, FEWEST_PLACES * pairs if averaged else 1))


def _curve(release: Release, name: str, held: Mapping[str, object], side: int, share: float) -> density.Curve:
    if release.sketch.answers != "closeness":
        return density.line(release, name, _without(held, name), DISTANCE_CURVE, LEVEL)
    if len(release.domain.names) == 1:
        points = min(MOST_CURVE, places_along(release.sketch, name, CURVE))
        return density.line(release, name, None, points, LEVEL)
    return density.marginal_line(
        release, name, None, 4 * side, LEVEL, share * density.READS / len(release.domain.names)
    )


def _map(release: Release, x: str, y: str, held: Mapping[str, object], side: int, share: float) -> density.Heatmap:
    if release.sketch.answers == "closeness" and len(release.domain.names) > 2:
        return density.marginal_grid(release, x, y, None, side, LEVEL, share * density.PAIRS_READS)
    # Categories are cells of their own, however few there are.
    apart = all(isinstance(Box.of(release.sketch).column(name), (Categorical, Ordered)) for name in (x, y))
    return density.grid(release, x, y, _without(held, x, y), 2 if apart else side, LEVEL)


def _without(held: Mapping[str, object], *drawn: str) -> dict[str, object]:
    return {name: value for name, value in held.items() if name not in drawn}


def table_facts(release: Release) -> dict[str, Any] | None:
    """What a page needs beside the counters to answer as released tables do; None for anything else."""
    if release.sketch.asked_for != "tables":
        return None
    answers = release.asked(LEVEL)
    noise, luck = answers.reading.noise, answers.reading.luck
    places = table_profile.place_columns(answers)
    guess = BestGuess(answers.reading)
    rows, lengths, vectors = guess.directions
    return {
        "kind": "tables",
        "axes": [
            axis_facts(*one)
            for one in zip(answers.axes, as_places([axis.column for axis in answers.axes]), strict=True)
        ],
        # What the file does not say of itself, or only with what was released before it.
        "known": {
            "total": answers.reading.total,
            "totalVariance": noise.total_variance if math.isfinite(noise.total_variance) else None,
            "luck": None if luck is None else {"design": luck.design, "square": float(ndtri(0.5 + LEVEL / 2.0)) ** 2},
            "found": {
                str(place): {
                    "cells": one.cells.tolist(),
                    "counts": one.counts.tolist(),
                    "weight": noise.found_weight(place),
                    "unit": noise.unit_variance(place),
                }
                for place, one in noise.found.items()
            },
            "together": {
                "fitted": guess.fitted_to(()),
                "common": None if guess.common is None else guess.common.tolist(),
                "lengths": lengths.tolist(),
                # To eleven digits, as what is read of them has nine.
                "entries": {
                    str(place): [[float(f"{one:.11g}") for one in cell] for cell in vectors[own].tolist()]
                    for place, own in rows.items()
                }
                if len(lengths)
                else {},
            },
        },
        "leftOut": left_out_in_words(release),
        "map": None if places is None else _map_facts(answers, places),
    }


def axis_facts(axis: TableAxis, column: Column) -> dict[str, Any]:
    """One column of tables in words, as it is drawn; where its cells begin the page reads off the file."""
    dates = isinstance(column, Dates)
    of_numbers = range(len(axis.categories), axis.cells)
    words = [shown(one) for one in axis.categories] + [
        table_profile.words_for_cells(axis, [cell]) for cell in of_numbers
    ]
    missing = missing_label(axis)
    facts = {
        "name": axis.name,
        "unit": "" if axis.categories or dates else getattr(column, "unit", ""),
        "kind": "category" if axis.categories else "date" if dates else "number",
        "ordered": table_profile.in_order(axis),
        "round": isinstance(column, Cyclic),
        "turns": isinstance(column, Coordinate) and column.axis != LATITUDE,
        "words": words,
        "missing": -1 if not missing else axis.categories.index(missing) if axis.categories else axis.cells - 1,
    }
    if dates:
        first, second = column.between(np.array([0.0, 1.0])).astype("int64").tolist()
        facts |= {"ticks": date_ticks(column), "origin": first, "seconds": second - first}
    if axis.amounts is not None:  # drawn evenly in doublings
        facts |= {"ticks": amount_ticks(axis.amounts), "drawn": axis.amounts.placed(axis.edges()).tolist()}
    return facts


def _map_facts(answers: TableAnswers, names: tuple[str, str]) -> dict[str, Any]:
    """The columns of a map, longitude first, and the outlines of coasts and borders on it, to a hundredth degree."""
    axes = [next(place for place, axis in enumerate(answers.axes) if axis.name == name) for name in names]
    box = [(answers.axes[place].low, answers.axes[place].high) for place in axes]
    return {"columns": axes, "lines": [np.round(line, 2).tolist() for line in outlines(*box)]}


def local_facts(release: LocalAnswers) -> dict[str, Any]:
    """How estimates of counted local reports may be made plausible; the page makes them of the file itself.

    Of a sketch, which no page decodes, the texts that the file names are listed with their estimates.
    """
    ways = [[name, way, said_of(way)] for name, way in POST.items() if way in release.ways]
    return {"kind": "reports", "ways": ways, "listed": _listed(release) if isinstance(release, SketchRelease) else None}


def _listed(release: SketchRelease) -> dict[str, Any]:
    """The candidates of a sketch as a file of found texts has them."""
    found = release.table(level=LEVEL)[["value", "estimate", "low", "high"]].to_numpy().tolist()
    survey = {"question": release.question, "search": {}}
    return {"survey": survey, "people": release.people, "refused": release.refused, "level": LEVEL, "found": found}
