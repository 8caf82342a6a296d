"""What every private estimator shares: its promise, its public facts, kernels and mechanisms by name, and the one
release that `fit` makes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from numbers import Real
from typing import cast

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..domain import Categorical, Column, Domain, Numeric, Vector
from ..errors import RequestError
from ..geometry.kernels import KERNELS, Jaccard, Kernel
from ..geometry.uniforms import PublicRandom
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..releases.bounds_and_centre import CentrePurchase
from ..releases.forecast.recommendation import Closeness, recommend
from ..releases.forecast.scales import by_coordinates, chosen_scales
from ..releases.job import Job
from ..releases.kind import Kind, TablePlan, kind_of, warn_of_wide_columns
from ..releases.payment import payer_of
from ..releases.purchase_plan import PurchasePlan
from ..releases.release import Release
from ..releases.stages import Count, Known, Spread, Stage
from ..runtime.parameters import check_choice
from ..sketches import registry
from ..sketches.histogram import Histogram
from ..sketches.linear import LinearSketch
from ..sketches.mechanism_spec import PublicInputs
from ..sketches.registry import card, cards
from ..sources import open_source

FEATURES, CLASS = "x", "class"


@contextmanager
def without_values() -> Iterator[None]:
    """Say without values what NumPy and scikit-learn say with them of records that are no numbers."""
    try:
        yield
    except ValueError as problem:
        if isinstance(problem, RequestError):
            raise
        said = str(problem)
        if said.startswith("Complex data not supported"):
            raise RequestError("Complex data not supported: features are real numbers.") from None
        if "convert" in said:
            raise RequestError("Features and labels must be numbers, and some are text that is none.") from None
        raise


@dataclass(kw_only=True, repr=False, eq=False)
class PrivateEstimator(BaseEstimator):
    """An estimator whose `fit` makes one private release and forgets the data.

    What its parameters mean is said of `PrivateKernelDensity`; some have the public seed ``random_state``, too.
    """

    epsilon: float = 1.0
    delta: float = 0.0
    neighbours: str = "add_remove"
    bounds: object = None
    dataset: str | None = None
    ledger: Ledger | str | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # noise is drawn anew by every `fit`, whatever the seed
        return tags

    def _budget(self) -> Budget:
        return Budget(self.epsilon, self.delta, self.neighbours)

    def _read(self, X: object, y: object = "no_validation") -> tuple[np.ndarray, np.ndarray | None]:
        """The features, float64 (n, d), and the labels if there are any; sets ``n_features_in_``."""
        with without_values():
            if isinstance(y, str) and y == "no_validation":
                return validate_data(self, X, dtype=np.float64), None
            return validate_data(self, X, y, dtype=np.float64)

    def _queries(self, X: object) -> np.ndarray:
        """Features of queries, float64 (n, d), as many as were fitted and in their order."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def _domain(self, bounds: object, classes: tuple[str, ...] = ()) -> Domain:
        """The public facts: one column of vectors for one pair of bounds, or a column of numbers for each pair.

        RequestError when there are no bounds, or not as many as features.
        """
        if bounds is None:
            raise RequestError(
                f"{type(self).__name__} needs the public bounds of the features, as bounds=(low, high) or one pair a "
                "feature; reading them off the data would give people away."
            )
        columns: tuple[Column, ...] = self._feature_columns(np.asarray(bounds, dtype=np.float64))
        if classes:
            columns = (*columns, Categorical(CLASS, classes))
        return Domain(columns, outside="clamp", missing="refuse")

    def _feature_columns(self, bounds: np.ndarray) -> tuple[Numeric | Vector, ...]:
        features = self.n_features_in_
        if bounds.shape == (2,):
            return (Vector(FEATURES, features, *bounds),)
        if bounds.shape != (features, 2):
            raise RequestError(
                f"The bounds must be one pair (low, high) for all features or {features:,} pairs, one a feature."
            )
        return tuple(Numeric(name, low, high) for name, (low, high) in zip(self._names(), bounds, strict=True))

    def _names(self) -> list[str]:
        given = getattr(self, "feature_names_in_", None)
        return [f"{FEATURES}{place}" for place in range(self.n_features_in_)] if given is None else list(given)

    def _release(
        self,
        domain: Domain,
        X: np.ndarray,
        labels: np.ndarray | None,
        make: Callable[[float, Budget, float | None], LinearSketch],
        *,
        settled: bool = False,
        apart: Domain | None = None,
        centre: CentrePurchase | None = None,
    ) -> Release:
        """Spend the budget and release; nothing of X is kept.

        `domain`, `X`, `labels`: The public facts, and the private records. `make`: The sketch for so many records under
        a budget, that are spread so far where that is known. `settled`: Whether the sketch is the same for any number
        of records. `apart`: The features, where how far records lie apart is to be bought first; see
        `core.releases.stages`. `centre`: What is to be bought besides.
        """
        budget, source = self._budget(), open_source(as_table(domain, X, labels))
        payer = payer_of(self.ledger, self.dataset, budget, domain.unit)

        def made(known: Known) -> Kind | TablePlan:
            sketch = make(known.records, known.left, known.spread)
            warn_of_wide_columns(sketch)
            return kind_of(sketch, known.left, known.records, centre=centre)

        stages: list[Stage] = [] if settled or self.records is not None else [Count(domain)]
        if apart is not None:
            stages.append(Spread(apart))
        plan = PurchasePlan(stages, Known(budget, self.records or 1.0), made)
        return Job(plan, source, payer).run()

    def _hash_seed(self) -> int | None:
        """None, for a fresh public seed, unless the hash functions are to be the same again; noise never is."""
        if self.random_state is None:
            return None
        high, low = PublicRandom(_whole(self.random_state), 0).words(2)
        return (int(high) << 64) | int(low)


