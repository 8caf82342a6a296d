"""Auditing a release end to end: from two frames of made-up records to the files that come out.

`core.privacy.attacks` attacks a noisy table: it tells how well two neighbouring data sets can be told apart, and needs
thousands of runs for a bound that is far below what a mistake would allow. Much of what can go wrong is not a matter of
chance, though, and shows in a few releases that are really made: planned, read, paid for in a ledger of their own,
sealed, saved and opened again. So this looks at

* **the price**: every release has its entry, the entries say what was asked for, the file promises it, and another
  release is refused;
* **how far one person moves a release**: the same release of both neighbours under the same seeded noise, whose
  difference is exact. Somebody owns more rows than count, so whoever forgets to choose among them is found. The stated
  noise has to hide that difference: pure noise loses L1/b (or the blocks' L2/b), Gaussian noise has the curve of its
  μ = L2/σ (Balle, Wang 2018, Theorem 8), and everything together has to fit the promise;
* **the noise**: what is left of the counters when the exact ones are taken away follows the stated law, and has nothing
  to do with that of other counters and other releases;
* **everything else in the file**: it is the same whoever is among the records, and however many there are.

Tests of chance use facts that hold exactly for correct noise of any scale. Signs of noise are fair coins, and so are
products of the signs of neighbouring counters, or of the same counter in two releases, whose sums Hoeffding's
inequality bounds. Through its own distribution function (with a fair draw within each step), noise becomes uniform.
Each test fails a correct mechanism with probability below `CHANCE`; there are fewer than a hundred of them.
"""

import math
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy

from ..errors import BudgetError, RequestError
from ..privacy.attacks import AuditReport
from ..privacy.calibration import NoiseScale
from ..privacy.integer_shifts import GaussianTable, gaussian_tables_delta
from ..privacy.ledger.ledger import Ledger
from ..privacy.ledger.ledger_store import LedgerDamaged
from ..privacy.noise.randomness import SeededSource
from ..sketches.linear import LinearSketch
from ..sketches.mechanism_audit import audit_adaptive, audit_sketch, worst_records
from ..sources import Source, open_source
from .job import Job
from .kind import Kind, Plain, TablePlan
from .payment import LedgerAccount, unit_words
from .release import Release, load

CHANCE = 1e-10  # How likely a test may fail correct noise.
ENOUGH = 1_600  # Draws of noise that the tests of its law want, from all releases together.
FEWEST, MOST = 6, 24  # Releases that are made of either data set.
# Runs of the attack on noisy tables, also where something is chosen, which takes longer; and for each of them.
RUNS, CHOOSING_RUNS, RUNS_A_RELEASE = 20_000, 2_000, 80
TOO_MANY = 3  # Rows that somebody owns beyond those that count.
LEAST_PRICE = 0.005  # Share of ε that whatever is bought beside a table costs at least.
CROWD = 500  # How many times all records come again in a large data set of the same domain.
# Into how many parts of equal chance noise is told apart, and the chances of what is called its tails.
BINS, TAILS = 16, (1 / 4, 1 / 8, 1 / 32)
COARSE, LOOSE = 16, 1.02  # From this σ² on a discrete Gaussian's δ is as close as this to the continuous one's.


@dataclass(frozen=True)
class MadeUp:
    """Two neighbouring data sets, as tables; the second lacks a person, or has other records of the same person."""

    data: pd.DataFrame
    neighbour: pd.DataFrame
    crowd: pd.DataFrame


