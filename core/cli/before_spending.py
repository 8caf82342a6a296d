"""What is found out before anything is spent: `recommend` and `forecast`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, cast

from typer import Option

from ..formatting.numbers import percent, size
from .declaring import declared_domain, declared_sketch, like
from .from_the_end import promised
from .mechanisms import check_options, evenly_compared, leaves_bandwidth, question, supposing, warn_of_wide_column
from .output import print_json, print_table, say
from .shared_options import DataOptions, GuessOptions, NeedOptions, PromiseOptions
from .sketch_options import ClassOptions, KernelOptions, NormOptions, SketchOptions

if TYPE_CHECKING:
    from ..privacy.budget import Budget
    from ..releases.forecast.forecast import Forecast
    from ..releases.forecast.recommendation import Recommendation
    from ..sketches.adaptive import Adaptive
    from ..sketches.linear import LinearSketch
    from ..sketches.parts import Parts

SLACK = Decimal("0.000001")  # The δ of the second column when none was typed.
# The epsilons shown, as multiples of the one that was typed.
FACTORS = (Decimal("0.1"), Decimal("0.3"), Decimal(1), Decimal(3), Decimal(10))
LEAST_EPSILON, LARGEST_EPSILON = Decimal("1e-12"), Decimal(100)


@dataclass(frozen=True)
class Expected:
    """A mechanism of a settled size, and what it promises to answer."""

    sketch: LinearSketch | Adaptive
    forecast: Forecast
    stopped_by: str = ""

    @property
    def table(self) -> str:
        """The size of the table in words."""
        from ..figures.meaning import table

        made = self._sketch
        return f"{self.size} counters, chosen under noise" if made is None else table(made)

    @property
    def size(self) -> str:
        """The number of counters, by their sides."""
        made = self._sketch
        return f"{self.forecast.columns:,}" if made is None else " × ".join(f"{side:,}" for side in made.shape)

    @property
    def _sketch(self) -> LinearSketch | None:
        """The sketch; None where something is chosen before there is one, and the forecast knows one of its size."""
        return None if self.sketch.chooses else self.sketch


def forecast(
    promise: PromiseOptions,
    need: NeedOptions,
    data: DataOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what error to expect, from public facts alone: nothing is read and nothing is spent.

    Pure epsilon and (epsilon, delta) are shown side by side. Rows that --rows does not fix are chosen for each of them.
    """
    from ..releases.forecast.expected_answers import size_limit

    asked = promised(promise, need, data, shape, guess)
    slack = SLACK if asked.pure else asked.delta
    if guess.records is None and shape.like is not None:
        guess = replace(guess, records=like(shape).records)  # which is public
    parts = _parts(data, shape, asked, guess)
    if parts is not None:
        _of_parts(parts, asked, slack, guess, json)
        return
    settled = None
    if shape.mechanism == "auto":
        settled = declared_sketch(data, shape, asked, supposing(shape, declared_domain(data, shape), guess))

    def expected(budget: Budget) -> Expected:
        return _expected(settled or declared_sketch(data, shape, budget), budget, guess)

    curve = {
        pure.epsilon: [expected(promised) for promised in (pure, replace(pure, delta=slack))]
        for pure in _promises(asked)
    }
    compared = curve[asked.epsilon][0].sketch.domain
    if shape.like is None and not leaves_bandwidth(shape, compared):
        warn_of_wide_column(data, compared, shape.bandwidth)
    if json:
        print_json(_facts(curve, asked, slack))
        return
    both = curve[asked.epsilon]
    print(_opening(both[0], guess, asked))
    heads = ("", f"ε = {asked.epsilon:f}", f"ε = {asked.epsilon:f}, δ = {slack:g}")
    figures = FIGURES | FURTHER[both[0].forecast.answers]
    print_table(heads, [(name, *map(words, both)) for name, words in figures.items()])
    promises = (replace(asked, delta=Decimal(0)), replace(asked, delta=slack))
    said = [(_hidden(one, promised), size_limit(one.stopped_by)) for one, promised in zip(both, promises, strict=True)]
    for line in dict.fromkeys(line for lines in said for line in lines if line):
        print(line)
    print_table(
        ("ε", "relative error", "counters", f"with δ = {slack:g}", "counters"),
        [
            (f"{epsilon:f}", *(words for one in both for words in (percent(one.forecast.relative_error, 3), one.size)))
            for epsilon, both in curve.items()
        ],
    )


