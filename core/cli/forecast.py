"""`forecast`: how good a release will be, before anything is spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

from typer import Option

from .declaring import declared_sketch
from .grouped import grouped
from .options import DataOptions, GuessOptions, PromiseOptions, SketchOptions
from .output import print_json, print_table

if TYPE_CHECKING:
    from ..forecast import Forecast
    from ..privacy.budget import Budget
    from ..sketches.race import Race

SLACK = Decimal("0.000001")
"""The δ of the second column when none was typed."""
FACTORS = (Decimal("0.1"), Decimal("0.3"), Decimal(1), Decimal(3), Decimal(10))
"""The epsilons shown, as multiples of the one that was typed."""
LEAST_EPSILON, LARGEST_EPSILON = Decimal("1e-12"), Decimal(100)


@grouped
def forecast(
    promise: PromiseOptions,
    data: DataOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what error to expect, from public facts alone: nothing is read and nothing is spent.

    Pure epsilon and (epsilon, delta) are shown side by side. Rows that --rows does not fix are chosen for each of them.
    """
    sketch, asked = declared_sketch(data, shape), promise.budget()
    slack = SLACK if asked.pure else asked.delta
    curve = {
        pure.epsilon: [_forecast(sketch, promised, guess) for promised in (pure, replace(pure, delta=slack))]
        for pure in _promises(asked)
    }
    pure, loose = curve[asked.epsilon]
    if json:
        print_json(_facts(curve, asked, slack))
        return
    print(f"About {pure.records:,.0f} records, {_closeness(guess, pure)}; hiding under {asked.neighbours}.")
    heads = ("", f"ε = {asked.epsilon:f}", f"ε = {asked.epsilon:f}, δ = {slack:g}")
    print_table(heads, [(name, *map(words, (pure, loose))) for name, words in FIGURES.items()])
    print_table(
        ("ε", "relative error", "rows", f"with δ = {slack:g}", "rows"),
        [(f"{epsilon:f}", *(words for one in both for words in (_percent(one.relative_error), f"{one.rows:,}")))
         for epsilon, both in curve.items()],
    )


def _promises(asked: Budget) -> list[Budget]:
    """Pure promises of about the epsilon asked for, and of that one."""
    epsilons = (asked.epsilon * factor for factor in FACTORS)
    possible = [epsilon for epsilon in epsilons if LEAST_EPSILON <= epsilon <= LARGEST_EPSILON]
    return [replace(asked, epsilon=epsilon, delta=0) for epsilon in possible]


def _forecast(sketch: Race, budget: Budget, guess: GuessOptions) -> Forecast:
    from ..forecast import forecast

    return forecast(sketch, budget, guess.records, guess.density)


def _closeness(guess: GuessOptions, found: Forecast) -> str:
    stated = "stated" if guess.density is not None else "assumed, as --density says nothing"
    return f"two of them {_percent(found.density)} close on average ({stated})"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


FIGURES: dict[str, Callable[[Forecast], str]] = {
    "rows × columns": lambda one: f"{one.rows:,} × {one.columns:,}",
    "a typical answer": lambda one: f"{one.estimate:,.0f}",
    "relative error": lambda one: _percent(one.relative_error),
    "error from noise (sd)": lambda one: f"{one.noise_error:,.1f}",
    "error from sampling (sd)": lambda one: f"{one.sampling_error:,.1f}",
    "looks empty below": lambda one: f"{one.empty_below:,.0f}",
    "number of records known to (sd)": lambda one: f"± {one.records_error:,.0f}",
    "file": lambda one: f"{one.file_bytes / 1e6:,.2f} MB",
    "time on two cores": lambda one: f"{one.seconds:,.1f} s",
}
"""What is shown of a forecast, in words."""


def _facts(curve: dict[Decimal, list[Forecast]], asked: Budget, slack: Decimal) -> dict[str, object]:
    pure, loose = curve[asked.epsilon]
    return {
        "epsilon": f"{asked.epsilon:f}",
        "delta": f"{slack:f}",
        "neighbours": str(asked.neighbours),
        "pure": asdict(pure),
        "with_delta": asdict(loose),
        "curve": [
            {"epsilon": f"{epsilon:f}", "pure": one.relative_error, "with_delta": other.relative_error}
            for epsilon, (one, other) in curve.items()
        ],
    }
