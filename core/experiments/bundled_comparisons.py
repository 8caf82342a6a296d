"""What was measured once on the bundled samples, kept beside them, so that their curves are there at once.

A comparison takes minutes of a processor. Its noise and its hashes come from seeds that belong to each trial, so who
tries a step again gets the same errors, and only times differ from one computer to another. A step that is not among
those kept, such as one at another ε, is tried as ever.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..machine.files.transient import unfinished
from ..sources.samples import FOLDER
from .comparison_plan import Advice, Outcome, Step
from .comparison_results import Trial

COMPARISONS = FOLDER / "comparisons"  # The folder with a file of outcomes for each bundled sample.
MOST_DRAWS = 3  # Releases of a method whose functions are kept; they are most of a file.
FINE = 1000  # Functions are kept to a thousandth of their largest value, more than a picture shows.
_OF_STEP = tuple(field.name for field in fields(Step))
# Names of a trial's measurements, which are kept beside the facts of its step.
_MEASURED = (
    "relative_error",
    "upper_error",
    "l2_error",
    "seconds_build",
    "seconds_noise",
    "seconds_query",
    "file_bytes",
)
_TYPES = pa.schema(
    [
        ("comparison", pa.dictionary(pa.int8(), pa.string())),
        ("method", pa.dictionary(pa.int8(), pa.string())),
        ("epsilon", pa.dictionary(pa.int8(), pa.string())),
        ("delta", pa.dictionary(pa.int8(), pa.string())),
        ("size", pa.int64()),
        ("repetition", pa.int16()),
        *((name, pa.bool_()) for name in ("tuning", "drawn", "sizing", "advising")),
        ("problem", pa.string()),
        ("seconds", pa.float32()),
        *((name, pa.float32()) for name in _MEASURED[:-1]),
        ("file_bytes", pa.int64()),
        ("sizes", pa.list_(pa.int64())),
        ("advised", pa.string()),
        ("reason", pa.string()),
        ("functions", pa.list_(pa.int16())),
        ("draws", pa.int8()),
        ("unit", pa.float64()),
    ]
)


def keep(path: Path, comparisons: Mapping[str, Mapping[Step, Outcome]]) -> None:
    """Write what is known of several comparisons of one sample, by their identities."""
    rows = [
        {"comparison": identity} | _row(step, outcome)
        for identity, known in comparisons.items()
        for step, outcome in known.items()
    ]
    path.parent.mkdir(exist_ok=True)
    with unfinished(path) as file:  # what is there stays whole when this is stopped
        pq.write_table(pa.Table.from_pylist(rows, schema=_TYPES), file, compression="zstd", compression_level=19)


def bundled(identity: str) -> dict[Step, Outcome]:
    """What is kept of a comparison, which begins with the name of its sample; nothing where nothing is."""
    path = COMPARISONS / f"{identity.split(' ', 1)[0]}.parquet"
    if not path.is_file():
        return {}
    rows = pq.read_table(path, filters=[("comparison", "==", identity)]).to_pylist()
    return {step: outcome for step, outcome in map(_outcome, rows)}


def _row(step: Step, outcome: Outcome) -> dict[str, object]:
    row = asdict(step) | {"problem": outcome.problem, "seconds": outcome.seconds}
    row |= {"epsilon": str(step.epsilon), "delta": str(step.delta)}
    value = outcome.value
    if isinstance(value, Trial):
        return row | {name: getattr(value, name) for name in _MEASURED}
    if isinstance(value, Advice):
        return row | {"advised": value.method, "reason": value.reason}
    if isinstance(value, np.ndarray):
        kept = value[:MOST_DRAWS]
        unit = float(np.abs(kept).max()) / FINE or math.ulp(0.0)
        return row | {"functions": np.rint(kept / unit).astype(np.int16).ravel(), "draws": len(kept), "unit": unit}
    return row | {"sizes": value}


def _outcome(row: dict) -> tuple[Step, Outcome]:
    facts = {name: row[name] for name in _OF_STEP}
    step = Step(**facts | {"epsilon": Decimal(row["epsilon"]), "delta": Decimal(row["delta"])})
    return step, Outcome(_value(step, row), row["problem"], row["seconds"])


def _value(step: Step, row: dict) -> Trial | Advice | np.ndarray | tuple[int | None, ...] | None:
    if row["problem"] is not None:
        return None
    if step.sizing:
        return tuple(row["sizes"])
    if step.advising:
        return Advice(row["advised"], row["reason"])
    if step.drawn:
        return np.reshape(row["functions"], (row["draws"], -1)) * row["unit"]
    measured = {name: row[name] for name in _MEASURED}
    of_step = step.method, step.size, float(step.epsilon), float(step.delta), step.repetition, step.tuning
    return Trial(*of_step, **measured)
