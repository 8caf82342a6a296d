"""What an exact audit goes through: every kind of release there is, found by its card or its name in a list.

A trial is one release through one door, with the public facts that hostile records are made up from. A mechanism, a
trainer, an oracle or a purchase that is registered is a trial by that alone; one that nothing here can make is named by
`missing`, which a test holds to be empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

import pandas as pd

from ..domain import Domain
from ..domain.numeric import Numeric, Vector
from ..domain.texts_and_items import Items
from ..errors import RequestError
from ..geometry import kernels
from ..privacy.budget import Budget
from ..privacy.neighbours import Neighbours
from ..releases.job import release
from ..releases.planning import with_chosen_size
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.mechanism_audit import worst_records
from ..sketches.mechanism_spec import MechanismSpec, PublicInputs
from ..sketches.plan import planned_for
from ..sketches.registry import cards
from .hostile import Pair, pairs
from .replaying import Promise, Recorded, Release, World

RECORDS = 10_000  # For which sizes are chosen where nobody says how many there are.
WIDTH = 8  # Of tables of rows: small ones, of which an audit makes many.
CLOSE = 0.99  # Share of a promise that is all of it, as far as pairs of neighbours are found by trying.
# Why less than all of a promise is used up by the worst pair that is known.
SLACK = {
    "race": "two records share some cells",
    "minhash": "two sets share some cells",
    "features": "two records would have to be opposite in every wave",
    "exponential-sum": "waves of several lengths are not all at their largest for one record",
    "mean-embedding": "random waves are not all at their largest for one record",
    "bernstein": "two records share values on the lattice",
    "mst": "choices lose all of their part only where every score moves at once",
    "aim": "choices lose all of their part only where every score moves at once",
    "mwem": "choices lose all of their part only where every score moves at once",
    "huang-roth": "one comparison seldom needs all that is set aside for findings",
    "objective": "two records that pull the other way round with all their length are seldom found at one minimum",
    "amp": "slopes are at their longest in all problems, and opposite, for no two records at one minimum",
    "tuned-amp": "the choice and the candidates are not both at their worst for one person, who is on one side of it",
    "descent": "two records whose slopes are opposite and at their longest at every step are seldom found",
    "svm": "two records whose slopes are opposite and at their longest at every step are seldom found",
    "dp-sgd": "two records whose slopes are opposite and at their longest at every step are seldom found",
    "poisson": "two records whose slopes are opposite and at their longest at every step are seldom found",
    "newton": "a curvature and a slope are not both at their largest for one record",
    "products": "two records would have to be opposite in every product",
    "boosted": "a record's residuals become smaller from round to round, and its price does not",
    "frank-wolfe": "choices lose all of their part only where every score moves at once",
    "sgd": "the bound adds up the worst of every pass, and a record's slopes become smaller",
    "ops": "the price has room for the least curvature that any records could have",
    "ada-ops": "the price has room for the least curvature that any records could have",
    "tukey": "one record moves depths one way, and the price has room for both",
    "chosen": "the choice and the candidates are not both at their worst for one person, who is on one side of it",
}
MANY = 1_000  # Dimensions from which kernels are wide, as of mechanisms that reduce their number first.
# Pure and with a delta, for either relation.
BUDGETS = tuple(
    Budget(epsilon, delta, relation) for relation in Neighbours for epsilon, delta in (("1", 0), ("1", "0.000001"))
)


@dataclass(frozen=True)
class Trial:
    """One kind of release, as an audit makes it."""

    name: str  # What is released, and through which door.
    domain: Domain  # Public facts, from which hostile records are made up.
    budget: Budget  # The promise.
    release: Release  # Makes it; see `replaying`.
    worst: Callable[[], Iterable[Pair]] = tuple  # Further pairs that the mechanism's own formulas say are far apart.
    paid: bool = True  # Whether the door writes to a ledger.
    # Whether these pairs are all that it is tried on, as it needs other columns or more people than usual ones have.
    alone: bool = False
    honest: int = 1  # How many owners' parts of noise are all of it, where several make it together.

    def pairs(self) -> Iterator[Pair]:
        """All pairs that it is tried on: by the mechanism's own formulas, and hostile ones."""
        yield from self.worst()
        if self.alone:
            return
        yield from pairs(self.domain, self.budget.neighbours)

    def recorded(self, data: pd.DataFrame) -> Recorded:
        """The release of a data set on tape."""
        return Recorded(self.release, data, Promise.of(self.budget, self.paid, self.honest))


@dataclass(frozen=True)
class Verdict:
    """What all pairs of a trial showed together."""

    trial: Trial  # Which.
    findings: tuple[str, ...]  # What is wrong, and with whom.
    reached: float  # The largest ε that any pair uses up.
    replays: int  # How many pairs there were.
    lemmas: tuple[str, ...] = ()  # What was coupled.

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def slack(self) -> str:
        """Why not all of the promise may be used up; "" where nothing is known that keeps it from that."""
        return SLACK.get(self.trial.name.replace(",", " ").split()[0], "")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "name": self.trial.name,
            "epsilon": float(self.trial.budget.epsilon),
            "delta": float(self.trial.budget.delta),
            "reached": self.reached,
            "replays": self.replays,
            "failed": len(self.findings),
            "findings": list(self.findings),
            "lemmas": list(self.lemmas),
        }

    @property
    def sentence(self) -> str:
        """For a person."""
        promise = f"ε = {self.trial.budget.epsilon:f}" + (
            f", δ = {float(self.trial.budget.delta):g}" if self.trial.budget.delta else ""
        )
        if self.passed:
            why = "" if self.reached >= CLOSE * float(self.trial.budget.epsilon) else self.slack
            return (
                f"{self.trial.name}: nothing escaped in {self.replays} replays, and of {promise} at most "
                f"ε = {self.reached:.4g} was used{f', as {why}' if why else ''}."
            )
        return f"{self.trial.name}: {'; '.join(self.findings)}."


