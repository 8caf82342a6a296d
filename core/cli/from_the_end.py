"""The promise of a release whose owner says what is needed instead of epsilon: `--error`, `--visible`, `--harm`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import RequestError
from .declaring import declared_domain, declared_sketch, like
from .mechanisms import recommended, supposing
from .output import say
from .shared_options import DataOptions, GuessOptions, NeedOptions, PromiseOptions, refuse_typed, typed
from .sketch_options import SketchOptions

if TYPE_CHECKING:
    from ..privacy.budget import Budget
    from ..releases.forecast.forecast import Forecast
    from ..sketches.adaptive import Adaptive
    from ..sketches.linear import LinearSketch


def check_said(promise: PromiseOptions, need: NeedOptions) -> None:
    """RequestError unless something decides the promise, and one thing alone."""
    if promise.epsilon is not None:
        refuse_typed(typed(need), "--epsilon says the promise already")
    elif not typed(need):
        raise RequestError("--epsilon must say how much privacy may be lost, or --error, --visible or --harm why.")


def promised(
    promise: PromiseOptions, need: NeedOptions, data: DataOptions, shape: SketchOptions, guess: GuessOptions
) -> Budget:
    """The promise that was typed, or the smallest that does what is needed, which is said."""
    check_said(promise, need)
    otherwise = "add_remove" if shape.like is None else like(shape).privacy.neighbours.value
    if promise.epsilon is not None:
        return promise.budget(otherwise)
    if need.harm is not None:
        refuse_typed([one for one in typed(need) if one != "--harm"], "--harm decides the promise")
        found = replace(promise, epsilon=_of_harm(need.harm)).budget(otherwise)
        say(f"For --harm {need.harm} the largest promise is ε = {found.epsilon:f}.")
        return found
    return _solved(promise, need, data, shape, guess, otherwise)


def _solved(
    promise: PromiseOptions,
    need: NeedOptions,
    data: DataOptions,
    shape: SketchOptions,
    guess: GuessOptions,
    otherwise: str,
) -> Budget:
    from ..releases.forecast.budget_for import budget_for, seen_of

    if guess.records is None:
        raise RequestError(
            f"{typed(need)[0]} needs --records, a number of records that anybody may know, as errors follow from it "
            "and none is counted before there is a promise."
        )

    def seen(budget: Budget, records: float) -> Sequence[Forecast]:
        supposed = replace(guess, records=records)
        sketch: LinearSketch | Adaptive
        if shape.mechanism == "auto" and shape.like is None and not shape.part:
            domain = declared_domain(data, shape)
            sketch, _ = recommended(shape, domain, budget, supposing(shape, domain, supposed))
        else:
            sketch = declared_sketch(data, shape, budget, supposed)
        one = sketch if sketch.chooses or sketch.parts else sketch.one_answer[0]
        sample = None if sketch.parts else guess.public_sample(one.domain)
        return seen_of(sketch, budget, records, guess.density, sample, guess.set_size)

    solution = budget_for(
        seen,
        records=guess.records,
        error=need.error,
        visible=need.visible,
        delta=promise.delta,
        neighbours=promise.neighbours or otherwise,
    )
    say(solution.sentence)
    return solution.budget


def _of_harm(text: str) -> str:
    """The epsilon of two chances."""
    from ..releases.forecast.budget_for import epsilon_of_harm

    chances = [_chance(part) for part in text.split(":")]
    if len(chances) != 2:
        raise RequestError("--harm takes two chances, before and after, such as 1%:3%.")
    return f"{epsilon_of_harm(*chances):.3f}"


def _chance(text: str) -> float:
    try:
        return float(text.strip().removesuffix("%")) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        raise RequestError("--harm takes two chances, before and after, such as 1%:3%.") from None
