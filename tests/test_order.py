"""Nothing depends on the order of records: shuffled or sorted, under the same draws, the same file, bit for bit.

Every proof says what one record can move. A single value may move all others in the file, as where a table is sorted
by it, is clustered, or is the answer to a query: then what one record moves is also all that hangs on their lines, and
no noise was made for that. So every mechanism, method and purchase that there is makes the same of records in any
order.

Some draw something for each record: which batch or part it goes to, a normal number of its own. There a proof sets two
data sets side by side in which a record keeps its draw (`core.privacy.noise.randomness.hidden_order`), and so does
`Following`: of a request for as many words as there are records, a record gets the same word wherever it stands.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core import Budget, Domain, release, train
from core import estimators as estimators_module
from core.domain.encoders import Encoder
from core.domain.texts_and_items import TextLength
from core.errors import RequestError
from core.geometry.kernels import Euclidean
from core.local.heavy_hitters import Alphabet
from core.local.oracles.oracle import ORACLES, oracle
from core.local.survey import FINDERS, SKETCHES
from core.local.survey import sketch as local_sketch
from core.models import posterior, preconditioned, standard_scale
from core.models.classifier_choice import choose_classifier
from core.models.model_file import ModelFile
from core.models.objective_perturbation import ObjectivePerturbation
from core.models.training import METHODS, NUMBER_METHODS
from core.privacy.choosing.private_bounds import Grid
from core.privacy.noise.randomness import SeededSource, SystemSource
from core.privacy.noise.vector_noise import NormalVector
from core.releases.bounds_and_centre import BoundsPurchase, CentrePurchase, private_bounds
from core.releases.engine import building
from core.releases.job import Job
from core.releases.kind import Plain, kind_of
from core.releases.private_quantiles import private_quantiles
from core.releases.purchase_plan import PurchasePlan, Purchasing
from core.releases.release import Release
from core.releases.stages import Known, Spread
from core.sketches.adaptive import Adaptive
from core.sketches.directions import Directions
from core.sketches.moments import Moments
from core.sketches.race import Race
from core.sketches.registry import cards
from core.sketches.tables.chosen import ChosenTables
from core.sources import open_source
from tests.depth import DEEP, deep, draws
from tests.sketches.test_every_mechanism import KNOWN, OTHERS, small
from tests.sketches.test_slack import facts_of

RECORDS = 211
"""A number that no table here has, so that a request for so many words is one for each record."""


class Following:
    """Seeded draws that follow the records that they are for.

    Parameters
    ----------
    order : np.ndarray
        Which record stands at each place.
    """

    private = False

    def __init__(self, order: np.ndarray) -> None:
        self._source, self._order = SeededSource(5), order

    def stream(self) -> SimpleNamespace:
        base, order = self._source.stream(), self._order
        return SimpleNamespace(words=lambda n: base.words(n)[order] if n == len(order) else base.words(n))


class FollowingNormals(NormalVector):
    """A normal number for each record, as many digits of it as are asked for."""

    order: np.ndarray

    def bounds(self, extra):
        low, high = super().bounds(extra)
        if len(low) != len(self.order):
            return low, high
        return [low[place] for place in self.order], [high[place] for place in self.order]


@pytest.fixture
def same_in_any_order(monkeypatch) -> Callable[[pd.DataFrame, Callable[[pd.DataFrame], object]], None]:
    """Make something of records in several orders under draws that follow them, all of which come from the system."""

    def check(frame: pd.DataFrame, make: Callable[[pd.DataFrame], object]) -> None:
        told = []
        for order, rows in orders(frame):
            source = Following(order)
            monkeypatch.setattr(SystemSource, "stream", lambda self, source=source: source.stream())
            monkeypatch.setattr(FollowingNormals, "order", order, raising=False)
            monkeypatch.setattr(posterior, "NormalVector", FollowingNormals)
            monkeypatch.setattr(building, "_rows_of_a_batch", lambda domain, rows=rows: rows)
            for module in (preconditioned, standard_scale, standard_scale):
                monkeypatch.setattr(module, "AT_ONCE", rows)
            told.append(said(make(frame.iloc[order].reset_index(drop=True))))
        assert len(set(told)) == 1

    return check


def orders(frame: pd.DataFrame) -> Iterator[tuple[np.ndarray, int]]:
    """Orders of the rows, the first as they are, and how many are read, and summed up, at once."""
    yield np.arange(len(frame)), len(frame)
    for seed in range(draws(1, 4)):
        yield np.random.default_rng(seed).permutation(len(frame)), (50, 1, 17, 210)[seed]
    for name in list(frame)[: draws(1, 9)]:
        yield (
            (frame[name] if frame[name].dtype.kind in "fi" else frame[name].map(str)).argsort().to_numpy()[::-1],
            1 << 17,
        )


def said(made: object) -> str:
    """Everything that something which was made says, but for when."""
    if isinstance(made, Release):
        return hashlib.sha256(replace(made, created="2000-01-01T00:00:00+00:00").to_bytes(teaching=True)).hexdigest()
    if isinstance(made, ModelFile):
        return str(made.to_dict())
    if hasattr(made, "get_params"):
        return str([(name, said(value)) for name, value in sorted(vars(made).items()) if name.endswith("_")])
    if isinstance(made, (list, tuple)):
        return str([said(one) for one in made])
    if isinstance(made, np.ndarray):
        return f"{made.dtype} {made.tolist()}"
    return str(made)


def natural(sketch) -> pd.DataFrame:
    """Records of a sketch's domain, some beside each other in a row where a person has several, or gathers them."""
    random, domain = np.random.default_rng(1), sketch.domain
    if domain.holds_sets:
        sets = [random.integers(0, 400, size).tolist() for size in random.integers(0, 12, RECORDS)]
        if not domain.gathers:
            return pd.DataFrame({domain.names[0]: sets})
        one_each = pd.DataFrame({domain.names[0]: sets, domain.unit.id_column: [f"p{n}" for n in range(RECORDS)]})
        return one_each.explode(domain.names[0], ignore_index=True).dropna(ignore_index=True)
    low, high = domain.bounds(sketch.metric)
    frame = domain.decode_points(random.uniform(low, high, (RECORDS, len(low))), sketch.metric, inside=True)
    for column in domain.columns:
        if isinstance(column, TextLength):
            frame[column.name] = ["word " * round(length) for length in frame[column.name]]
        if isinstance(column, Encoder):
            read = Domain(column.reads)
            low, high = read.bounds()
            frame[list(read.fields)] = read.decode_points(random.uniform(low, high, (RECORDS, len(low))), inside=True)
    if domain.unit.column is not None:
        frame[domain.unit.column] = [f"p{place // domain.unit.records}" for place in range(RECORDS)]
    return frame