def _parts(data: DataOptions, shape: SketchOptions, asked: Budget, guess: GuessOptions) -> Parts | None:
    """The parts that were typed, or those of the release that is to be like another; None where there are none."""
    if not shape.part and (shape.like is None or not like(shape).parts):
        return None
    made = declared_sketch(data, shape, asked, guess)
    return cast("Parts", made) if made.parts else None


def _of_parts(parts: Parts, asked: Budget, slack: Decimal, guess: GuessOptions, json: bool) -> None:
    """What to expect of every part, with its share, without a delta and with one."""
    from ..figures.meaning import table
    from ..releases.forecast.forecast_shares import forecast_parts, settle
    from ..sketches.part import joined
    from ..sketches.plan import plan_parts

    sample = guess.public_sample(joined([part.sketch.query_domain for part in parts.parts]))
    guesses = (guess.records, guess.density, sample, guess.set_size)
    facts: dict[str, object] = {}
    for name, budget in (("pure", replace(asked, delta=Decimal(0))), ("with_delta", replace(asked, delta=slack))):
        made = settle(parts, budget, *guesses)
        shares, seen = plan_parts(made, budget).shares, forecast_parts(made, budget, *guesses)
        facts[name] = {
            one: {"share": float(share)} | asdict(seen[one]) for one, share in zip(seen, shares, strict=True)
        }
        if not json:
            print(f"ε = {budget.epsilon:f}" + ("" if budget.pure else f", δ = {slack:g}"))
            rows = [
                (part.name, percent(float(share), 2), seen[part.name].error_words, table(part.sketch))
                for part, share in zip(made.parts, shares, strict=True)
            ]
            print_table(("part", "share of the budget", "error of an answer (sd)", "table"), rows)
    if json:
        print_json(
            {"epsilon": f"{asked.epsilon:f}", "delta": f"{slack:f}", "neighbours": str(asked.neighbours)} | facts
        )


def _promises(asked: Budget) -> list[Budget]:
    """Pure promises of about the epsilon asked for, and of that one."""
    epsilons = (asked.epsilon * factor for factor in FACTORS)
    possible = [epsilon for epsilon in epsilons if LEAST_EPSILON <= epsilon <= LARGEST_EPSILON]
    return [replace(asked, epsilon=epsilon, delta=Decimal(0)) for epsilon in possible]


def _expected(sketch: LinearSketch | Adaptive, budget: Budget, guess: GuessOptions) -> Expected:
    from ..releases.forecast.forecast import forecast
    from ..releases.forecast.sketch_sizes import limited_size

    one, _ = sketch.one_answer
    guessed = {
        "records": guess.records,
        "density": guess.density,
        "sample": guess.public_sample(one.domain),
        "set_size": guess.set_size,
    }
    sized, stopped_by = (sketch, "") if sketch.sized else limited_size(sketch, budget, **guessed)
    return Expected(sized, forecast(sized, budget, **guessed), stopped_by)


def _hidden(one: Expected, budget: Budget) -> str:
    """Which columns' own distances the noise hides; "" without any."""
    from ..releases.forecast.expected_answers import column_errors, drowned_columns
    from ..sketches.plan import plan

    if one.sketch.chooses:
        return ""
    whole = one.forecast.records / one.sketch.one_answer[1]
    return drowned_columns(column_errors(one.sketch, plan(one.sketch, budget).noise, whole))


def _opening(one: Expected, guess: GuessOptions, asked: Budget) -> str:
    """What the forecast is about, as a sentence."""
    records = f"{one.forecast.records:,.0f} records{' a class' if one.sketch.count_shape else ''}"
    hiding = f"hiding under {asked.neighbours}."
    if one.forecast.answers == "distance":
        return f"{records}; {hiding}"
    stated = (
        "as in the sample"
        if guess.sample is not None
        else "stated"
        if guess.density is not None
        else "assumed, as neither --density nor --sample says more"
    )
    return f"{records}, two of them {percent(one.forecast.density, 3)} close on average ({stated}); {hiding}"


