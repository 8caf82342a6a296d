"""Find out under a promise what nobody has said of a table: formats, values of categories, ranges, how many records.

To look these up in the data and type them in is a leak; to know them by heart is more than most owners can. So one
purchase with a stated share of the promise finds them, as the first stage of a release or by itself:

The share is a tenth, or follows from a public guess of how many records there are (`by_forecast`), or, where a release
follows in the same run and nobody says it, from what a first look leaves (`Discovery.settled`).

1. *How values are written.* Every record votes in each column for the formats that fit its value; the noisy votes say
   each column's kind and format, how many records miss a value, and how many records there are. A twentieth of the
   share; of questions of one name the mean of all, where none stands out.
2. *Values and ranges.* Of every column of categories, values that pass a noisy threshold, and in a third reading rarer
   ones, of columns alike together (`partition_selection`); what is rarer still becomes "other". Of numbers and dates,
   the cells of a public grid of powers of two, or of years, that stand out of the noise: their ends are the range; and
   what their values are whole multiples of.

**Why it is private.** Each of the readings is a table of counts with noise, of which `discovery_reading` says how
far one person moves it, or values above a threshold. What each counts follows from what was released before, which
composition allows. Under a pure promise the tables have shares of ε; values of categories cannot be found then. Under a
delta they have shares of ρ, and values that one person alone has are shown with a probability of at most a quarter of
the delta, whatever is found elsewhere. All noise is priced before any of it is drawn, and the ledger has one entry: of
discovery alone, or, where a release follows in the same run, of both together (`accounting.Reserve`).

Everything that is asked, priced and refused beforehand follows from the names of the columns, the types that a file
says they have (of text files all are texts, whatever their values look like) and what was typed. Found values are in
the order of their noisy counts. To leave out, merge or correct any of them costs nothing.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, Unpack

import numpy as np

from ..domain import Domain
from ..domain.columns import kind_for, stem_of
from ..domain.declarations import Declaration
from ..errors import RequestError
from ..formatting.numbers import significant
from ..privacy.budget import Budget, Number, PrivacyUnit
from ..privacy.choosing.partition_selection import ValueSelection
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sources import FileReading, Source, open_source
from .discovery_reading import stands_out
from .discovery_stage import MORE, Discovery
from .found import Discovered
from .job import Job
from .kind import Kind, TablePlan, kind_of
from .payment import LedgerAccount, payer_of
from .purchase_plan import PurchasePlan
from .release import Release
from .stages import Known

SHARES = ("0.05", "0.1", "0.15", "0.2", "0.25")
SIZES = (2, 3, 5, 8, 12, 20, 40, 100, 300)
"""Numbers of values of columns that are supposed, each as often, the values as frequent as one over their rank."""
NOISY, SMOOTHER, LOST = 0.48, 0.4, 0.4
"""What noise takes from a pair of columns with the whole promise, as a part of its records, where a value needs as many
of them as there are to be found; by which power of that part it falls; and what "other" takes of its own part. Measured
on releases of 2,000 and 10,000 records of Adult and of a made-up table with 300 values in three columns of ten."""


ANSWERS = 5
"""Different ones that a record is supposed to give to questions alike."""
NOTICED, MUCH = 0.25, 0.5
"""Parts of the records without a value that are worth a word, and that are most of them."""
MANY = tuple(round(digit * 10**power) for power in range(2, 7) for digit in (1, 1.5, 2, 3, 5, 7))
"""Numbers of records that are tried."""
TYPED = "to type values or take fewer columns"


def discover(
    data: object,
    budget: Budget,
    share: Number | None = None,
    *,
    records: float | None = None,
    unit: PrivacyUnit | None = None,
    said: Declaration | None = None,
    columns: Sequence[str] | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    progress: Callable[[int], object] | None = None,
    noise_source: NoiseSource | None = None,
    **reading: Unpack[FileReading],
) -> Discovered:
    """Find out what nobody has said of a table: formats, values of categories, ranges, and how many records there are.

    Parameters
    ----------
    data : object
        Whatever `core.sources.open_source` opens: a path, a frame.
    budget : Budget
        The promise of which a share is spent, with a delta where values of categories are to be found. What is left for
        a release is `Discovered.left`.
    share : Number | None
        Strictly between 0 and 1. `loss_words` says beforehand how much will
        not be found.
    records : float | None
        About how many there are, where anybody may know: it decides the share, a tenth without it.
    unit : PrivacyUnit | None
        Who one person is; each record by itself, or whom ``said`` protects, without it.
    said : Declaration | None
        What is known of some columns: nothing is spent on them.
    columns : Sequence[str] | None
        Which columns; None is all of them.
    ledger, dataset : Ledger | str | None, str | None
        Who pays, as in `release`; a data set that the ledger does not know is registered with the whole promise.
    progress : Callable[[int], object] | None
        Called with the number of rows read so far in each of two readings.
    noise_source : NoiseSource | None
        None in any real purchase; a seeded source is for tests and lessons.
    **reading : FileReading
        How a file is read that does not say it itself: ``encoding``, ``sep``, ``header``, ``names``, ``sheet``.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"city": ["Bern"] * 5_000 + ["Basel"] * 4_000 + ["Chur"]})
    >>> found = discover(people, Budget(1, "1e-6"))
    >>> found["city"].column.categories
    ('Bern', 'Basel', 'other')

    Raises
    ------
    RequestError, BudgetError
        When something cannot be used, or the budget does not allow it; nothing was spent.
    """
    source = open_source(data, **reading)
    stage = by_forecast(Discovery.of_source(source, budget, share, unit, said, columns), share, records)
    account = payer_of(ledger, dataset, budget, stage.unit)
    return bought_alone(stage, source, account, progress, noise_source)


def by_forecast(asked: Discovery, share: Number | None, records: float | None) -> Discovery:
    """The same for the share that is said, or else for that of which the best guess of pairs is expected to err least.

    With fewer records a value must be more frequent to be found, and what is not found is lost to "other"; but what is
    spent on finding it is missing in all pairs. Both follow from columns, promise and a public number of records.
    """
    if share is not None or records is None or asked.found_from() is None:
        return asked
    many = max(1.0, records)
    parts = [(one.found_from() or math.inf) / many for one in (replace(asked, share=share) for share in SHARES)]
    usual = (asked.found_from() or math.inf) / many
    noise = min(1.0, NOISY * usual**SMOOTHER)
    errors = [
        noise / math.sqrt(1.0 - float(share)) + LOST * _not_found(part)
        for share, part in zip(SHARES, parts, strict=True)
    ]
    return replace(asked, share=SHARES[int(np.argmin(errors))], open=False)


def _not_found(least: float) -> float:
    """Part of the records whose value is rarer than this part of them, in the columns that are supposed."""
    return float(np.mean([shares[shares < least].sum() for shares in _supposed()]))


def expected_loss(asked: Discovery, records: float) -> float | None:
    """Part of the records whose value is not found, in the mean of columns of words, with so many; None under no delta.

    Of columns that are supposed, with as many names alike as there are: each record counts in as many cells of the
    second look as it has values that the first one leaves.
    """
    columns = [name for name in asked.texts if kind_for(name) in (None, "category")]
    if asked.budget.pure or not columns:
        return None
    looks = _looks(asked, len(columns))
    first, again = looks[0].found_from(0.5) / records, looks[-1].found_from(0.5) / records
    sizes = list(Counter(stem_of(name) or (name,) for name in columns).values())
    left = _not_found(first)
    cells = sum(left if size == 1 else min(size, ANSWERS) for size in sizes)
    needed = again * math.sqrt(max(1.0, cells)) if looks[1:] else again
    # Somebody gave an answer somewhere in questions alike if not everybody gave another one everywhere.
    each = [needed if size == 1 or needed >= 1.0 else 1.0 - (1.0 - needed) ** (1.0 / size) for size in sizes]
    lost = [size * _not_found(min(first, one)) for size, one in zip(sizes, each, strict=True)]
    return sum(lost) / len(columns)


@lru_cache(maxsize=32)
def _looks(asked: Discovery, columns: int) -> list[ValueSelection]:
    return asked.planned(columns, len(asked.numbers) + len(asked.dates))[0]


def loss_words(asked: Discovery, records: float | None, rows: str = "records") -> str:
    """How much is lost to noise in columns of words, before anything is spent, and what would do; "" where that is not
    much or there are no such columns. Where nobody says how many records there are, with how few much is."""
    if asked.budget.pure and asked.texts:
        return "Without a δ, such as 1e-6, no values are found in columns of words: type them, or all is left out."
    if expected_loss(asked, 1.0) is None:
        return ""
    if records is None:
        few = next((many for many in MANY if (expected_loss(asked, many) or 0.0) < MUCH), MANY[-1])
        return f"With fewer than about {few:,} {rows} noise hides most of a column of words as “other”; {TYPED} helps."
    lost = expected_loss(asked, max(1.0, records)) or 0.0
    if lost < NOTICED:
        return ""
    about = (
        f"With about {records:,.0f} {rows} noise is expected to hide {_percent(lost)} of a column of words as “other”"
    )
    for times in (2, 3, 5, 10):
        more = replace(asked, budget=replace(asked.budget, epsilon=times * asked.budget.epsilon))
        if (less := expected_loss(more, records) or 0.0) <= lost / 2:
            return f"{about}. With ε = {more.budget.epsilon:f} it would be {_percent(less)}; {TYPED} helps, too."
    return f"{about}: so few are too few, but {TYPED} helps."


def format_words(asked: Discovery, records: float | None, rows: str = "records") -> str:
    """Of how few records noise hides how columns are written, where a delta were better; "" where these are more."""
    if not asked.budget.pure or not asked.texts:
        return ""
    slack = replace(asked, budget=replace(asked.budget, delta=Decimal("1e-6")))
    need, less = (
        math.sqrt(one.votes_noise.variance) * stands_out(one.votes.shape, one.budget.pure) for one in (asked, slack)
    )
    if records is not None and records >= need:
        return ""
    enough = f"with one of 1e-6 {significant(less, 1)} do"
    return f"Of fewer than about {significant(need, 1)} {rows} next to nothing is found without a δ; {enough}."


def _percent(part: float) -> str:
    return f"{max(5, 5 * round(20 * part))}%"


@cache
def _supposed() -> tuple[np.ndarray, ...]:
    ranks = (1.0 / np.arange(1, size + 1) for size in SIZES)
    return tuple(one / one.sum() for one in ranks)


def share_words(discovery: Discovery, records: float | None) -> str:
    """Which part of the promise it takes and why, in a sentence."""
    part = f"{100 * float(discovery.share):g}% of the promise finds out what nobody said"
    if discovery.open:
        most = f"{100 * float(MORE[-1]):g}%"
        return f"{part}, or up to {most} where a first look leaves many records whose values are too rare for that."
    if records is None:
        return f"{part}: say about how many records there are, and it is chosen by that."
    return f"{part}: with about {records:,.0f} records pairs of columns are expected to be nearest to the truth then."


def bought_alone(
    stage: Discovery,
    source: Source,
    account: LedgerAccount | None,
    progress: Callable[[int], object] | None = None,
    noise_source: NoiseSource | None = None,
) -> Discovered:
    """Find out by itself, as one entry in the ledger; RequestError or BudgetError before anything is spent."""
    stage, show = replace(stage, open=False), progress or (lambda rows: None)
    exact: Any = None
    if account is not None:
        account.check(stage.cost)
    reading = stage.read(Known(stage.budget, 1.0), source, noise_source)
    while exact is None:
        try:
            show(next(reading))
        except StopIteration as end:
            exact = end.value
    if account is not None:
        account.spend_part(stage.cost, stage, stage.learns)
    known = Known(stage.budget, 1.0)
    return stage.drawn(exact, known, stage.offered(known), source, noise_source, show)


def plan_after(
    discovery: Discovery,
    made: Callable[[Known], Kind | TablePlan],
    ordinary: Callable[[Known], Kind | TablePlan] | None = None,
) -> PurchasePlan[Kind | TablePlan]:
    """The plan of a release of what is found out first, in one entry of the ledger: for whoever drives it.

    `made`: What is released of `Known.found`; `kind_after` makes it of a sketch. `ordinary`: The same for prices
    beforehand, of columns that might be found; None is the same.

    RequestError where what was said of the other columns had been found out for a price: one promise that was settled
    before it does not cover that.
    """
    if discovery.said is not None and discovery.said.paid:
        raise RequestError(
            "The declaration was itself found out for a price, which the promise of one release that finds out the "
            "rest does not cover: find that out by itself, with the declaration as a codebook, then release both."
        )
    return PurchasePlan([discovery], Known(discovery.budget, 1.0), made, ordinary)


def kind_after(sketch: LinearSketch | Adaptive, known: Known) -> Kind | TablePlan:
    """How a sketch is released of what was found out: with what is left, and Gaussian noise where shares are of ρ."""
    return kind_of(sketch, known.left, known.records, gaussian_only=known.reserve is not None)


def release_after(
    discovery: Discovery,
    make: Callable[[Domain], LinearSketch | Adaptive],
    data: object,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    progress: Callable[[int], object] | None = None,
    noise_source: NoiseSource | None = None,
    **reading: Unpack[FileReading],
) -> Release:
    """Find out what nobody has said, and release a sketch of it, for one promise: that of the discovery.

    Parameters
    ----------
    discovery : Discovery
        What is found out first, for which share of which promise.
    make : Callable[[Domain], LinearSketch | Adaptive]
        Makes the sketch of the domain that was found, such as `Tables.of`.
    data : object
        Whatever `core.sources.open_source` opens.
    ledger, dataset : Ledger | str | None, str | None
        Who pays, as of `release`.
    progress : Callable[[int], object] | None
        Called with the number of rows read so far, in each reading.
    noise_source : NoiseSource | None
        None in any real release.
    **reading : FileReading
        How a file is read that does not say it itself: ``encoding``, ``sep``, ``header``, ``names``, ``sheet``.

    Raises
    ------
    RequestError, BudgetError
        When something cannot be used, or the budget does not allow it; what is said tells what was spent.
    """
    source = open_source(data, **reading)
    account = payer_of(ledger, dataset, discovery.budget, discovery.unit)

    def made(known: Known) -> Kind | TablePlan:
        if known.found is None:
            raise RuntimeError("Nothing is released of columns that were not found out.")
        return kind_after(make(known.found.domain), known)

    return Job(plan_after(discovery, made), source, account, noise_source=noise_source).run(progress)
