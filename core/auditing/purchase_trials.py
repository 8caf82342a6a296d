"""What is bought on the way to a release, and records of every kind, on tape.

A count, a spread, bounds, a centre, quantiles and the choice of tables are draws before the release itself; several
parts share one promise; several owners make one release; a person may own several records; a record may be categories,
dates, places, texts or gaps. Each is a trial: public facts, hostile neighbours made up from them, and one call of what
makes the release.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd

from ..domain import (
    Categorical,
    ChosenWords,
    Coordinate,
    Cyclic,
    Dates,
    Domain,
    Numeric,
    Ordered,
    PrivacyUnit,
    TextLength,
)
from ..domain.declarations import Declaration
from ..geometry.kernels import KERNELS
from ..privacy.accounting import Reserve
from ..privacy.budget import EACH_RECORD, Budget, Neighbours
from ..privacy.choosing.private_bounds import Grid
from ..privacy.ledger.ledger import Ledger
from ..releases.bounds_and_centre import BoundsPurchase, CentrePurchase
from ..releases.discovery import discover, release_after
from ..releases.discovery_stage import Discovery
from ..releases.going_on import go_on
from ..releases.job import release
from ..releases.payment import unit_words
from ..releases.private_quantiles import private_quantiles
from ..releases.rounds.convenor_steps import ask_to_unmask, put_round_together
from ..releases.rounds.owner_steps import make_hello, make_share, unmask
from ..releases.rounds.round_messages import OwnerKey
from ..releases.rounds.round_plan import WAYS, RoundPlan
from ..sketches.classes import Classes
from ..sketches.directions import Directions
from ..sketches.distance import Distance
from ..sketches.factorisation import Factor
from ..sketches.features import Features
from ..sketches.histogram import Histogram
from ..sketches.living import Living
from ..sketches.moments import Moments
from ..sketches.part import Part
from ..sketches.race import Race
from ..sketches.tables.chosen import ChosenTables
from ..sketches.tables.tables import Tables
from ..sources import open_source
from .replaying import World
from .trials import BUDGETS, RECORDS, Pair, Trial

NAME = "made up"
MANY = 4_000.0  # Records that are said to be there where noise would hide a spread of fewer.
# Times the ε of other trials, where noise would hide what is bought of a dozen records, and with it every fault.
LOUD = 40
POINTS = Domain.of(x=(0, 10), y=(0, 1))
HONEST = 2  # Of three owners of a round.
AMOUNTS = Domain((Numeric("x", 0, 1e6, step=1.0, scale="log"), Numeric("y", -10, 1e3, scale="log")))
LABELLED = Domain((*POINTS.columns, Categorical("class", ("a", "b", "c"))))


def bought(name: str, sketch: Any, budget: Budget, domain: Domain | None = None, **more: Any) -> Trial:
    """A trial of `release` with something bought in it; paid for in a ledger, and kept."""

    def made(records: pd.DataFrame, world: World) -> object:
        found = release(
            sketch, records, budget, ledger=roomy(world, budget, domain or sketch.domain), dataset=NAME, **more
        )
        found.save(world.out / "release.npz")
        return found.manifest

    return Trial(said(name, budget), domain or sketch.domain, budget, made)


def roomy(world: World, budget: Budget, domain: Domain) -> str:
    """A ledger whose total is twice a promise: one entry may follow another there, whatever zCDP makes of their sum."""
    total = 2 * budget.epsilon, 2 * budget.delta
    Ledger(str(world.ledger)).register(NAME, *total, budget.neighbours, unit_words(domain.unit))
    return str(world.ledger)


def said(name: str, budget: Budget) -> str:
    """The name of a trial under a promise."""
    return f"{name}, {budget.neighbours}, {'δ' if budget.delta else 'pure'}"


def _race(domain: Domain, rows: int | None = 8) -> Race:
    return Race(domain, KERNELS["euclidean"](bandwidth=0.5), rows=rows, width=8, seed=7)  # type: ignore[call-arg]


def counts(budget: Budget) -> Iterator[Trial]:
    """The number of records, where nobody says it and the size of the table follows from it."""
    yield bought("count of a race", _race(POINTS, None), budget)
    yield bought("count of features", Features(POINTS, KERNELS["gaussian"](bandwidth=0.5), seed=7), budget)  # type: ignore[call-arg]


def fittings(budget: Budget) -> Iterator[Trial]:
    """How many records fit what is declared: all of them, or those that have a listed value and all others."""
    loud = replace(budget, epsilon=LOUD * budget.epsilon)
    yield bought("records that fit", _race(LABELLED), budget, check=True)
    yield bought(
        "records that fit, of three a person", _race(replace(POINTS, unit=PrivacyUnit("id", 3))), loud, check=True
    )
    yield bought("records that fit, and their count", _race(replace(POINTS, outside="drop"), None), loud, check=True)


def bounds(budget: Budget) -> Iterator[Trial]:
    """Bounds of a column, and the table within them."""
    budget = replace(budget, epsilon=LOUD * budget.epsilon)
    grids = {"x": Grid(0, 10)}
    yield bought("bounds", _race(POINTS), budget, bounds=BoundsPurchase(grids, "0.3"))
    outside = replace(POINTS, outside="drop")
    yield bought("bounds outside of which none counts", _race(outside), budget, bounds=BoundsPurchase(grids, "0.3"))


def centres(budget: Budget) -> Iterator[Trial]:
    """A centre, of everyone and of classes, and the table around it."""
    moments = Moments(POINTS, 0.3).for_mean()
    for name, sketch in (
        ("directions", Directions(POINTS)),
        ("moments", moments),
        ("classes of moments", Classes(LABELLED, "class", moments)),
        ("classes of directions", Classes(LABELLED, "class", Directions(POINTS))),
    ):
        yield bought(f"centre of {name}", sketch, budget, centre=CentrePurchase())


def quantiles(budget: Budget) -> Iterator[Trial]:
    """Medians and quantiles of columns."""

    def made(records: pd.DataFrame, world: World) -> object:
        shares = (0.1, 0.5)
        return private_quantiles(
            records, POINTS, budget, shares, steps={"x": 1}, ledger=str(world.ledger), dataset=NAME
        )

    yield Trial(said("quantiles", budget), POINTS, budget, made)

    def of_amounts(records: pd.DataFrame, world: World) -> object:
        return private_quantiles(records, AMOUNTS, budget, (0.5,), ledger=str(world.ledger), dataset=NAME)

    yield Trial(said("quantiles of amounts", budget), AMOUNTS, budget, of_amounts)


def tables(budget: Budget) -> Iterator[Trial]:
    """Tables of columns taken together: all of them, single ones, named ones, and pairs that are chosen."""
    grid = Domain((*LABELLED.columns, Categorical("sex", ("f", "m"))))
    yield bought("all tables", Tables(grid), budget)
    yield bought("tables of amounts", Tables(AMOUNTS), budget)
    sizes = {"bins": (3, 3), "halvings": (0, 0)}
    yield bought("tables of single columns", Tables(grid, tables=((0,), (1,), (2,), (3,)), **sizes), budget)  # type: ignore[arg-type]
    yield bought("tables that are named", Tables(grid, tables=((0, 2), (1, 3)), **sizes), budget)  # type: ignore[arg-type]
    yield bought("tables that are chosen", ChosenTables(grid, (3, 3), (0, 0), 2), budget)
    if budget.pure:
        ways = ((0, 9, 0), (2, 9, 20), (6, 30, 90))
        yield bought("tables of as many pairs as are worth it", ChosenTables(grid, (3, 3), (0, 0), ways=ways), budget)


def parts(budget: Budget) -> Iterator[Trial]:
    """Several questions under one promise."""
    asked = [
        Part(_race(Domain.of(x=(0, 10))), "where"),
        Part(Distance(Domain.of(y=(0, 1)), "l1"), "how far", 2.0),
        Part(Classes(LABELLED, "class", Histogram(POINTS, KERNELS["gaussian"](bandwidth=0.5), (4, 4))), "by class"),  # type: ignore[call-arg]
    ]
    yield bought("parts", asked, budget, LABELLED)


def classes(budget: Budget) -> Iterator[Trial]:
    """A table for each class."""
    yield bought("classes", Classes(LABELLED, "class", _race(POINTS)), budget)


def living(budget: Budget) -> Iterator[Trial]:
    """A first period that pays for all, and the others one after the other: weighted sums of bands, and of a tree."""
    bands, tree = Factor(3, band=3, power=50), Factor(3, branches=2, weights=(100, 70))
    owned = PrivacyUnit("id", 2)
    for name, weights, unit in (
        ("bands", bands, EACH_RECORD),
        ("a tree", tree, EACH_RECORD),
        ("two a person", bands, owned),
    ):
        domain = replace(LABELLED, unit=unit)
        sketch = Living(domain, "class", _race(replace(POINTS, unit=unit))).weighted(weights, released=1)

        def made(records: pd.DataFrame, world: World, sketch: Living = sketch) -> object:
            book = Ledger(str(world.ledger))
            found = release(sketch, records, budget, ledger=book, dataset=NAME)
            for period in range(2, sketch.periods + 1):
                found = go_on(found, records, period, ledger=book, dataset=NAME)
            found.save(world.out / "release.npz")
            return found.manifest

        yield Trial(said(f"living, {name}", budget), domain, budget, made)


def owners(budget: Budget) -> Iterator[Trial]:
    """Several records a person."""
    unit = PrivacyUnit("id", 3)
    yield bought("three records a person", _race(replace(POINTS, unit=unit)), budget)
    yield bought(
        "three records a person in classes",
        Classes(replace(LABELLED, unit=unit), "class", Distance(replace(POINTS, unit=unit), "l1")),
        budget,
    )
    yield bought("count of three records a person", _race(replace(POINTS, unit=unit), None), budget)


BOX = (45.7, 45.8, 4.8, 4.9)
LEVELS = ("low", "mid", "high")
KINDS: dict[str, Domain] = {
    "categories": Domain((Categorical("sex", ("f", "m"), missing_category="f", unknown_category="m"), *POINTS.columns)),
    "dates": Domain((Dates("when", "2020-01-01", "2020-12-31"), Numeric("x", 0, 10))),
    "circles": Domain((Cyclic("wind", ("N", "E", "S", "W")), Numeric("x", 0, 10))),
    "hours": Domain((Cyclic("hour", part="hour", of="joined"), Numeric("x", 0, 10))),
    "places": Domain((Coordinate("lat", "latitude", *BOX), Coordinate("lon", "longitude", *BOX))),
    "orders": Domain((Ordered("school", LEVELS, (0, 9, 12.5), missing=("n/a",), missing_category="low"),)),
    "texts": Domain((TextLength("said", 50), ChosenWords("about", ("refund", "broken", "other"), of="said"))),
    "whole records": Domain(LABELLED.columns, "drop"),
    "no gaps": Domain(POINTS.columns, "clamp", "refuse"),
}


def kinds(budget: Budget) -> Iterator[Trial]:
    """Records of columns that are no numbers, and of every rule for what is missing or outside."""
    for name, domain in KINDS.items():
        yield bought(name, _race(domain), budget)
        yield bought(f"{name} in tables", Tables(domain), budget)


def merged(budget: Budget) -> Iterator[Trial]:
    """Two releases of the same records, half of the promise each, added up."""
    half = replace(budget, epsilon=budget.epsilon / 2, delta=budget.delta / 2)

    def made(records: pd.DataFrame, world: World) -> object:
        both = [release(_race(POINTS), records, half, ledger=str(world.ledger), dataset=name) for name in (NAME, "two")]
        total = both[0].merged(both[1])
        total.save(world.out / "merged.npz")
        return total.manifest

    yield Trial(said("a merge", budget), POINTS, budget, made)


def rounds(budget: Budget) -> Iterator[Trial]:
    """What one owner sends in a round, and the sum that the convenor opens; and two rounds of the same owners.

    Every owner is a tape of its own: the others' records are no person's whose promise is looked at, so their shares
    are made beforehand. The plan has room for one record fewer than most neighbours have, which nobody may be told.
    """
    sketch = Race(POINTS, KERNELS["euclidean"](bandwidth=0.5), rows=256, width=8, seed=7)  # type: ignore[call-arg]
    keys = {name: OwnerKey(name.encode() * 32) for name in "abc"}
    others = pd.DataFrame({"x": [1.0, 2.0, 9.0], "y": [0.0, 0.5, 1.0]})
    for way, times in (*((way, 1) for way in WAYS), ("masked", 2)):
        promise = replace(budget, epsilon=budget.epsilon / times, delta=budget.delta / times)
        convenor = OwnerKey(bytes(32)) if way == "shared" else None
        reader = None if convenor is None else convenor.public
        publics = {name: key.public for name, key in keys.items()}
        honest, begun = 1 if way == "full" else HONEST, []
        for _ in range(times):
            plan = RoundPlan.of(sketch, promise, publics, way, honest=honest, records=RECORDS, convenor=reader)
            hellos = [make_hello(plan, key) for key in keys.values()] if way == "masked" else []
            with tempfile.TemporaryDirectory() as folder:
                book = Ledger(f"{folder}/ledger.sqlite")
                shares = [
                    make_share(plan, others, keys[name], ledger=book, dataset=name, hellos=hellos) for name in "bc"
                ]
            begun.append((plan, hellos, shares))

        def made(records: pd.DataFrame, world: World, begun: Any = begun, convenor: Any = convenor) -> object:
            book, sent = roomy(world, budget, POINTS), []
            for place, (plan, hellos, shares) in enumerate(begun):
                mine = make_share(plan, records, keys["a"], ledger=book, dataset=NAME, hellos=hellos)
                messages = [*hellos, mine, *shares]
                if hellos:
                    request = ask_to_unmask(plan, messages)
                    messages += [unmask(plan, key, request, hellos, ledger=book) for key in keys.values()]
                put_round_together(plan, messages, convenor).save(world.out / f"round {place}.npz")
                sent += messages
            return sent

        name = f"{'a round' if times == 1 else 'two rounds'}, {way}"
        yield Trial(said(name, budget), POINTS, budget, made, honest=honest)


CROWD = 40  # People beside the one who makes the difference, enough for values to be found among them.
FINDING = Decimal(6), Decimal("0.001")  # A promise under which so few people's values are found.
ROWS = 3  # Of one person, where people own several.


def _crowd(text: bool, unit: PrivacyUnit, neighbours: Neighbours, size: int) -> Iterator[Pair]:
    """A crowd that shares its values, and one person more with hostile ones, or in the place of an ordinary one."""
    numbers = [str(place % 7) if text else place % 7 for place in range(size)]
    days = [f"{1 + place % 28:02}.{1 + place % 12:02}.2024" for place in range(size)]
    people = {"city": ["Basel", "Bern"] * (size // 2), "x": numbers, "when": days, "sex": ["f"] * size}
    people |= {f"view {place}": ["yes"] * size for place in range(2)}
    own = {"view 0": "no", "view 1": "no"}
    others = pd.DataFrame(people | {"id": [f"person {place}" for place in range(size)]})
    ordinary = others.iloc[0].to_dict() | {"id": "somebody"}
    hostile = {
        "like others": {},
        "with a value of its own in every column": own | {"city": "Chur", "x": "1e9" if text else 1e9, "when": "n/a"},
        "with values that fit other formats": {"city": "12", "x": "abc" if text else -0.5, "when": "12/31/2024"},
        "with nothing said": {"city": None, "x": None, "when": None},
    }
    count = 1 if unit.column is None else ROWS + 2
    for about, values in hostile.items():
        theirs = [ordinary | values] * count
        if unit.column is not None and "own" in about:  # many rows, each with a value of its own
            theirs = [row | {"city": f"Chur {place}"} for place, row in enumerate(theirs)]
        first = others if neighbours is Neighbours.ADD_REMOVE else _and(others, [ordinary] * count)
        yield Pair(f"somebody {about}", first, _and(others, theirs))
    shuffled = others.iloc[::-1].reset_index(drop=True)
    yield Pair("the same people in another order", others, shuffled)


def _and(others: pd.DataFrame, rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.concat([others.astype(object), pd.DataFrame(rows).astype(object)], ignore_index=True).infer_objects()


def discoveries(budget: Budget) -> Iterator[Trial]:
    """What nobody has said of a table: found out of frames and text files."""
    budget = replace(budget, epsilon=LOUD * budget.epsilon)
    if budget.delta:
        budget = replace(budget, epsilon=FINDING[0], delta=FINDING[1])
    known = Declaration(Domain((Categorical("city", ("Basel", "Bern")), Categorical("sex", ("f", "m")))))
    half = budget.split(1, 1)[0]
    price = None if budget.pure else Reserve(budget, Fraction(1, 2)).first_cost
    own = Budget(half if price is None else price.epsilon, price.delta if price else 0, budget.neighbours)
    for unit, whose in ((EACH_RECORD, "records"), (PrivacyUnit("id", ROWS), "persons")):
        for text in (False, True):
            if budget.pure and not text:  # values of texts cannot be found then, and dates are texts here
                continue
            domain = replace(POINTS, unit=unit)

            share, size = (
                (None, 10 * CROWD) if text and unit is EACH_RECORD else ("0.5", CROWD)
            )  # None: by a first look

            def pairs(text: bool = text, unit: PrivacyUnit = unit, size: int = size) -> Iterator[Pair]:
                return _crowd(text, unit, budget.neighbours, size)

            def alone(records: pd.DataFrame, world: World, text: bool = text, unit: PrivacyUnit = unit) -> object:
                data = world.csv(records) if text else records
                told = known if budget.pure else None
                found = discover(data, budget, "0.5", unit=unit, said=told, ledger=str(world.ledger), dataset=NAME)
                said = {"declaration": found.text(), "price": found.price, "heaps": found.heaps}
                return said | {"kept": found.kept.to_dict()}

            def followed(
                records: pd.DataFrame, world: World, text: bool = text, unit: PrivacyUnit = unit, share: Any = share
            ) -> object:
                data = world.csv(records) if text else records
                asked = Discovery.of_source(open_source(data), budget, share, unit, known if budget.pure else None)
                books = roomy(world, budget, replace(POINTS, unit=unit))
                made = release_after(asked, Tables, data, ledger=books, dataset=NAME)
                made.save(world.out / "release.npz")
                return made.manifest

            name = f"discovery of {whose} in {'texts' if text else 'a frame'}"
            yield Trial(said(name, budget), domain, own, alone, pairs, alone=True)
            yield Trial(said(f"{name} before a release", budget), domain, budget, followed, pairs, alone=True)


PURCHASES = (
    counts,
    fittings,
    bounds,
    centres,
    quantiles,
    tables,
    parts,
    classes,
    living,
    owners,
    kinds,
    discoveries,
    merged,
    rounds,
)


def purchases(budgets: Sequence[Budget] = BUDGETS) -> Iterator[Trial]:
    """Everything that is bought, under every promise."""
    for budget in budgets:
        for each in PURCHASES:
            yield from each(budget)
