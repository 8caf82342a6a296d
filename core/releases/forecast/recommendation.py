"""Which mechanism? All that can answer a question are forecast from public facts, and ranked with the reason in words.

The forecasts are of the same answers on the same reference population, so they can be compared; a mechanism that cannot
answer is listed with why not.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...geometry.kernels import Kernel
from ...privacy.budget import Budget
from ...privacy.calibration import NoiseScale
from ...sketches import registry
from ...sketches.adaptive import Adaptive
from ...sketches.classes import Classes
from ...sketches.linear import LinearSketch
from ...sketches.mechanism_spec import PublicInputs
from ...sketches.registry import card
from ...sketches.sums_of_products import Products
from .forecast import Forecast, forecast
from .one_trial import checked_density, checked_records
from .sketch_sizes import limited_size
from .trial import close_errors
from .whole_table import chosen_pairs, reason, reason_of_choice, whole_table

SPREAD = 1.0 / 3.0  # Of an ordinary column's values: a sixth of its bounds, in units of half of them.


def sums_of_products(domain: Domain) -> Products:
    """The sums of all columns, of which any can be predicted from the others; RequestError where there is but one."""
    if len(domain.columns) < 2:
        raise RequestError("A column is predicted from others, and there is only one.")
    return Products(domain)


def correlation_error(sketch: Products, noise: NoiseScale, records: float) -> float:
    """Standard deviation that noise gives the correlation of two numbers that have nothing to do with each other.

    Of columns in the middle of their bounds the centred sum of products has the noise s of its entry, and a
    correlation is that sum over n times both spreads, so its error is s / (n spread²).
    """
    return math.sqrt(sketch.entry_variance(noise.variance)) / (records * SPREAD**2)


def reason_of_products(sketch: Products) -> str:
    """What is in the file, and what may be asked of it."""
    columns = len(sketch.domain.columns)
    return (
        f"{count(sketch.shape[0], 'sum')} of products of {columns} columns. Which column is predicted, and from which "
        "others, is chosen afterwards, as often as anyone likes: every regression is in the file."
    )


TIE = 1.03  # Errors this close to each other are alike; the smaller file is better then.


class Question(ABC):
    """What is asked of a release."""

    answers: ClassVar[str] = "closeness"  # What is summed: "closeness" or "distance".

    @abstractmethod
    def facts(self, domain: Domain, budget: Budget) -> PublicInputs:
        """What a mechanism is made from, beside the size that is left to the forecast."""


@dataclass(frozen=True)
class Closeness(Question):
    """How dense is it here? Sums of a kernel.

    Attributes
    ----------
    kernel : Kernel
        What closeness is.
    radius : float | None
        Public bound on the distance of a record from the middle of the bounds, used where points are projected.
    seed : int | None
        Public seed of the sketches; fresh when None.
    rows, width : int | None
        Of sketches that have them; None leaves the rows to the forecast, and takes the usual width.
    finest : float
        Below 1, readers should be able to choose narrower bandwidths, down to this share of the kernel's.
    """

    kernel: Kernel
    radius: float | None = None
    seed: int | None = None
    rows: int | None = None
    width: int | None = None
    finest: float = 1.0

    def facts(self, domain: Domain, budget: Budget) -> PublicInputs:
        return PublicInputs(
            domain,
            budget,
            kernel=self.kernel,
            radius=self.radius,
            seed=self.seed,
            size=self.rows,
            width=self.width,
            finest=self.finest,
        )


@dataclass(frozen=True)
class Distances(Question):
    """How far is everyone from here? Sums of distances.

    Attributes
    ----------
    norm : str
        "l1", "l2", "squared", "lp:P", "capped:C", "above" or "below".
    radius : float | None
        Of l2 and squared, a public bound on the distance of a record from the middle of the bounds.
    seed : int | None
        Public seed of random directions; fresh when None.
    """

    norm: str
    radius: float | None = None
    seed: int | None = None
    answers: ClassVar[str] = "distance"

    def facts(self, domain: Domain, budget: Budget) -> PublicInputs:
        return PublicInputs(domain, budget, norm=self.norm, radius=self.radius, seed=self.seed)


@dataclass(frozen=True)
class Counts(Question):
    """How many, by what, together with what? Counts in tables of all columns."""

    by: tuple[str, ...] = ()  # Columns by which the others are counted; with none, the pairs that can be seen are.
    # Whether those that go together most are chosen where not all can be seen; in pure ε, as many as are worth it.
    choosing: bool = False
    answers: ClassVar[str] = "tables"

    def facts(self, domain: Domain, budget: Budget) -> PublicInputs:
        return PublicInputs(domain, budget, by=self.by)


@dataclass(frozen=True)
class Regressions(Question):
    """What predicts what? Any column from any others, by least squares."""

    answers: ClassVar[str] = "regression"

    def facts(self, domain: Domain, budget: Budget) -> PublicInputs:
        return PublicInputs(domain, budget)


@dataclass(frozen=True)
class Recommendation:
    """A mechanism, what it would give, and why it stands where it stands.

    Attributes
    ----------
    name : str
        Of the mechanism; of the one inside, where there is a table for every class.
    sketch : LinearSketch | None
        With all its public parameters and a size; None when it cannot answer.
    forecast : Forecast | None
        What it would give; None when it cannot answer.
    reason : str
        A sentence or two.
    stopped_by : str
        What kept its rows from being more, as `core.releases.forecast.sketch_sizes.Rows` says it; "" where it has none.
    chooser : Adaptive | None
        What chooses under noise first, where something does; `sketch` then is one of the same size and noise.
    """

    name: str
    sketch: LinearSketch | None
    forecast: Forecast | None
    reason: str
    stopped_by: str = ""
    chooser: Adaptive | None = None

    @property
    def answering(self) -> LinearSketch:
        """The sketch, of one that can answer; RequestError with the reason where it cannot."""
        if self.sketch is None:
            raise RequestError(self.reason)
        return self.sketch

    @property
    def outlook(self) -> Forecast:
        """The forecast, of one that can answer; RequestError with the reason where it cannot."""
        if self.forecast is None:
            raise RequestError(self.reason)
        return self.forecast


def recommend(
    domain: Domain,
    records: float | None,
    budget: Budget,
    question: Question,
    *,
    label: str | None = None,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> list[Recommendation]:
    """Every mechanism for a question, the best first, those that cannot answer last.

    RequestError when a guess is out of range, or no mechanism can answer.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    records : float | None
        How many there are at least, as anybody may know.
    budget : Budget
        The promise.
    question : Question
        What is asked.
    label : str | None
        The column that says the class of a record, where each class gets a table of its own.
    density, sample, set_size : float | None, object, float | None
        See `core.releases.forecast.forecast.forecast`.

    Examples
    --------
    >>> from core import Budget, Domain, kernels
    >>> best, *_ = recommend(Domain.of(x=(0, 100)), 5000, Budget(1), Closeness(kernels.Gaussian(5)))
    >>> best.name
    'histogram'
    """
    checked_records(records)
    if isinstance(question, Counts):
        return [_counting(domain, checked_records(records), budget, question)]
    if isinstance(question, Regressions):
        products = sums_of_products(domain)
        return [
            Recommendation(products.name, products, forecast(products, budget, records), reason_of_products(products))
        ]
    if question.answers == "closeness":
        checked_density(density)
    compared = domain if label is None else domain.without(label)
    possible: list[Recommendation] = []
    impossible: list[Recommendation] = []
    facts = question.facts(compared, budget)
    for candidate in registry.candidates(facts):
        name = candidate.name
        try:
            sketch = cast(LinearSketch, candidate.made_from(facts))  # what recommends itself chooses nothing
            candidate.check(sketch)
            sketch = sketch if label is None else Classes.of(domain, label, sketch)
            guessed = (records, density, sample, set_size)
            made, stopped_by = (sketch, "") if sketch.sized else limited_size(sketch, budget, *guessed)
            outlook = forecast(made, budget, *guessed)
            possible.append(Recommendation(name, cast(LinearSketch, made), outlook, "", stopped_by))
        except RequestError as problem:
            impossible.append(Recommendation(name, None, None, str(problem)))
    if not possible:
        raise RequestError(f"No mechanism can answer this. {impossible[0].reason if impossible else ''}".strip())
    unknown = density is None and sample is None and len(possible) > 1
    errors = [
        (*one.outlook.errors, *(close_errors(one.answering, budget, checked_records(records)) if unknown else ()))
        for one in possible
    ]
    return [*_explained(_ranked(possible, errors)), *impossible]


def _counting(domain: Domain, records: float, budget: Budget, question: Counts) -> Recommendation:
    """The tables of all columns, whose pairs follow from public sizes or are chosen under the promise."""
    choosing = question.choosing and not question.by
    if choosing and (found := chosen_pairs(domain, records, budget)):
        chooser, expected = found
        said = reason_of_choice(chooser, records, budget)
        return Recommendation(chooser.name, chooser.alike_under(budget), expected, said, chooser=chooser)
    tables, expected = whole_table(domain, records, budget, question.by)
    return Recommendation(tables.name, tables, expected, reason(tables, records, budget, question.by))


def _ranked(possible: list[Recommendation], errors: list[tuple[float, ...]]) -> list[Recommendation]:
    """Those whose bandwidth may be chosen afterwards first, if that was asked for; then by the largest regret.

    Of those alike to the best, the smallest file comes first, then the shortest time.

    Which mechanism is best may depend on what the records are like. The regret of one is its error over that of the
    best one for the same kind of records, and the largest over all kinds is what a choice may cost.
    """
    regrets = {one.name: regret for one, regret in zip(possible, _regrets(possible, errors), strict=True)}
    least = min(regrets.values())

    def rank(one: Recommendation) -> tuple[float, ...]:
        seen, regret = one.outlook, regrets[one.name]
        fixed = not one.answering.open_bandwidth
        return (fixed, 0.0, seen.file_bytes, seen.seconds) if regret <= TIE * least else (fixed, regret, 0.0, 0.0)

    return sorted(possible, key=rank)


def _regrets(possible: list[Recommendation], errors: list[tuple[float, ...]]) -> list[float]:
    """The largest ratio of each one's error to the least, over kinds of records, of their errors for each kind."""
    if len({len(own) for own in errors}) > 1:  # a rehearsal knows one kind of records only
        errors = [(one.outlook.standard_error,) for one in possible]
    least = [min(column) for column in zip(*errors, strict=True)]
    return [max(own / best for own, best in zip(row, least, strict=True)) for row in errors]