def _whole(random_state: object) -> int:
    if isinstance(random_state, Real):
        number = cast(float, random_state)  # type checkers know no other real numbers
        if int(number) == number and 0 <= number < 1 << 63:
            return int(number)
    raise RequestError(
        "random_state must be None or a whole number: the public seed of the hash functions, never of noise."
    )


def as_table(domain: Domain, X: np.ndarray, labels: np.ndarray | None) -> pa.Table:
    """Arrow columns of the domain's names, which the engine streams."""
    if isinstance(domain.columns[0], Vector):
        flat = pa.array(np.ascontiguousarray(X).reshape(-1))
        columns = {FEATURES: pa.FixedSizeListArray.from_arrays(flat, X.shape[1])}
    else:
        names = [column.name for column in domain.columns[: X.shape[1]]]
        columns = {name: pa.array(X[:, place]) for place, name in enumerate(names)}
    if labels is not None:
        columns[CLASS] = pa.array(labels)
    return pa.table(columns)


# Kernels of points that are not made of others.
SINGLE = tuple(
    name
    for name, kernel in KERNELS.items()
    if kernel is not Jaccard and "parts" not in {field.name for field in fields(kernel)}
)


def mechanisms() -> tuple[str, ...]:
    """Names of the mechanisms for sums of kernels of points that may be recommended and named."""
    return tuple(
        name
        for name, card in cards().items()
        if card.recommended and card.command and card.answers == "closeness" and not card.sets
    )


def grid_of(domain: Domain, records: float, budget: Budget) -> Histogram | None:
    """A grid as fine as its noise allows, whose bandwidth is chosen when it is read; None for too many features."""
    columns = by_coordinates(domain)
    if columns is None:
        return None
    scales = chosen_scales(columns, budget, records)
    return Histogram(domain, scales.kernel, finest=scales.finest)


def kernel_of(kernel: str | Kernel, bandwidth: float | tuple[float, ...] | None) -> Kernel:
    """The kernel that is meant."""
    if isinstance(kernel, Kernel):
        if bandwidth is not None:
            raise RequestError("A kernel that is given whole has its bandwidth; leave the bandwidth out.")
        return kernel
    check_choice(kernel, "A kernel that is given by name", SINGLE)
    kind: Callable[..., Kernel] = KERNELS[kernel]
    if "bandwidth" not in {field.name for field in fields(KERNELS[kernel])}:
        return kind()
    if bandwidth is None:
        raise RequestError(
            f"The {kernel} kernel needs a bandwidth, the distance at which closeness fades; it is public, so it is not "
            "found from the data."
        )
    return kind(bandwidth)


def kernel_sketch(
    domain: Domain,
    kernel: Kernel,
    mechanism: str | None,
    rows: int | None,
    records: float | None,
    budget: Budget,
    seed: int | None,
) -> LinearSketch:
    """A sketch of kernel sums.

    `mechanism`: Its name; None takes what promises most by forecast, or, with a number of rows, RACE where the kernel
    has hashes and random features elsewhere. `rows`: Of the sketch; None leaves them to the forecast. `records`: A
    public guess of their number.

    RequestError when the mechanism does not have the kernel, or none has.
    """
    if mechanism is None and rows is None:
        best = recommend(domain, records, budget, Closeness(kernel, seed=seed))[0]
        if best.sketch is None:
            raise RequestError(best.reason)
        return best.sketch
    if mechanism is None:
        mechanism = "race" if registry.hashed(kernel) else "features"
    check_choice(mechanism, "The mechanism", mechanisms())
    chosen = card(mechanism)
    if rows is not None and "--rows" not in chosen.options:
        raise RequestError(f"{chosen.called[0].upper()}{chosen.called[1:]} has no rows; leave the rows out.")
    facts = PublicInputs(domain, budget, kernel, size=rows, seed=seed)
    return cast(LinearSketch, chosen.made_from(facts))  # what may be recommended chooses nothing
