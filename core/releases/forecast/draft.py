"""What an owner has chosen of a release so far, and what it comes to. Everything in it is public."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from ...domain import Domain
from ...errors import RequestError
from ...geometry.kernels import Kernel
from ...privacy.accounting import Cost
from ...privacy.budget import Budget
from ...privacy.calibration import NoiseScale
from ...privacy.ledger.account import Account, Preview, price
from ...sketches.adaptive import Adaptive
from ...sketches.linear import LinearSketch
from ...sketches.parts import Parts
from ...sketches.plan import plan, planned_for
from .forecast import Forecast
from .kernel_choice import kernel_apart
from .public_records import PublicRecords
from .recommendation import Closeness, Counts, Distances, Question, Recommendation, Regressions, recommend

# How many, by what? How dense is it here? How far is everyone? Which group is this like? What predicts what?
TABLE, DENSITY, DISTANCE, GROUP, REGRESSION = "table", "density", "distance", "group", "regression"
# What is known beforehand of records: how many there are, how close they lie, and public ones like them.
Guessed = tuple[float, float | None, PublicRecords | None]


@dataclass(frozen=True)
class Draft:
    """A release as it stands, before anyone confirmed it; each step of choosing replaces what it settles."""

    domain: Domain  # The public facts, as declared, with the columns that are used.
    seed: int = 0  # The public hash seed, the same while the owner tries settings.
    question: str = DENSITY  # `TABLE`, `DENSITY`, `DISTANCE`, `GROUP` or `REGRESSION`.
    norm: str | None = None  # How distance is measured, "l1", "l2" or "squared"; None where closeness is asked for.
    label: str | None = None  # The column that says the group, of the question for it.
    # Columns by which the others are counted, of the question for the whole table; none for the pairs that can be seen.
    by: tuple[str, ...] = ()
    # Whether those that go together most are chosen under the promise, where not all pairs can be seen.
    choosing: bool = False
    budget: Budget | None = None  # The promise; None while it has no ε.
    account: Account | None = None  # Who pays; None while nobody does.
    kernel: Kernel | None = None  # Which places count as close, where closeness is asked for.
    finest: float = 1.0  # Down to which share of its bandwidth readers may choose another.
    # No record is further than this from the middle of the bounds, a public fact; None where nobody said so.
    radius: float | None = None
    # Guessed from public knowledge, to forecast with: how many there are, and the average closeness of two of them,
    # None for an ordinary one.
    records: int = 10_000
    density: float | None = None
    # Public records that lie as the private ones are thought to, on which forecasts are tried.
    sample: PublicRecords | None = None
    # The mechanism that was chosen, with its size and forecast; None while the release cannot be made as it stands.
    way: Recommendation | None = None
    settled: bool = False  # Whether the owner settled the size of the table, which then is no matter of the budget.
    missing: tuple[str, ...] = ()  # What is in the way of the release, in a few words each.
    # All questions of the release with their shares, this one the last; None where it is the only one.
    several: Parts | None = None
    whole: Budget | None = None  # The promise of all of them together, where `budget` is what this one may count on.
    planned_noise: NoiseScale | None = None  # Of this one's counters, where it is one of several.
    # A promise that was settled before, of which a part was spent; what follows has Gaussian noise then, which adds up.
    within: Budget | None = None
    # Whether the number of records is what its owner says; otherwise the release counts them first.
    records_said: bool = True
    # What is bought before this question out of `whole`, by name ("fitting", "count", "spread"), and its price if any.
    first: tuple[tuple[str, Cost | None], ...] = ()

    def lacking(self, *missing: str) -> Draft:
        """The same with more in its way."""
        return replace(self, missing=(*self.missing, *missing))

    @property
    def settles_later(self) -> bool:
        """Whether what is bought first decides how large the table is, or how near counts as close."""
        return any(name != "fitting" for name, _ in self.first)

    @property
    def protected(self) -> str:
        """Who is protected: a person named by a column, or a record by itself."""
        return "record" if self.domain.unit.column is None else "person"

    @property
    def counted(self) -> str:
        """What answers count, in the owner's word."""
        return self.domain.many_records

    @property
    def compared(self) -> Domain:
        """The columns of a query: all of them but the one that says the group."""
        columns = tuple(column for column in self.domain.columns if column.name != self.label)
        return self.domain if self.label is None else replace(self.domain, columns=columns)

    @property
    def measures_closeness(self) -> bool:
        """Whether answers count who is close, or in a cell, rather than how far all are."""
        return self.norm is None

    @property
    def has_places(self) -> bool:
        """Whether answers are about places, which have a nearness; tables and regressions are of whole columns."""
        return self.question not in (TABLE, REGRESSION)

    @property
    def asked(self) -> Question:
        """The question as the recommendation takes it."""
        if self.question == TABLE:
            return Counts(self.by, self.choosing)
        if self.question == REGRESSION:
            return Regressions()
        if self.norm is None:
            if self.kernel is None:
                raise RequestError("Closeness needs a kernel.")
            return Closeness(self.kernel, self.radius, self.seed, finest=self.finest)
        return Distances(self.norm, None if self.norm == "l1" else self.radius, self.seed)

    @property
    def chosen(self) -> Recommendation:
        """The way, for what is only asked once there is one; RequestError before."""
        if self.way is None:
            raise RequestError("No mechanism is chosen yet.")
        return self.way

    @property
    def promise(self) -> Budget:
        """The budget, for what is only asked once there is one; RequestError before."""
        if self.budget is None:
            raise RequestError("No budget is chosen yet.")
        return self.budget

    @property
    def sketch(self) -> LinearSketch:
        """The sketch to be made, or one like it where something is chosen first; only once a way was chosen."""
        return self.chosen.answering

    @property
    def one(self) -> LinearSketch:
        """The sketch that one answer is read off: that of one group, where there are groups."""
        return self.sketch.one_answer[0]

    @property
    def forecast(self) -> Forecast:
        """What the release would give; only once a way was chosen."""
        return self.chosen.outlook

    @property
    def total(self) -> Budget:
        """The promise of everything in the release; RequestError before there is one."""
        return self.promise if self.whole is None else self.whole

    @property
    def released(self) -> LinearSketch | Adaptive:
        """What goes into the file: the sketch of this question or what chooses it, or those of all."""
        if self.several is not None:
            return self.several
        return self.sketch if self.chosen.chooser is None else self.chosen.chooser

    @property
    def noise(self) -> NoiseScale:
        """Of the counters that answer this question."""
        if self.chosen.chooser is not None:
            return self.chosen.chooser.plan(self.promise).noises[-1]
        if self.planned_noise is not None:
            return self.planned_noise
        return plan(self.sketch, self.promise, gaussian_only=self.within is not None).noise

    @cached_property
    def cost(self) -> Cost:
        """What the ledger would write down."""
        if self.first:
            events = (event for _, cost in self.first if cost is not None for event in cost.events)
            return Cost((*events, *self.rest.events), self.total.epsilon, self.total.delta)
        return planned_for(self.released, self.total, gaussian_only=self.within is not None).cost

    @property
    def rest(self) -> Cost:
        """What the ledger would write down for the table alone, where something is bought first."""
        return planned_for(self.sketch, self.promise).cost

    def apart(self, spread: float) -> Draft:
        """The draft with the kernel that suits how far records lie apart; see `kernel_apart`."""
        return replace(self, kernel=kernel_apart(self.compared, spread))

    def sketch_of(self, picked: str | None) -> LinearSketch:
        """The sketch that is made in the way that was picked, or where none was or that is not possible in the best."""
        ways = recommend(
            self.domain,
            self.records,
            self.promise,
            self.asked,
            label=self.label,
            density=self.density,
            sample=self.sample,
        )
        found = {way.name: way.answering for way in ways if way.sketch is not None}
        return found.get(picked or "") or next(iter(found.values()))

    @cached_property
    def after(self) -> Preview | None:
        """What the release would leave of the total; None while nobody pays, or it cannot be made."""
        return None if self.account is None or self.way is None else self.account.after(self.cost)

    @property
    def left(self) -> Decimal | None:
        """What the release leaves of the total; None while it may not be made."""
        if self.account is None or self.after is None or not self.after.admitted:
            return None
        return self.account.left(self.after)

    @property
    def guessed(self) -> Guessed:
        """What is known of the records beforehand, in the order in which forecasts take it."""
        return self.records, self.density, self.sample

    @property
    def known(self) -> list[str | float | None]:
        """The same as facts that differ whenever forecasts may."""
        return [self.records, self.density, None if self.sample is None else self.sample.key]

    @property
    def action(self) -> str:
        """The main button, with the price on it."""
        return "Release" if self.way is None else f"Release for {price(self.total, self.left)}"
