"""Records that everybody may know, on which forecasts are tried in place of made-up ones.

They are taken as a release takes private ones: values beyond the bounds are moved to them, or left out, as the domain
says. Whoever names them says that they are public: what is chosen by them, such as the size of a table, goes into the
file, and nothing hides it.

A sketch tried on a public sample, a hundredth of what it stands for, say, and often of a few hundred records.

So small a sample says little unless all of it is used, and what is its own chance must not be taken for the sketch's:

* It is asked in turns: each third of it about the others, so that nobody is compared with themselves, and every record
  is a place once.
* What hashes and grids do to each record by itself averages out in the many that the sample stands for. It is told
  apart by two halves of the records, over all turns together: one turn alone is off by more than what stays.
* Errors are those at all places, as they differ from place to place: also at those where few are, which a relative
  error leaves out.
* Of a sketch with random directions several are drawn, as one draw may be lucky.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Any, cast

import numpy as np
import pyarrow as pa

from ...domain import Domain
from ...domain.item_sets import Sets
from ...sketches.grouped import GroupedSketch
from ...sketches.linear import LinearSketch
from ...sketches.minhash import MinHash
from .one_trial import GRID_QUERIES, GROUPED_RECORDS, MEAN_TO_RMS, Trial, errors_of_means, group_errors, of_many_groups

MOST_REMEMBERED = 64  # Trials.


@dataclass(frozen=True, eq=False)
class PublicRecords:
    """Public records, in an order that says nothing."""

    title: str
    table: pa.Table  # Columns as they were read.
    # Tells them from all others, for what is remembered of them elsewhere.
    key: str = field(default_factory=lambda: token_hex(8))
    _tried: dict[Any, Trial] = field(default_factory=dict, repr=False)

    def encoded(self, domain: Domain, metric: str) -> np.ndarray:
        """Coordinates of all of them, float64 (n, dimensions), less those that miss a value of the domain's columns."""
        (batch,) = self.table.select(domain.fields).combine_chunks().to_batches()
        return replace(domain, missing="drop").encode(batch, metric)

    def spread(self, domain: Domain) -> float:
        """Standard deviation of a column in shares of its bounds, root mean square over the columns."""
        points = self.encoded(replace(domain, scale="box"), "l2")
        return float(np.sqrt(points.var(axis=0).mean()))

    def trial(self, sketch: object, tried: Callable[[], Trial]) -> Trial:
        """How a sketch did on them, remembered with them and forgotten with them."""
        if sketch not in self._tried:
            self._tried[sketch] = tried()
        while len(self._tried) > MOST_REMEMBERED:
            del self._tried[next(iter(self._tried))]
        return self._tried[sketch]


TURNS = 3
MOST_ASKED, MOST_SETS_ASKED = 100, 300  # Places of a turn.
DRAWS = 12  # Of the directions of a sketch that is no mean over groups of rows.
OUTSKIRTS = 0.03  # Queries below this share of the average density are left out: a relative error means little there.


@dataclass(frozen=True, eq=False)
class _Turn:
    """What a sketch without noise missed at some places, of sums over the records of a turn; arrays (places,)."""

    # The error at each place: standard deviation by its mean size, which single draws with heavy tails leave alone, and
    # root mean square.
    deviations: np.ndarray
    roots: np.ndarray
    # Errors of each half of the records, (draws, places).
    first: np.ndarray
    second: np.ndarray
    # Exact sums, and what the variance of a counter's noise is multiplied by.
    exact: np.ndarray
    gains: np.ndarray
    records: int  # Of both halves.


def sampled_trial(sketch: LinearSketch, sample: np.ndarray) -> Trial:
    """A trial on a public sample of encoded records, float64 (n, dimensions)."""
    if sketch.in_groups:
        grouped = cast(GroupedSketch, sketch)
        trial = of_many_groups(grouped)
        return _together([_grouped_turn(grouped, trial, *turn) for turn in _turns(sample, MOST_ASKED, GROUPED_RECORDS)])
    return _together([_plain_turn(sketch, *turn) for turn in _turns(sample, GRID_QUERIES, len(sample))])


