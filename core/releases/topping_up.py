"""Topping up: spend little, look, spend more, and have one release that is about as good as if all were spent at once.

Both releases are of the same sketch, seeds included, of the same records, each with noise of its own. Their average,
weighted by inverse variances, is the linear combination with the least variance, and is made of two releases, so it
costs nothing.

*What it loses* beside one release made at once for the same total. Gaussian noise: ρ is the squared length over 2σ², so
what is paid in ρ and the inverse variance 1/σ² both add up, and nothing is lost but the difference between the bounds
that convert ρ to (ε, δ): one release may use the sharper one of `calibration`, what is chosen in view of an earlier
output only that of zCDP, whose sum bounds the loss whoever chose (rule (ii) of `privacy.accounting`). That is 5% to 8%
of the error. Pure noise of ε1 and then ε2 has an inverse variance in proportion to ε1² + ε2², one release (ε1 + ε2)²:
the error is (ε1 + ε2)/√(ε1² + ε2²) times as large, which is at most 1.1 while the smaller part is below a tenth of
the total, and √2 for two equal parts.

So pure noise is made less another way where it can be: `going_on` draws what may be shown later with the first
release, and keeps it. What tops up then follows from that and not from the records, has the noise of one release made
at once, and needs no average. Drawing it from the records only when it is asked for would not do: where somebody's
record was corrected in between, both together cost up to 3 ε1 + ε2, as the density of the first noise, p1(y1 - x),
does not cancel against that by which the second is drawn given the first, p1(y1 - x'), and nobody can see that it is so
without keeping something that tells of the records. Averages of independent noise compose whatever happened to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Unpack

import numpy as np

from ..errors import RequestError
from ..formatting.numbers import significant
from ..privacy.accounting import rounded_up
from ..privacy.budget import Budget, Neighbours, Number, decimal_text
from ..privacy.calibration import NoiseScale, largest_rho, round_up, weighed
from ..privacy.composition import event_of, pure_sum, total_rho
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.noise import is_private
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime.environment import SOFTWARE, now
from ..sketches.linear import LinearSketch
from ..sketches.plan import Planned, planned_for
from ..sources import FileReading, Source, open_source
from .going_on import Kept, kept_for
from .job import Job
from .kind import Plain, priced
from .manifest import Averaged
from .payment import LedgerAccount, payer_of
from .release import Release, digest_of, same_map

STEPS = 16  # Halvings of what is left open of a promise.


@dataclass(frozen=True)
class _Spent:
    """What one of the two releases costs, in the terms in which both are added up."""

    epsilon: Decimal
    delta: Decimal
    rho: Fraction
    pure: bool  # Whether ε holds by itself, whatever δ was allowed.

    @classmethod
    def of(cls, release: Release) -> _Spent:
        """What a release has cost; its noise says whether that was pure, unless something else was bought as well."""
        record, sketch = release.privacy, release.sketch
        tables = zip(sketch.sensitivities(record.neighbours), record.noise, strict=True)
        counts = zip(sketch.count_sensitivities(record.neighbours), record.count_noise, strict=False)
        events = [event_of(sensitivity, noise) for sensitivity, noise in (*tables, *counts)]
        alone = release.combined is None and record.rho <= round_up(total_rho(events))
        return cls(record.epsilon, record.delta, record.rho, record.pure or (alone and pure_sum(events) is not None))

    @classmethod
    def by(cls, sketch: LinearSketch, budget: Budget) -> _Spent:
        """What a release of a sketch under a budget would cost."""
        cost = planned_for(sketch, budget).cost
        return cls(cost.epsilon, cost.delta, cost.rho, cost.pure_epsilon is not None)

    def keeps(self, other: _Spent, promise: Budget) -> bool:
        """Whether both together keep a promise, whoever chose the second in view of the first.

        By basic composition, where a pure one adds nothing to δ; or by the sum of zCDP.
        """
        pure = max(self.delta, other.delta) if self.pure or other.pure else self.delta + other.delta
        needed = Decimal(0) if self.pure and other.pure else pure
        if self.epsilon + other.epsilon <= promise.epsilon and needed <= promise.delta:
            return True
        most = 0.0 if promise.pure else largest_rho(float(promise.epsilon), float(promise.delta))
        return self.rho + other.rho <= Fraction(most)

    def with_(self, other: _Spent, neighbours: Neighbours) -> Budget:
        """The promise of both: of the larger δ where that can be, and of the least ε then."""
        whole = Budget(self.epsilon + other.epsilon, max(self.delta, other.delta), neighbours)
        if not self.keeps(other, whole):
            return replace(whole, delta=self.delta + other.delta)
        low = max(self.epsilon, other.epsilon)
        for _ in range(STEPS):
            tried = replace(whole, epsilon=rounded_up((low + whole.epsilon) / 2))
            low, whole = (low, tried) if self.keeps(other, tried) else (tried.epsilon, whole)
        return whole


@dataclass(frozen=True)
class ToppingUp:
    """What a second release would make of a first one, before anything is spent.

    RequestError for a first release that cannot be topped up.
    """

    first: Release  # Of one sketch, all there at once; neither merged nor made in a round.
    more: Decimal  # Ε that is added to the promise.
    kept: Kept | None = None  # What was kept for it beside the ledger, if anything was.

    def __post_init__(self) -> None:
        check_alone(self.first)

    @cached_property
    def less_noise(self) -> Planned | None:
        """The noise that what was kept is shown with; None where both are averaged."""
        if self.kept is None or not self.first.privacy.pure:
            return None
        whole = replace(self.first.privacy.budget, epsilon=self.kept.epsilon + self.more)
        planned = planned_for(self.first.sketch, whole)
        return planned if self.kept.allows(planned) else None

    @cached_property
    def promise(self) -> Budget:
        """What both together promise: ε1 + `more`, of the δ of the first unless `more` is next to nothing."""
        record = self.first.privacy
        delta = record.delta if self._largest else 2 * record.delta
        return Budget(record.epsilon + self.more, delta, record.neighbours)

    @cached_property
    def second(self) -> Budget:
        """The promise of the second release by itself: the largest that keeps both within `promise`."""
        return replace(self.first.privacy.budget, epsilon=self._largest or self.more)

    @cached_property
    def _largest(self) -> Decimal:
        """Its ε; 0 where nothing may follow under the same δ."""
        record, spent, sketch = self.first.privacy, _Spent.of(self.first), self.first.sketch
        if record.pure:
            return self.more
        whole = replace(record.budget, epsilon=record.epsilon + self.more)
        low, top = Decimal(0), whole.epsilon
        for _ in range(STEPS):
            tried = rounded_up((low + top) / 2)
            fits = spent.keeps(_Spent.by(sketch, replace(whole, epsilon=tried)), whole)
            low, top = (tried, top) if fits else (low, tried)
        return low

    @cached_property
    def errors(self) -> tuple[float, float, float]:
        """Standard deviations of the noise in a counter of the first table: now, then, and of one made at once."""
        noise, sketch = self.first.privacy.noise[0], self.first.sketch
        if self.less_noise is not None:
            once = then = self.less_noise.noises[0]
        else:
            then, _ = _both(noise, planned_for(sketch, self.second).noises[0])
            once = planned_for(sketch, self.promise).noises[0]
        return math.sqrt(noise.variance), math.sqrt(then.variance), math.sqrt(once.variance)

    @property
    def sentence(self) -> str:
        """How much noise is left, beside what there would be had all been spent at once."""
        before, then, once = (significant(error, 3) for error in self.errors)
        return (
            f"Noise in a counter goes from ±{before} to ±{then}; one release made at once for the same promise has "
            f"±{once}."
        )

    def made(
        self,
        source: Callable[[], Source],
        payer: LedgerAccount | None,
        progress: Callable[[int], object] | None = None,
        noise_source: NoiseSource | None = None,
    ) -> Release:
        """Pay, and make one release of both; its ledger entry says what it tops up.

        `source`: Opens the records, where both are averaged.
        """
        if payer is not None:
            payer.note = payer.note | {"tops_up": self.first.created}
            if self.kept is not None and self.less_noise is not None:
                return self.kept.pay_and_show(self._begun(self.less_noise), self.less_noise, self.more, payer)
        second = Job(priced(Plain(self.first.sketch, self.second)), source(), payer, noise_source=noise_source)
        return averaged(self.first, second.run(progress), self.promise)

    def _begun(self, planned: Planned) -> Release:
        """The first release with the promise, the noise and the origin of both."""
        first, promise, sketch = self.first.privacy, self.promise, self.first.sketch
        moved = sketch.sensitivities(first.neighbours), sketch.count_sensitivities(first.neighbours)
        noises = zip((*moved[0], *moved[1]), (*first.noise, *first.count_noise), strict=False)
        before = first.rho - total_rho([event_of(*one) for one in noises])  # what was bought before the table
        privacy = replace(
            first,
            epsilon=promise.epsilon,
            noise=planned.noises,
            count_noise=tuple(noise for noise in planned.count_noises if noise is not None),
            rho=round_up(planned.cost.rho + max(before, Fraction(0))),
            overlap_epsilon=promise.epsilon,
        )
        releases = (*_made(self.first, "less_noise"), (now(), decimal_text(self.more), "0"))
        combined = Averaged(releases, tuple(sorted(_parts(self.first))), "less_noise")
        return replace(self.first, privacy=privacy, created=now(), software=SOFTWARE, combined=combined)


def check_alone(release: Release) -> None:
    """RequestError for a release that is not the average of some of the same records, and of nothing else."""
    if release.sketch.asked_for == "periods":
        raise RequestError("A living release has paid for all of its periods, and goes on without topping up.")
    if release.run_of or release.privacy.local:
        raise RequestError("Only a release that was made of records at once can be topped up.")
    if release.privacy.releases > 1 or not isinstance(release.combined, Averaged | None):
        raise RequestError("A release of several owners or tables that were merged can only be topped up by each.")


def top_up(
    release: Release,
    data: object,
    epsilon: Number,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    progress: Callable[[int], object] | None = None,
    noise_source: NoiseSource | None = None,
    **reading: Unpack[FileReading],
) -> Release:
    """Spend more on the same question about the same records, and return both releases as one.

    Parameters
    ----------
    release : Release
        What was released before.
    data : object
        The records, whatever `core.sources.open_source` opens; not looked at where something was kept for it.
    epsilon : Number
        ε that is added to its promise, of the same δ.
    ledger, dataset : Ledger | str | None, str | None
        Who pays, for the second time; see `core.release`.
    progress : Callable[[int], object] | None
        Called with the number of rows read so far.
    noise_source : NoiseSource | None
        None; see `core.releases.seal.seal`.

    Raises
    ------
    RequestError
        When it cannot be topped up, or the data cannot be read.
    BudgetError
        When the budget does not allow it; nothing was spent.

    Examples
    --------
    >>> better = top_up(first, "people.csv", 0.9, dataset="people")  # doctest: +SKIP
    """
    book = None if dataset is None else ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    kept = None if book is None or dataset is None else kept_for(release, book, dataset)
    wanted = ToppingUp(release, Budget(epsilon).epsilon, kept if is_private(noise_source) else None)
    payer = payer_of(book, dataset, wanted.second, release.domain.unit)
    return wanted.made(lambda: open_source(data, **reading), payer, progress, noise_source)


def averaged(first: Release, second: Release, promise: Budget | None = None) -> Release:
    """One release of two of the same records and sketch, weighted by the inverse variances of their noise.

    RequestError when they are not of the same sketch, relation and unit, or one is no release by itself.

    `promise`: What both together are known to keep; None finds the least.
    """
    check_alone(first)
    check_alone(second)
    one, other, sketch = first.privacy, second.privacy, first.sketch
    if not same_map(sketch, second.sketch) or (one.neighbours, one.unit) != (other.neighbours, other.unit):
        raise RequestError(
            "Two releases are averaged only where mechanism, domain, all public parameters, hash seed included, and "
            "whom they protect are the same; 'top-up' makes the second one so."
        )
    if _parts(first) & _parts(second):
        raise RequestError(
            "One of these is the same release as the other, or a part of it, and averaged with itself it would only "
            "seem to be better."
        )
    tables = zip(one.noise, other.noise, strict=True)
    noise, shares = zip(*(_both(*pair) for pair in tables), strict=True)
    counters = np.zeros(sketch.shape, np.int64)
    places = (sketch.split(np.asarray(table)) for table in (counters, first.counters, second.counters))
    for (out, mine, its), share in zip(zip(*places, strict=True), shares, strict=True):
        _average(out, mine, its, share)
    counted = None
    count_noise = [_both(*pair) for pair in zip(one.count_noise, other.count_noise, strict=True)]
    if first.counted is not None and second.counted is not None:
        counts = [np.array(count, np.int64).reshape(-1) for count in (0 * first.counted, first.counted, second.counted)]
        drawn = iter(share for _, share in count_noise)
        known = sketch.public_counts(one.neighbours) if sketch.parts else (not count_noise,)
        pieces = zip(*map(sketch.split_count, counts), strict=True)
        for (out, mine, its), public in zip(pieces, known, strict=True):
            _average(out, mine, its, shares[0] if public else next(drawn))
        counted = counts[0].reshape(sketch.count_shape) if sketch.count_shape else int(counts[0][0])
    spent = _Spent.of(first), _Spent.of(second)
    if promise is None or not spent[0].keeps(spent[1], promise):
        promise = spent[0].with_(spent[1], one.neighbours)
    privacy = replace(
        one,
        epsilon=promise.epsilon,
        delta=promise.delta,
        noise=noise,
        count_noise=tuple(scale for scale, _ in count_noise),
        rho=round_up(one.rho + other.rho),
        overlap_epsilon=promise.epsilon,
        overlap_delta=promise.delta,
    )
    return replace(
        first,
        counters=counters,
        counted=counted,
        privacy=privacy,
        private=first.private and second.private,
        created=now(),
        software=SOFTWARE,
        combined=Averaged(_made(first) + _made(second), tuple(sorted(_parts(first) | _parts(second)))),
    )


def _both(one: NoiseScale, other: NoiseScale) -> tuple[NoiseScale, float]:
    """The noise of the average of two draws, and the share of the first in it."""
    variances = one.variance, other.variance
    share = variances[1] / sum(variances) if sum(variances) else 0.5
    return (weighed(one, share) if share >= 0.5 else weighed(other, 1.0 - share)), share


def _average(out: np.ndarray, one: np.ndarray, other: np.ndarray, share: float) -> None:
    """Write the weighted average, rounded, into a table."""
    out[...] = other + np.rint(share * (one.astype(np.int64) - other)).astype(np.int64)


def _made(release: Release, way: str = "average") -> tuple[tuple[str, str, str], ...]:
    """When a release was made and what for; of one that was made of others that way, those of each."""
    if isinstance(release.combined, Averaged) and release.combined.way == way:
        return release.combined.releases
    budget = release.privacy.budget
    return ((release.created, decimal_text(budget.epsilon), decimal_text(budget.delta)),)


def _parts(release: Release) -> set[str]:
    """Digests of a release and of all that it was made of, whose noise is in it."""
    before = release.combined.parts if isinstance(release.combined, Averaged) else ()
    return {digest_of(release), *before}
