"""`audit`: an attack on the noise of a mechanism, to find out whether it keeps its promise."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer
from typer import Option

from .declaring import declared_sketch, with_size
from .endings import FAULT
from .grouped import grouped
from .mechanisms import OPTIONS, mechanism_name
from .options import DataOptions, GuessOptions, PromiseOptions, SketchOptions, typed
from .output import print_json, spinner

SMALL = {"rows": 4, "width": 8}
"""The table that is attacked unless another one was typed: the more rows share the loss, the less one attack sees."""
EXAMPLE = {"bounds": ["x=0:1"]}
EXAMPLE_OF_SETS = {"items": "items"}
EXAMPLE_BANDWIDTH = "0.25"


@grouped
def audit(
    promise: PromiseOptions,
    data: DataOptions,
    shape: SketchOptions,
    runs: Annotated[int, Option(help="Runs on each of two neighbouring data sets.")] = 20_000,
    level: Annotated[float, Option(help="Probability with which the bound that is found holds.")] = 0.95,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Attack a mechanism end to end, and bound its true epsilon from below; exit code 1 when it breaks its promise.

    Two neighbouring data sets are made up, and the mechanism runs many times on both. Without columns an example of one
    column is attacked, and without --rows and --width a small table, in which one attack sees the most.
    """
    from ..sketches.audit import audit_sketch

    example = not typed(data)
    if example and shape.like is None:
        data = replace(data, **(EXAMPLE_OF_SETS if mechanism_name(shape) == "minhash" else EXAMPLE))
    if shape.like is None:
        shape = replace(shape, **_example(shape, example, data.items is not None))
    budget = promise.budget()
    sketch = with_size(declared_sketch(data, shape, budget), budget, GuessOptions(), shape.groups)
    with spinner(f"Drawing {2 * runs:,} noisy tables of {' × '.join(f'{side:,}' for side in sketch.shape)}"):
        report = audit_sketch(sketch, budget, runs=runs, level=level)
    if json:
        print_json(report.to_dict())
    else:
        print(report.sentence)
    if not report.passed:
        raise typer.Exit(FAULT)


def _example(shape: SketchOptions, example: bool, sets: bool) -> dict[str, object]:
    """What is filled in where nothing was typed: a small table, and a bandwidth for the example column."""
    filled: dict[str, object] = dict(SMALL)
    if example and shape.kernel != "angular":
        filled["bandwidth"] = EXAMPLE_BANDWIDTH
    possible = OPTIONS[mechanism_name(shape, sets)]
    given = typed(shape)
    return {name: value for name, value in filled.items() if f"--{name}" in possible and f"--{name}" not in given}