def a_promise(mechanism) -> Budget:
    """One that the mechanism can keep."""
    for budget in (Budget(1, "1e-6"), Budget(1), Budget(1, "1e-6", "replace_one")):
        try:
            mechanism.check_budget(budget)
        except RequestError:
            continue
        return budget
    raise AssertionError("no promise is kept")


def choosing() -> dict[str, Adaptive]:
    """Every mechanism that chooses before it measures, of a settled size."""
    mixed = Domain.of(x=(0, 8), c=["u", "v", "w"], y=(-1, 1))
    made = {"pairs to count": ChosenTables(mixed, (4, 3), (2, 0), 2)}
    for name, card in cards().items():
        facts = None if card.make is None else facts_of(card, Budget(1, "1e-6"))
        sketch = None if facts is None else card.make(facts)
        if isinstance(sketch, Adaptive):
            made[name] = sketch.sized_for(facts.budget, RECORDS)
    return {name: sketch for name, sketch in made.items() if isinstance(sketch, Adaptive)}


CHOOSING = choosing()
SLOW = ("aim",)
"""Those that fit a model for seconds."""


def test_all_mechanisms_that_choose_are_here():
    kinds = [Adaptive]
    for kind in kinds:
        kinds += kind.__subclasses__()
    ours = {kind for kind in kinds if kind.__module__.startswith("core.") and not inspect.isabstract(kind)}
    assert {type(sketch) for sketch in CHOOSING.values()} == ours


@pytest.mark.few(10)
@pytest.mark.parametrize("name", [*KNOWN, *OTHERS, *(deep(name) if name in SLOW else name for name in CHOOSING)])
def test_every_mechanism_releases_the_same(name, same_in_any_order):
    mechanism = CHOOSING[name] if name in CHOOSING else small(name)
    kind = kind_of(mechanism, a_promise(mechanism))
    same_in_any_order(natural(mechanism), lambda frame: Job(kind, open_source(frame)).run())


PEOPLE = Domain.of(x=(0, 10), y=(-1, 1), z=(0, 5), kind=["a", "b"], missing="refuse")
GROUPS = Domain.of(x=(0, 10), y=(-1, 1), kind=["a", "b", "c"], missing="refuse")


def people(domain: Domain) -> pd.DataFrame:
    """Groups that lie apart, and a number of each that others tell something of."""
    random, kinds = np.random.default_rng(2), domain.categories_of("kind")
    kind = random.integers(0, len(kinds), RECORDS)
    x = np.clip(random.normal(2 + 3 * kind, 1.5), 0, 10)
    y = np.clip(random.normal(0.1 * x - 0.5, 0.3), -1, 1)
    frame = pd.DataFrame({"x": x, "y": y, "z": random.uniform(0, 5, RECORDS), "kind": np.array(kinds)[kind]})
    return frame[list(domain.names)]


def budgets() -> Iterator[Budget]:
    """Promises of all kinds, of which a method keeps one at least."""
    for neighbours in ("add_remove", "replace_one"):
        for delta in ("1e-4", 0):
            yield Budget(3, delta, neighbours)