def examine(trial: Trial, most: int | None = None, *, turned: bool = False) -> Verdict:
    """Replay a trial on its pairs.

    `trial`: What is audited. `most`: How many pairs at most; None takes all. `turned`: Whether each pair is replayed
    the other way round as well, with the draws of its neighbour's release.
    """
    findings: list[str] = []
    lemmas: dict[str, None] = {}
    reached, done, draws = 0.0, 0, 0
    tried = list(islice(trial.pairs(), most))
    if turned:
        tried += [pair.turned() for pair in tried]
    for data, alike in _by_data(tried):
        with trial.recorded(data) as recorded:
            for pair in alike:
                shown = recorded.against(pair.neighbour)
                done, draws = done + 1, draws + shown.draws
                reached = max(reached, shown.reached)
                lemmas |= dict.fromkeys(shown.lemmas)
                findings += [f"{finding} ({pair.about})" for finding in shown.findings]
    if not draws and not findings:
        findings.append("every request was refused, so nothing was audited")
    return Verdict(trial, tuple(dict.fromkeys(findings)), reached, done, tuple(lemmas))


def _by_data(tried: list[Pair]) -> Iterator[tuple[pd.DataFrame, list[Pair]]]:
    """Pairs of the same first data set together, which is released once for all of them."""
    while tried:
        first = tried[0]
        yield first.data, [pair for pair in tried if pair.data is first.data]
        tried = [pair for pair in tried if pair.data is not first.data]


def of_mechanism(card: MechanismSpec, budget: Budget, domain: Domain | None = None) -> Trial | None:
    """The release of a mechanism by its card, on the columns that its card has as an example; None where it has none.

    RequestError when it cannot keep such a promise.
    """
    if card.make is None:
        return None
    sketch = _made(card, budget, example_domain(card) if domain is None else domain)
    return of_sketch(card.name, sketch, budget)


def _made(card: MechanismSpec, budget: Budget, domain: Domain) -> LinearSketch | Adaptive:
    """A small one of a settled size."""
    kernel: kernels.Kernel | None = kernels.Jaccard() if card.sets else None
    if kernel is None and card.answers == "closeness":
        many = domain.dimensions >= MANY  # where random waves and cells say little of points nearby
        kind: Any = kernels.KERNELS[card.kernel]
        kernel = kind() if card.kernel == "angular" else kind(bandwidth=30.0 if many else 0.25)
    norm = None if kernel else _norm_of(card, domain)
    facts = PublicInputs(domain, budget, kernel, norm, size=_size(card), seed=7, width=WIDTH)
    return with_chosen_size(card.made_from(facts), budget, RECORDS)


def of_sketch(name: str, sketch: LinearSketch | Adaptive, budget: Budget) -> Trial:
    """The release of a sketch of a settled size, paid for in a ledger and kept."""
    sketch.check_budget(budget)

    def made(records: pd.DataFrame, world: World) -> object:
        found = release(sketch, records, budget, ledger=str(world.ledger), dataset="made up")
        found.save(world.out / "release.npz")
        return found.manifest

    def worst() -> Iterator[Pair]:
        if not sketch.chooses and sketch.domain.unit.column is None:
            yield worst_pair(sketch, budget)

    return Trial(name, sketch.domain, budget, made, worst)


def worst_pair(sketch: LinearSketch, budget: Budget) -> Pair:
    """Neighbours whose tables are as far apart as a few trials find."""
    noises = planned_for(sketch, budget).noises
    tried, person, other = worst_records(sketch, budget.neighbours, noises[: max(len(sketch.parts), 1)])
    first = pd.concat([tried, tried.iloc[[person]]], ignore_index=True)
    second = tried if other is None else pd.concat([tried, tried.iloc[[other]]], ignore_index=True)
    return Pair("somebody far away", first, second)


def example_domain(card: MechanismSpec) -> Domain:
    """The columns that a card has as an example."""
    if "items" in card.example:
        return Domain((Items(str(card.example["items"])),))
    if "vector" in card.example:
        return Domain((Vector("v", cast(int, card.example["vector"]), -1.0, 1.0),))
    texts: Any = card.example.get("bounds", ["x=0:1"])
    named = dict(text.split("=") for text in texts)
    ends = {name: [float(end) for end in said.split(":")] for name, said in named.items()}
    return Domain(tuple(Numeric(name, low, high) for name, (low, high) in ends.items()))


def _norm_of(card: MechanismSpec, domain: Domain) -> str:
    """A distance that it answers."""
    for norm in ("l1", "l2", "squared", "lp:2", "capped:0.5", "above", "below"):
        trial = PublicInputs(domain, BUDGETS[0], None, norm)
        if card.refusal(replace(trial, size=_size(card))) is None:
            return norm
    return "l1"


def _size(card: MechanismSpec) -> int | None:
    return card.sizes[0] if card.sizes else None


def mechanisms(budgets: Iterable[Budget] = BUDGETS, named: Iterable[str] | None = None) -> Iterator[Trial]:
    """Every registered mechanism under every promise that it can keep, or those of these names."""
    for card in cards().values() if named is None else [cards()[name] for name in named]:
        for budget in budgets:
            try:
                trial = of_mechanism(card, budget)
            except RequestError:
                continue
            if trial is not None:
                yield replace(trial, name=f"{card.name}, {budget.neighbours}, {'δ' if budget.delta else 'pure'}")
