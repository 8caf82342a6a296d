"""`audit`: exact replay of a mechanism, and an attack on it, to find out whether it keeps its promise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from ..errors import RequestError
from .declaring import declared_sketch, with_size
from .mechanisms import mechanism_name, options_of
from .output import print_json, spinner
from .shared_options import DataOptions, GuessOptions, PromiseOptions, typed
from .sketch_options import SketchOptions
from .spending import FAULT

if TYPE_CHECKING:
    from ..auditing.door_trials import Main
    from ..auditing.trials import Trial
    from ..privacy.budget import Budget

# The table that is attacked unless another one was typed: the more rows share the loss, the less one attack sees.
SMALL = {"rows": 4, "width": 8}
EXAMPLE = {"bounds": ["x=0:1"]}  # The columns that are attacked where the mechanism is not named.
EXAMPLE_BANDWIDTH, EXAMPLE_NORM = "0.25", "l1"


def audit(
    context: typer.Context,
    promise: PromiseOptions,
    data: DataOptions,
    shape: SketchOptions,
    runs: Annotated[
        int | None,
        Option(
            help="Runs of the noise on each of two neighbouring data sets; 20,000 without it, or 2,000 of mechanisms "
            "that choose under noise. Of fewer, fewer releases are made end to end as well."
        ),
    ] = None,
    level: Annotated[float, Option(help="Probability with which the bound that is found holds.")] = 0.95,
    exact: Annotated[
        bool, Option("--exact", help="Replay releases of neighbours with the same draws, and nothing else.")
    ] = False,
    all: Annotated[
        bool, Option("--all", help="With --exact: every mechanism, purchase, door, trainer and local report.")
    ] = False,
    train: Annotated[str | None, Option(help="With --exact: a method of `train`, or choose.", metavar="METHOD")] = None,
    local: Annotated[str | None, Option(help="With --exact: an oracle, sketch or search.", metavar="NAME")] = None,
    discover: Annotated[bool, Option("--discover", help="With --exact: finding out what nobody said.")] = False,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check that a mechanism keeps its promise, exactly and by an attack; exit code 1 when it does not.

    First the same release is made of neighbouring data sets with the same draws: whatever differs then was let out
    without noise, and what the draws hid must not cost more than was promised and paid. --exact ends there.

    Then comes an attack by statistics, which bounds the true epsilon from below and trusts no law of ours: the
    mechanism runs many times on both, and dozens of releases of them are
    planned, paid for in a ledger of their own, saved and opened again. Without columns an example of one
    column (or three, where columns are chosen) is attacked, and without --rows, --width and --size a small table, in
    which one attack sees the most.
    """
    others = sum((all, discover, train is not None, local is not None))
    if others:
        if others > 1 or typed(shape) or typed(data):
            raise RequestError(
                "--all, --discover, --train, --local and a mechanism are audited one at a time: name one of them."
            )
        _replayed(_chosen(promise.budget(), train, local, discover, context.find_root().command), json)
        return
    from ..auditing.trials import of_sketch
    from ..privacy.attacks import LEAST_RUNS, check_attack
    from ..releases.kind import kind_of
    from ..releases.release_audit import audit_release
    from ..sketches.registry import card

    check_attack(LEAST_RUNS if runs is None else runs, level)
    example = not typed(data)
    if example and shape.like is None:
        name = "auto" if shape.part else mechanism_name(shape)
        columns: Mapping[str, Any] = EXAMPLE if name == "auto" else card(name).example
        data = replace(data, **columns)
    if shape.like is None and not shape.part:
        shape = replace(shape, **_example(shape, example, data.items is not None))
    budget, supposed = promise.budget(), GuessOptions(records=10_000)
    try:
        declared = declared_sketch(data, shape, budget, supposed if shape.part else None)
    except RequestError:
        if shape.rows != SMALL["rows"]:
            raise
        declared = declared_sketch(
            data, replace(shape, rows=None), budget, supposed if shape.part else None
        )  # one that needs more rows than that
    sketch = with_size(declared, budget, supposed, shape.groups)
    verdict = _replayed([of_sketch(sketch.name, sketch, budget)], json and exact, quietly=json and not exact)
    if exact:
        return
    with spinner(f"Attacking {sketch.name}"):
        report = audit_release(kind_of(sketch, budget), runs=runs, level=level)
    if json:
        print_json(report.to_dict() | {"exact": verdict})
    else:
        print(report.sentence)
    if not report.passed:
        raise typer.Exit(FAULT)


def _chosen(budget: Budget, train: str | None, local: str | None, discover: bool, main: Main) -> Iterable[Trial]:
    """What is replayed where no mechanism is."""
    from ..auditing.door_trials import everything, of_local, of_trainer
    from ..auditing.purchase_trials import discoveries

    if discover:
        return discoveries(budget)
    if train is not None:
        return of_trainer(train, budget)
    return of_local(local, budget) if local is not None else everything(budget, main)


def _replayed(trials: Iterable[Trial], json: bool, quietly: bool = False) -> list[dict[str, Any]]:
    """Replay all, and say what was reached; exit code 1 where anything escaped or cost too much."""
    from ..auditing.trials import examine

    verdicts = []
    for trial in trials:
        with spinner(f"Replaying {trial.name}"):
            verdict = examine(trial, turned=True)
        verdicts.append(verdict.to_dict())
        if not (json or quietly):
            print(verdict.sentence, flush=True)
    if json:
        print_json({"passed": all_passed(verdicts), "trials": verdicts})
    elif quietly and not all_passed(verdicts):  # no attack follows, with which it would be printed
        print_json({"passed": False, "exact": verdicts})
    elif len(verdicts) > 1 and not quietly:
        replays, draws = (sum(verdict[name] for verdict in verdicts) for name in ("replays", "failed"))
        print(f"{len(verdicts):,} kinds of releases, {replays:,} replays, {draws:,} failed.")
    if not all_passed(verdicts):
        raise typer.Exit(FAULT)
    return verdicts


def all_passed(verdicts: list[dict[str, Any]]) -> bool:
    """Whether nothing is wrong with any."""
    return not any(verdict["failed"] for verdict in verdicts)


def _example(shape: SketchOptions, example: bool, sets: bool) -> dict[str, Any]:
    """What is filled in where nothing was typed: a small table, and a bandwidth for the example column."""
    filled: dict[str, object] = dict(SMALL)
    if example and shape.kernel != "angular":
        filled["bandwidth"] = EXAMPLE_BANDWIDTH
    if example:
        filled["norm"] = EXAMPLE_NORM
    from ..sketches.registry import card

    name = mechanism_name(shape, sets)
    possible = options_of(name)
    if "--size" in possible and card(name).sizes:
        filled["size"] = card(name).sizes[0]
    given = typed(shape)
    return {name: value for name, value in filled.items() if f"--{name}" in possible and f"--{name}" not in given}