# What is shown of a forecast, in words.
FIGURES: dict[str, Callable[[Expected], str]] = {
    "table": lambda one: one.table,
    "error of an answer (sd)": lambda one: one.forecast.error_words,
    "of one answer (sd)": lambda one: one.forecast.answer_words,
    "of that from noise (sd)": lambda one: f"{one.forecast.noise_error:,.4g}",
    "of that from sampling (sd)": lambda one: f"{one.forecast.sampling_error:,.4g}",
    "number of records known to (sd)": lambda one: f"± {one.forecast.records_error:,.0f}",
    "file": lambda one: f"{one.forecast.file_bytes / 1e6:,.2f} MB",
    "time on two cores": lambda one: f"{one.forecast.seconds:,.1f} s",
}
# What is shown besides, by what is summed.
FURTHER: dict[str, dict[str, Callable[[Expected], str]]] = {
    "closeness": {
        "typical answer": lambda one: f"{one.forecast.estimate:,.0f}",
        "looks empty below": lambda one: f"{one.forecast.empty_below:,.0f}",
    },
    "distance": {
        "typical average distance": lambda one: f"{one.forecast.density:,.4g}",
        "error of an average (sd)": lambda one: f"{one.forecast.standard_error / one.forecast.records:,.3g}",
    },
}


def _facts(curve: dict[Decimal, list[Expected]], asked: Budget, slack: Decimal) -> dict[str, object]:
    both = curve[asked.epsilon]
    pure, loose = (one.forecast for one in both)
    return {
        "epsilon": f"{asked.epsilon:f}",
        "delta": f"{slack:f}",
        "neighbours": str(asked.neighbours),
        "pure": asdict(pure) | {"stopped_by": both[0].stopped_by},
        "with_delta": asdict(loose) | {"stopped_by": both[1].stopped_by},
        "curve": [
            {
                "epsilon": f"{epsilon:f}",
                "pure": one.forecast.relative_error,
                "with_delta": other.forecast.relative_error,
            }
            for epsilon, (one, other) in curve.items()
        ],
    }


def recommend(
    promise: PromiseOptions,
    data: DataOptions,
    kernel: KernelOptions,
    norm: NormOptions,
    classes: ClassOptions,
    guess: GuessOptions,
    radius: Annotated[
        float | None,
        Option(metavar="LENGTH", help="Records farther than this from the middle of the bounds are moved towards it."),
    ] = None,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Forecast every mechanism for a question from public facts, and list the best first: nothing is read or spent.

    With --norm the question is how far everyone is from a place, otherwise how many are close to it, by --kernel and
    --bandwidth; without a bandwidth, one to three columns of numbers are released so finely as the noise allows, and
    whoever has the file chooses it, and of more columns it is half of how far records lie apart by --spread. The first
    of the list is what --mechanism auto takes.
    """
    from ..releases.forecast.expected_answers import size_limit
    from ..releases.forecast.kernel_choice import recommend_encoder
    from ..releases.forecast.recommendation import Closeness
    from ..releases.forecast.recommendation import recommend as ranked

    asked = SketchOptions(**vars(kernel), **vars(norm), **vars(classes), radius=radius, mechanism="auto")
    check_options(asked, "auto")
    domain = evenly_compared(data, declared_domain(data, classes), norm.norm, radius)
    if not leaves_bandwidth(asked, domain):
        warn_of_wide_column(data, domain, kernel.bandwidth)
    sample = guess.public_sample(domain if classes.label is None else domain.without(classes.label))
    what, how_finely = question(asked, domain, promise.budget(), supposing(asked, domain, guess))
    for sentence in how_finely:
        say(sentence)
    found = ranked(
        domain,
        guess.records,
        promise.budget(),
        what,
        label=classes.label,
        density=guess.density,
        sample=sample,
        set_size=guess.set_size,
    )
    if json:
        print_json([_recommended(one) for one in found])
        return
    print_table(
        ("mechanism", "error", "of one answer", "file", "time", "table"), [_row(one) for one in found if one.forecast]
    )
    for one in found:
        print(one.reason if one is found[0] else f"{one.name}: {one.reason}")
    if limit := size_limit(found[0].stopped_by):
        print(limit)
    if sample is not None and classes.label is None and isinstance(what, Closeness):
        least = found[0].outlook.standard_error
        if encoded := recommend_encoder(domain, guess.records, promise.budget(), what, sample, least):
            print(f"{encoded.reason} It is made in Python, by recommend_encoder.")


def _row(one: Recommendation) -> tuple[str, ...]:
    from ..figures.meaning import table

    seen = one.outlook
    return (
        one.name,
        seen.error_words,
        seen.answer_words,
        size(seen.file_bytes),
        f"{seen.seconds:,.1f} s",
        table(one.answering),
    )


def _recommended(one: Recommendation) -> dict[str, object]:
    return {
        "mechanism": one.name,
        "reason": one.reason,
        "stopped_by": one.stopped_by,
        "parameters": None if one.sketch is None else one.sketch.parameters(),
        "forecast": None if one.forecast is None else asdict(one.forecast),
    }
