"""What an exact audit goes through: every kind of release there is, found by its card or its name in a list.

A trial is one release through one door, with the public facts that hostile records are made up from. A mechanism, a
trainer, an oracle or a purchase that is registered is a trial by that alone; one that nothing here can make is named by
`missing`, which a test holds to be empty.

Hostile records are pairs of neighbouring data sets that a leak would tell apart, no value of them private. Each pair
differs in one person. Which persons those are is where mistakes were found in mechanisms of all kinds: at the corners
of the bounds, alone in a class or beyond all bounds, with a value that is missing or on no list, with more rows than
count, the only one there is; and the others are also put into another order, as promises are about who is among the
records and not about where in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

import numpy as np
import pandas as pd

from ..domain import Domain
from ..domain.categorical import Categorical
from ..domain.columns import Column
from ..domain.numeric import Numeric, Vector
from ..domain.round_columns import Cyclic
from ..domain.texts_and_items import Items
from ..errors import RequestError
from ..geometry import kernels
from ..privacy.budget import Budget, Neighbours
from ..releases.job import release
from ..releases.kind import with_chosen_size
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.mechanism_audit import worst_records
from ..sketches.mechanism_spec import MechanismSpec, PublicInputs
from ..sketches.plan import planned_for
from ..sketches.registry import cards
from .replaying import Promise, Recorded, Release, World

RECORDS = 12
UNKNOWN = "a word on no list"
BEYOND = 1e6  # How many times the width of the bounds a value lies outside of them.


@dataclass(frozen=True)
class Pair:
    """Two neighbours, and what is hostile about them."""

    about: str  # In a few words.
    # Rows of both.
    data: pd.DataFrame
    neighbour: pd.DataFrame

    def turned(self) -> Pair:
        """The same two the other way round, as a loss has two ends."""
        return Pair(f"{self.about}, the other way round", self.neighbour, self.data)


def pairs(domain: Domain, neighbours: Neighbours, records: int = RECORDS, seed: int = 0) -> Iterator[Pair]:
    """Hostile pairs of a domain, the most telling first.

    `domain`: Public facts of the columns and of who a person is. `neighbours`: The relation: a person more or less, or
    a person's records replaced. `records`: Of other people in most of them. `seed`: Of the made-up others.
    """
    rng = np.random.default_rng(seed)
    others = _frame(domain, [_inside(domain, rng, place) for place in range(records)])
    persons = _persons(domain, others.iloc[0].to_dict())
    first = [] if neighbours is Neighbours.ADD_REMOVE else persons.pop("at the upper corner")
    word = "somebody" if not first else "somebody at the upper corner who becomes one"
    data = _with(domain, others, first)
    rows, nobody = persons["at the lower corner"], others.iloc[:0]
    yield Pair(f"{word} at the lower corner", data, _with(domain, others, rows))
    yield Pair(f"{word} at the lower corner, nobody else", _with(domain, nobody, first), _with(domain, nobody, rows))
    moved = _with(domain, others.iloc[rng.permutation(len(others))], rows, last=False)
    yield Pair(f"{word} at the lower corner, the others in another order", data, moved)
    for about, rows in persons.items():
        if about != "at the lower corner":
            yield Pair(f"{word} {about}", data, _with(domain, others, rows))


def _persons(domain: Domain, ordinary: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The records of one person, in several hostile ways; as many as count and more where a person owns several."""
    count = 1 if domain.unit.column is None else domain.unit.records + 2
    upper, lower = _corner(domain, 1.0), _corner(domain, 0.0)
    known = {"at the upper corner": upper, "at the lower corner": lower, "far beyond the bounds": _beyond(domain)}
    if domain.missing == "drop":
        known["with nothing said"] = dict.fromkeys(upper)
        known["with one value missing"] = upper | {next(iter(upper)): None}
    known["like another"] = {name: value for name, value in ordinary.items() if name != domain.unit.column}
    return {about: [values] * count for about, values in known.items()}


def _corner(domain: Domain, share: float) -> dict[str, Any]:
    """A record with all values at one end of their bounds, and the first or the last of all categories."""
    if domain.holds_sets:
        return {domain.names[0]: list(range(40)) if share else [99]}
    low, high = domain.bounds("l2")
    return _named(domain, domain.decode_points((low + share * (high - low))[None], "l2", inside=True)) | {
        column.field: domain.categories_of(column.name)[-1 if share else 0]
        for column in domain.columns
        if _listed(column)
    }


def _beyond(domain: Domain) -> dict[str, Any]:
    """A record of which no value is within bounds or on a list, unless the owner's rule is to refuse such a list."""
    refused = domain.outside == "clamp" and domain.missing == "refuse"
    values = _corner(domain, 1.0)
    for column in domain.columns:
        if _listed(column) and not refused:
            values[column.field] = UNKNOWN
        elif isinstance(column, Numeric):
            values[column.field] = column.high + BEYOND * (column.high - column.low)
        elif isinstance(column, Items):
            values[column.field] = [12345]
    return values


def _inside(domain: Domain, rng: np.random.Generator, place: int) -> dict[str, Any]:
    """An ordinary record."""
    if domain.holds_sets:
        return {domain.names[0]: list(range(place % 4 + 1))}
    low, high = domain.bounds("l2")
    return _named(domain, domain.decode_points(rng.uniform(low, high)[None], "l2", inside=True))


def _named(domain: Domain, natural: pd.DataFrame) -> dict[str, Any]:
    """The first row by the names of a source's columns."""
    return {column.field: natural[column.name].iloc[0] for column in domain.columns if column.name in natural}


def _listed(column: Column) -> bool:
    return isinstance(column, Categorical) and not isinstance(column, Cyclic)


def _frame(domain: Domain, rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(domain.fields))
    if domain.unit.column is not None:
        frame[domain.unit.column] = [f"person {place // max(domain.unit.records, 1)}" for place in range(len(frame))]
    return frame


def _with(domain: Domain, others: pd.DataFrame, person: list[dict[str, Any]], *, last: bool = True) -> pd.DataFrame:
    """The others and a person's rows, after all of them or before."""
    theirs = pd.DataFrame(person, columns=list(domain.fields))
    if domain.unit.column is not None:
        theirs[domain.unit.column] = "somebody"
    if not len(theirs):
        return others.reset_index(drop=True)
    parts = [others, theirs] if last else [theirs, others]
    parts = [part.astype(object) for part in parts if len(part)]
    whole = pd.concat(parts, ignore_index=True)
    return whole.infer_objects()


SUPPOSED = 10_000  # For which sizes are chosen where nobody says how many there are.
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
    return with_chosen_size(card.made_from(facts), budget, SUPPOSED)


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