def _explained(ranked: list[Recommendation]) -> list[Recommendation]:
    best = ranked[0]
    first = replace(best, reason=_first_reason(ranked))
    return [first, *(replace(other, reason=_other_reason(other, best)) for other in ranked[1:])]


def _first_reason(ranked: list[Recommendation]) -> str:
    best, *others = ranked
    why = card(best.name).because(best.answering.one_answer[0])
    if best.answering.open_bandwidth:
        return (
            f"{_titled(best.name)} best here: whoever has the file may choose how finely to look, and at the usual "
            f"distance an error of {best.outlook.error_words} is expected."
        )
    error = best.outlook.error_words
    if not others:
        return f"{_titled(best.name)} the only mechanism for this, {why}: an error of {error} is expected."
    second = others[0]
    against = f"{error} against {second.outlook.error_words} for {_named(second.name)}"
    if second.outlook.standard_error * TIE < best.outlook.standard_error:
        return (
            f"{_titled(best.name)} safest here, as the error is never far from the least, however the records lie: "
            f"{against}."
        )
    if second.outlook.standard_error <= TIE * best.outlook.standard_error:
        smaller = ", and the file is smaller" if best.outlook.file_bytes < second.outlook.file_bytes else ""
        return f"{_titled(best.name)} as good as {_named(second.name)} here{smaller}: {against}."
    return f"{_titled(best.name)} best here, {why}: {against}."


def _other_reason(one: Recommendation, best: Recommendation) -> str:
    seen = one.outlook
    error = f"An error of {seen.error_words} is expected"
    ratio = seen.standard_error / best.outlook.standard_error
    if ratio * TIE < 1.0:
        return f"{error}, less than with {_named(best.name)}, but far more where records lie otherwise than expected."
    if ratio <= TIE:
        larger = ", and a larger file" if seen.file_bytes > best.outlook.file_bytes else ""
        return f"{error}, much as with {_named(best.name)}{larger}."
    source = "noise" if seen.noise_error > seen.sampling_error else card(one.name).otherwise
    times = f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
    return f"{error}, {times} times that of {_named(best.name)}; most of it is {source}."


def _named(name: str) -> str:
    return card(name).called


def _titled(name: str) -> str:
    """The beginning of a sentence about a mechanism, up to its verb."""
    named = _named(name)
    return f"{named[0].upper()}{named[1:]} {'are' if card(name).several else 'is'}"