def audit_release(kind: Kind | TablePlan, *, runs: int | None = None, level: float = 0.95) -> AuditReport:
    """Attack a release, from the records to the file; RequestError when the mechanism cannot keep such a promise.

    `kind`: What is released, how, and for how much, of a settled size. `runs`: Runs on each data set of the attack on
    the noisy tables (`core.privacy.attacks`); None takes 20,000, or 2,000 where something is chosen under noise. Few
    runs mean few releases. `level`: Probability with which the bound of that attack holds.
    """
    if kind.sketch.chooses:
        report = audit_adaptive(kind.sketch, kind.budget, runs=runs or CHOOSING_RUNS, level=level)
    else:
        report = audit_sketch(kind.sketch, kind.budget, runs=runs or RUNS, level=level)
    return replace(report, findings=tuple(findings(kind, max(2, min(MOST, report.runs // RUNS_A_RELEASE)))))


def findings(kind: Kind | TablePlan, releases: int = MOST) -> Iterator[str]:
    """Everything that is wrong with releases that are really made, one sentence each.

    `kind`: What is released, of a settled size. `releases`: How many are made of either data set, at least two; fewer
    where the tables are large.
    """
    made_up = made_up_records(kind)
    size = max(math.prod(kind.table.shape), 1)
    count = min(releases, max(FEWEST, -(-ENOUGH // (2 * size))))
    with tempfile.TemporaryDirectory() as folder:
        road = _Road(kind, Path(folder))
        data, neighbour = open_source(made_up.data), open_source(made_up.neighbour)
        sides = {
            "data": [road.paid(data) for _ in range(count)],
            "neighbour": [road.paid(neighbour) for _ in range(count)],
        }
        yield from road.found
        yield from road.refusal(data)
    exact = {"data": made_up.data, "neighbour": made_up.neighbour}
    yield from _noise_findings(sides, exact)
    yield from _distance_findings(kind, road, made_up)
    yield from _fact_findings(kind, road, made_up)


class _Road:
    """Makes releases the way that everyone makes them, with a ledger of its own."""

    def __init__(self, kind: Kind | TablePlan, folder: Path):
        self._kind = kind
        self._ledger = Ledger(folder / "ledger.sqlite")
        self._made = 0
        self.found: list[str] = []

    def paid(self, source: Source) -> Release:
        """A release that was paid for, as its file says it."""
        payer = self._payer()
        job = Job(self._kind, source, payer)
        job.run()
        if job.kept is None:
            raise RequestError("A release was not kept beside its ledger, so there is nothing to audit.")
        made = load(job.kept)
        self._check(payer.dataset, made)
        return made

    def seeded(self, source: Source) -> Release:
        """A release under noise that is the same every time."""
        return Job(self._kind, source, noise_source=SeededSource(1)).run()

    def refusal(self, source: Source) -> Iterator[str]:
        """What is wrong with how a ledger refuses: nothing may be released from a budget that is spent."""
        payer = self._payer()
        Job(self._kind, source, payer).run()
        try:
            Job(self._kind, source, replace(payer)).run()
        except BudgetError:
            return
        except LedgerDamaged:
            yield "a release lies beside a ledger that does not know it"
            return
        yield "a second release was made from a budget that the first one had used up"

    def _payer(self) -> LedgerAccount:
        self._made += 1
        unit = unit_words(self._kind.table.domain.unit)
        return LedgerAccount(self._ledger, f"made up {self._made}", self._kind.budget, unit)

    def _check(self, dataset: str, made: Release) -> None:
        budget, promise = self._kind.budget, made.privacy
        if dataset not in self._ledger.names():
            return self._find("a release is not in the ledger")
        costs = [entry.cost for entry in self._ledger.status(dataset).releases]
        paid = (sum(Fraction(cost.epsilon) for cost in costs), sum(Fraction(cost.delta) for cost in costs))
        if paid != (Fraction(budget.epsilon), Fraction(budget.delta)):
            self._find(f"the ledger has ε = {float(paid[0]):g} of a release of ε = {float(budget.epsilon):g}")
        said = (promise.epsilon, promise.delta, promise.neighbours, promise.unit, made.private)
        asked = (budget.epsilon, budget.delta, budget.neighbours, self._kind.table.domain.unit, True)
        if said != asked:
            self._find("the file promises something else than was asked for")
        return None

    def _find(self, what: str) -> None:
        if what not in self.found:
            self.found.append(what)


def made_up_records(kind: Kind | TablePlan) -> MadeUp:
    """Two neighbouring data sets on which the tables of a sketch are far apart, and a large one of the same records."""
    sketch, noises = kind.table, [noise for noise in kind.noises if noise is not None]
    tried, person, other = worst_records(sketch, kind.budget.neighbours, noises[: max(len(sketch.parts), 1)])
    unit = sketch.domain.unit
    rows = tried
    if unit.column is not None:
        rows = tried.assign(**{unit.column: [f"p{place}" for place in range(len(tried))]})

    def owned(place: int) -> pd.DataFrame:
        count = unit.records if unit.column is None else unit.records + TOO_MANY
        theirs = tried.iloc[[place] * count]
        return theirs if unit.column is None else theirs.assign(**{unit.column: "somebody"})

    first = pd.concat([rows, owned(person)], ignore_index=True)
    second = rows if other is None else pd.concat([rows, owned(other)], ignore_index=True)
    crowd = [rows] * CROWD
    if unit.column is not None:
        crowd = [rows.assign(**{unit.column: rows[unit.column] + f" {copy}"}) for copy in range(CROWD)]
    frames = (_spread(sketch, frame) for frame in (first, second, pd.concat(crowd, ignore_index=True)))
    return MadeUp(*frames)


def _spread(sketch: LinearSketch, frame: pd.DataFrame) -> pd.DataFrame:
    """One item a row, where sets are gathered from rows."""
    if not sketch.domain.gathers:
        return frame
    return frame.explode(sketch.domain.names[0], ignore_index=True)


def _kept(sketch: LinearSketch, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: as many of each person as the privacy unit says, all of whose rows are equal here."""
    unit = sketch.domain.unit
    if unit.column is None or sketch.domain.gathers:
        return frame
    return frame.groupby(unit.column, sort=False).head(unit.records)


def exact_table(sketch: LinearSketch, frame: pd.DataFrame) -> np.ndarray:
    """The table of a sketch over the rows that count, record by record, by nothing that releases are made with."""
    table = sketch.zeros()
    if sketch.domain.gathers:
        for batch in open_source(frame).batches(sketch.domain):
            sketch.add(table, sketch.encode(batch))
        return table
    kept = _kept(sketch, frame)[list(sketch.domain.fields)]
    sketch.add(table, sketch.encode(pa.RecordBatch.from_pandas(kept, preserve_index=False)))
    return table


def _noise_findings(sides: dict[str, list[Release]], frames: dict[str, pd.DataFrame]) -> Iterator[str]:
    """What is wrong with the noise in the tables of all releases."""
    rests: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    noises: dict[int, NoiseScale] = {}
    known: dict[tuple[str, str], np.ndarray] = {}
    for side, releases in sides.items():
        for made in releases:
            key = (side, str((made.sketch.domain.to_dict(), made.sketch.parameters())))
            if key not in known:
                known[key] = exact_table(made.sketch, frames[side])
            rest = np.asarray(made.counters, dtype=np.int64) - known[key]
            parts = zip(made.sketch.split(rest), made.sketch.split(known[key]), strict=True)
            for place, (left, exact) in enumerate(parts):
                rests.setdefault(place, []).append((left, exact))
                noises[place] = made.privacy.noise[place]
    for place, noise in noises.items():
        shape = rests[place][0][0].shape
        alike = [(left, exact) for left, exact in rests[place] if left.shape == shape]
        yield from _of_one_table(np.stack([left for left, _ in alike]), np.stack([exact for _, exact in alike]), noise)


def _of_one_table(left: np.ndarray, exact: np.ndarray, noise: NoiseScale) -> Iterator[str]:
    """What is wrong with the noise of one table: the noise and the exact counters, int64 (releases, *shape) each."""
    rng = np.random.default_rng(7)
    signs = np.sign(left)
    signs = np.where(signs == 0, rng.choice([-1, 1], signs.shape), signs)
    if _uneven(signs):
        yield "the noise has more of one sign than of the other"
    if _uneven(signs[1:] * signs[:-1]):
        yield "the noise of one release has to do with that of the next"
    beside = [np.take(signs, range(1, size), at) * np.take(signs, range(size - 1), at) for at, size in _axes(signs)]
    flat = signs.reshape(len(signs), -1)
    half = flat.shape[1] // 2
    if any(map(_uneven, [*beside, flat[:, :half] * flat[:, half : 2 * half]])):
        yield "the noise of some counters has to do with that of others"
    if noise.block is not None:
        if _other_lengths(left, noise):
            yield "the noise vectors are longer or shorter than is stated"
        return
    below, chance = _law(left.reshape(-1), noise)
    uniform = below + rng.uniform(size=below.shape) * chance
    full = exact.reshape(-1) > np.median(exact)
    if _not_uniform(uniform):
        yield f"the noise does not follow the stated law ({noise.distribution})"
    elif _not_uniform(uniform[full]) or _not_uniform(uniform[~full]):
        yield "the noise depends on how much is in a counter"


def _axes(table: np.ndarray) -> list[tuple[int, int]]:
    """The axes of single tables along which there is more than one counter, and how many there are."""
    return [(axis, size) for axis, size in enumerate(table.shape) if axis and size > 1]


def _uneven(signs: np.ndarray) -> bool:
    """Whether fair coins, -1 and 1, would hardly ever fall so (Hoeffding)."""
    return bool(signs.size and abs(signs.sum()) > math.sqrt(2 * signs.size * math.log(2 / CHANCE)))


def _other_lengths(left: np.ndarray, noise: NoiseScale) -> bool:
    """Whether the lengths of noise vectors have another mean than those of m coordinates and scale b: m times b.

    A length is a sum of m independent exponential numbers, so 8 deviations of a mean of many are beyond `CHANCE`;
    rounding moves a length by half of √m at most.
    """
    lengths = np.linalg.norm(left.reshape(-1, noise.block or 1), axis=1)
    size, scale = noise.block or 1, float(noise.parameter)
    room = 8 * scale * math.sqrt(size / lengths.size) + math.sqrt(size) / 2
    return bool(abs(lengths.mean() - size * scale) > room)


def _not_uniform(numbers: np.ndarray) -> bool:
    """Whether numbers between 0 and 1 are hardly ever drawn so, by their distribution and by how many lie far out."""
    if not numbers.size:
        return False
    tests = [scipy.stats.kstest(numbers, "uniform").pvalue]
    if numbers.size >= 40 * BINS:
        counts = np.bincount(np.minimum((numbers * BINS).astype(int), BINS - 1), minlength=BINS)
        tests.append(scipy.stats.chisquare(counts).pvalue)
    ends = np.minimum(numbers, 1 - numbers)
    tests += [scipy.stats.binomtest(int((ends < tail / 2).sum()), numbers.size, tail).pvalue for tail in TAILS]
    return bool(min(tests) < CHANCE)


def _law(values: np.ndarray, noise: NoiseScale) -> tuple[np.ndarray, np.ndarray]:
    """P(Z < z) and P(Z = z) under the stated law, float64 each."""
    if noise.distribution == "discrete_laplace":
        rate = float(1 / noise.parameter)
        return scipy.stats.dlaplace.cdf(values - 1, rate), scipy.stats.dlaplace.pmf(values, rate)
    sigma2 = float(noise.parameter)
    reach = int(40 * math.sqrt(sigma2)) + 2
    if reach > 1 << 22:
        low, high = (scipy.stats.norm.cdf((values + step) / math.sqrt(sigma2)) for step in (-0.5, 0.5))
        return low, high - low
    grid = np.arange(-reach, reach + 1)
    weights = np.exp(-(grid.astype(float) ** 2) / (2 * sigma2))
    weights /= weights.sum()
    upto = np.concatenate([[0.0], np.cumsum(weights)])
    place = np.clip(values, -reach, reach) + reach
    return upto[place], weights[place]


def _distance_findings(kind: Kind | TablePlan, road: _Road, made_up: MadeUp) -> Iterator[str]:
    """Whether the stated noise hides how far one person moves a release."""
    made, other = (road.seeded(open_source(frame)) for frame in (made_up.data, made_up.neighbour))
    sketch, budget = made.sketch, kind.budget
    if made.sketch.parameters() == other.sketch.parameters():
        moved = np.asarray(made.counters, np.int64) - np.asarray(other.counters, np.int64)
    else:  # what was chosen or bought differs; the tables of one choice are compared
        moved = exact_table(sketch, made_up.data) - exact_table(sketch, made_up.neighbour)
    tables = [(part, noise) for part, noise in zip(sketch.split(moved), made.privacy.noise, strict=True)]
    if made.counted is not None and other.counted is not None:
        step = np.reshape(np.asarray(made.counted) - np.asarray(other.counted), -1)
        if made.privacy.count_noise:
            noises = made.privacy.count_noise
            pieces = sketch.split_count(step) if len(noises) > 1 else [step]
            tables += [(piece, noise) for piece, noise in zip(pieces, noises, strict=False)]
        elif step.any():
            yield "a number of records is released without noise, and one person changes it"
    left = (
        1 - LEAST_PRICE if isinstance(kind, TablePlan) else 1
    )  # what was read first was bought, with a share of the budget
    lost = _lost(tables, left * float(budget.epsilon))
    if lost > float(budget.delta) * LOOSE + 1e-12:
        yield (
            f"one person moves the released tables so far that their noise hides it with ε = {float(budget.epsilon):g} "
            f"only at δ = {lost:.3g}, and {float(budget.delta):g} was promised"
        )


def _lost(tables: Iterable[tuple[np.ndarray, NoiseScale]], epsilon: float) -> float:
    """δ at ε of telling two such tables apart; of pure noise 0 or 1, whether its ε is within the promise or not."""
    pure, gaussian = 0.0, []
    for moved, noise in tables:
        if noise.distribution == "discrete_gaussian":
            steps = [abs(step) for step in moved.reshape(-1).tolist()]  # whose squares may be beyond 64 bits
            square, unit = sum(step * step for step in steps), max(steps) <= 1
            gaussian += [GaussianTable(square, float(noise.parameter), unit)] if square else []
        else:
            norms = np.linalg.norm(moved.astype(float).reshape(-1, noise.block or 1), axis=1)
            pure += float(norms.sum() / float(noise.parameter))
    left = epsilon * (1 + 1e-9) - pure
    if left < 0:
        return 1.0
    if not gaussian:
        return 0.0
    if min(table.sigma2 for table in gaussian) < COARSE:  # such noise takes few values
        return gaussian_tables_delta(left, gaussian)
    mu = math.sqrt(sum(table.l2_squared / table.sigma2 for table in gaussian))
    first, second = scipy.stats.norm.cdf(mu / 2 - left / mu), scipy.stats.norm.logcdf(-mu / 2 - left / mu)
    return float(first - math.exp(min(left + second, 0.0)))


def _fact_findings(kind: Kind | TablePlan, road: _Road, made_up: MadeUp) -> Iterator[str]:
    """Whether anything but the counters tells who is among the records, or how many there are."""
    made = [road.seeded(open_source(frame)) for frame in (made_up.data, made_up.neighbour, made_up.crowd)]
    if len({np.asarray(one.counters).dtype for one in made}) > 1:
        yield "the type of the counters depends on the records"
    if len({(one.counted is None, str(one.privacy.to_dict())) for one in made}) > 1:
        yield "what the file promises depends on the records"
    if isinstance(kind, Plain) and any(one.sketch != kind.sketch for one in made):
        yield "bounds or parameters in the file are other ones than were declared"