def sampled_set_trial(sketch: MinHash, trial: MinHash, sample: Sets) -> Trial:
    """A trial on a public sample of sets, by single rows, which are as good as independent.

    `sketch`, `trial`: what is forecast, and rows of its kind, each a group of its own. `sample`: in random order.
    """
    turns, asked = [], min(MOST_SETS_ASKED, len(sample) // TURNS)
    for turn in range(TURNS):
        rolled = sample[np.roll(np.arange(len(sample)), -turn * asked)]
        queries, kept = rolled[:asked], rolled[asked:]
        half = len(kept) // 2
        errors = (group_errors(trial, queries, kept[:half]), group_errors(trial, queries, kept[half:]))
        deviations = np.sqrt(np.mean((errors[0] + errors[1]) ** 2, axis=0) / sketch.rows)
        gains = np.full(asked, float(sketch.noise_variance(1.0)))
        turns.append(_Turn(deviations, deviations, *errors, trial.exact(queries, kept), gains, len(kept)))
    return _together(turns)


def _turns(sample: np.ndarray, most: int, records: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Queries and two halves of the records of each turn, of which none asks about its own."""
    asked = min(most, len(sample) // TURNS)
    for turn in range(TURNS):
        rolled = np.roll(sample, -turn * asked, axis=0)
        kept = rolled[asked:][:records]
        half = len(kept) // 2
        yield tuple(np.asfortranarray(part) for part in (rolled[:asked], kept[:half], kept[half:]))  # type: ignore[misc]


def _grouped_turn(
    sketch: GroupedSketch, trial: GroupedSketch, queries: np.ndarray, first: np.ndarray, second: np.ndarray
) -> _Turn:
    """By many groups of rows of the sketch's kind."""
    errors = (group_errors(trial, queries, first), group_errors(trial, queries, second))
    deviations = errors_of_means(sketch, trial, errors[0] + errors[1]).mean(axis=0)
    gains = np.asarray(trial.noise_variance(1.0, queries)) * (trial.rows / sketch.rows)
    exact = trial.exact(queries, first) + trial.exact(queries, second)
    return _Turn(deviations, deviations, *errors, exact, gains, len(first) + len(second))


def _plain_turn(sketch: LinearSketch, queries: np.ndarray, first: np.ndarray, second: np.ndarray) -> _Turn:
    """By the sketch itself, drawn several times where it has random directions."""
    drawn = [sketch.reseeded(draw) for draw in range(DRAWS)]
    drawn = drawn if drawn[0] != drawn[1] else drawn[:1]
    exact = sketch.exact(queries, first), sketch.exact(queries, second)
    early, late = (
        np.stack([_answers(one, queries, part) - own for one in drawn])
        for part, own in zip((first, second), exact, strict=True)
    )
    whole = np.abs(early + late)
    gains = np.broadcast_to(np.asarray(sketch.noise_variance(1.0, queries)), len(queries))
    roots = np.sqrt((whole**2).mean(axis=0))
    both = len(first) + len(second)
    return _Turn(whole.mean(axis=0) / MEAN_TO_RMS, roots, early, late, exact[0] + exact[1], gains, both)


def _answers(sketch: LinearSketch, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
    table = sketch.zeros()
    sketch.add(table, records)
    return sketch.answer(table, len(records), queries, 0.0, 0.95).estimate


def _together(turns: list[_Turn]) -> Trial:
    """One trial of all turns."""
    records = round(float(np.mean([turn.records for turn in turns])))
    stays = np.mean([np.mean(turn.first * turn.second) / _pairs(turn.records) for turn in turns])
    whole = max(float(np.mean([np.mean((turn.first + turn.second) ** 2) / turn.records**2 for turn in turns])), 1e-300)
    exact, deviations, roots = (
        np.concatenate([getattr(turn, name) / turn.records for turn in turns])
        for name in ("exact", "deviations", "roots")
    )
    told = exact >= max(OUTSKIRTS * float(exact.mean()), 1e-9)
    if not told.any():
        told[:] = True
    exact = np.maximum(exact, 1e-9)
    return Trial(
        max(float(np.mean((deviations / exact)[told])), 1e-6),
        float(np.sqrt(np.mean(roots**2))),
        min(max(1.0 - float(stays) / whole, 0.0), 1.0),
        records,
        tuple(exact[told]),
        tuple(np.concatenate([turn.gains for turn in turns])[told]),
    )


def _pairs(records: int) -> int:
    """Of one record of either half."""
    return (records // 2) * (records - records // 2)
