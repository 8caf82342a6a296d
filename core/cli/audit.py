"""`audit`: an attack on the noise of a mechanism, to find out whether it keeps its promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer
from typer import Option

from ..errors import RequestError
from .data_options import DataOptions, GuessOptions
from .declaring import declared_sketch, with_size
from .exit_codes import FAULT
from .mechanisms import mechanism_name, options_of
from .output import print_json, spinner
from .promise_options import PromiseOptions, grouped, typed
from .sketch_options import SketchOptions

SMALL = {"rows": 4, "width": 8}
"""The table that is attacked unless another one was typed: the more rows share the loss, the less one attack sees."""
EXAMPLE = {"bounds": ["x=0:1"]}
"""The columns that are attacked where the mechanism is not named."""
EXAMPLE_BANDWIDTH, EXAMPLE_NORM = "0.25", "l1"


@grouped
def audit(
    promise: PromiseOptions,
    data: DataOptions,
    shape: SketchOptions,
    runs: Annotated[
        int | None,
        Option(
            help="Runs of the noise on each of two neighbouring data sets; 20,000 without it, or 2,000 of mechanisms "
            "that choose under noise. Of fewer, fewer releases are made end to end as well.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[float, Option(help="Probability with which the bound that is found holds.")] = 0.95,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Attack a mechanism end to end, and bound its true epsilon from below; exit code 1 when it breaks its promise.

    Two neighbouring data sets are made up, the mechanism runs many times on both, and dozens of releases of them are
    planned, paid for in a ledger of their own, saved and opened again. Without columns an example of one
    column (or three, where columns are chosen) is attacked, and without --rows, --width and --size a small table, in
    which one attack sees the most.
    """
    from ..releases.audit import audit_release
    from ..releases.job import kind_of
    from ..sketches.registry import card

    example = not typed(data)
    if example and shape.like is None and not shape.part:
        name = mechanism_name(shape)
        columns: Mapping[str, Any] = EXAMPLE if name == "auto" else card(name).example
        data = replace(data, **columns)
    if shape.like is None and not shape.part:
        shape = replace(shape, **_example(shape, example, data.items is not None))
    budget = promise.budget()
    try:
        declared = declared_sketch(data, shape, budget)
    except RequestError:
        if shape.rows != SMALL["rows"]:
            raise
        declared = declared_sketch(data, replace(shape, rows=None), budget)  # one that needs more rows than that
    sketch = with_size(declared, budget, GuessOptions(records=10_000), shape.groups)
    with spinner(f"Attacking {sketch.name}"):
        report = audit_release(kind_of(sketch, budget), runs=runs, level=level)
    if json:
        print_json(report.to_dict())
    else:
        print(report.sentence)
    if not report.passed:
        raise typer.Exit(FAULT)


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