def trained(frame: pd.DataFrame, label: str, domain: Domain, method: str) -> list[object]:
    """Models by a method, one under each promise that it keeps."""
    made = []
    for budget in budgets():
        try:
            made.append(train(frame, label, domain, budget, method))
        except RequestError:
            continue
        if not DEEP:
            break
    assert made
    return made


@pytest.mark.few(1)
@pytest.mark.parametrize("domain", [deep(PEOPLE), GROUPS])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_classes_trains_the_same(method, domain, same_in_any_order):
    same_in_any_order(people(domain), lambda frame: trained(frame, "kind", domain, method))


@pytest.mark.few(3)
@pytest.mark.parametrize("method", NUMBER_METHODS)
def test_every_method_of_numbers_trains_the_same(method, same_in_any_order):
    same_in_any_order(people(PEOPLE), lambda frame: trained(frame, "x", PEOPLE, method))


PLANE = Domain.of(x=(0, 10), y=(-1, 1))


def release_plan(frame: pd.DataFrame) -> Purchasing[Plain]:
    """A table of settled size, before which it is bought how far records lie apart."""
    sketch = Race(PLANE, Euclidean(2.0), rows=20, seed=1)
    plan = PurchasePlan([Spread(PLANE)], Known(Budget(30), RECORDS), lambda known: Plain(sketch, known.left))
    return Purchasing(plan, open_source(frame), None)


PURCHASES: dict[str, Callable[[pd.DataFrame], object]] = {
    "bounds": lambda frame: private_bounds(
        open_source(frame), {"x": Grid(-100, 100), "y": Grid(-5, 5)}, Budget(2), spend=lambda cost: None
    ),
    "quantiles": lambda frame: private_quantiles(frame, PLANE, Budget(3), (0.1, 0.5)),
    "bounds and a table": lambda frame: release(
        Race(PLANE, Euclidean(2.0), rows=20, seed=1), frame, Budget(3), bounds=BoundsPurchase({"x": Grid(-100, 100)})
    ),
    "a pole and a table": lambda frame: release(Directions(PLANE), frame, Budget(3), centre=CentrePurchase()),
    "a mean and a table": lambda frame: release(
        Moments(PLANE, radius=4.0), frame, Budget(3), centre=CentrePurchase(), records=RECORDS
    ),
    "a count and a table": lambda frame: release(Race(PLANE, Euclidean(2.0), seed=1), frame, Budget(3)),
    "how far records lie apart": lambda frame: release_plan(frame).run().known.spread,
    "what predicts best": lambda frame: choose_classifier(open_source(frame), PEOPLE, "kind", Budget(9), None, RECORDS),
    "objective perturbation": lambda frame: str(
        ObjectivePerturbation(PEOPLE, "kind").fit(open_source(frame), Budget(3)).to_dict()
    ),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", [deep(name) if name == "what predicts best" else name for name in PURCHASES])
def test_everything_that_is_bought_is_the_same(name, same_in_any_order):
    same_in_any_order(people(PEOPLE), PURCHASES[name])


ESTIMATORS = [
    deep(name) if name == "PrivateChosenClassifier" else name  # whose contest is among what is bought, too
    for name in estimators_module.__all__
    if name.startswith("Private")
]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_learns_the_same(name, same_in_any_order):
    kind = getattr(estimators_module, name)
    given = {"epsilon": 5.0, "bounds": [(0, 10), (-1, 1), (0, 5)], "classes": ["a", "b"], "random_state": 1}
    given |= {"records": RECORDS, "target_bounds": (0, 1), "bandwidth": 1.0}
    estimator = kind(**{name: value for name, value in given.items() if name in kind().get_params()})

    def fitted(frame: pd.DataFrame) -> object:
        target = (frame.kind == "a").astype(float) if name == "PrivateRidge" else frame.kind
        return estimator.fit(frame[["x", "y", "z"]].to_numpy(), target.to_numpy())

    same_in_any_order(people(PEOPLE), fitted)


@pytest.mark.parametrize("name", [*ORACLES, *SKETCHES, *FINDERS])
def test_local_reports_are_counted_and_searched_to_the_same(name):
    """Each is private before it is sent; that nothing hangs on when it came is what a shuffler's bound supposes."""
    random = np.random.default_rng(3)
    if name in FINDERS:
        one = FINDERS[name](Alphabet("abc", 3), 6, 1)
        reports = one.privatise(random.choice(["abc", "ab", "cab"], 3_000).tolist(), SeededSource(1))
    else:
        one = oracle(name, 9, 2) if name in ORACLES else local_sketch(name, 2, seed=1)
        reports = one.privatise(random.integers(0, 9, 300), SeededSource(1))
    told = set()
    for order in (np.arange(len(reports)), random.permutation(len(reports)), np.arange(len(reports))[::-1]):
        some = np.ascontiguousarray(reports[order])
        told.add(str(one.find(some)) if name in FINDERS else said(one.aggregate(some).table))
    assert len(told) == 1
