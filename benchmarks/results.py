"""Results as JSON: every repetition of everything that was measured, with the machine and the day of each benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from .measuring import Comparison, Curve, Published, Rival, Target

FORMAT = 1
DIGITS = 5
"""Significant digits of what is written; timings have no more."""


@dataclass(frozen=True)
class Results:
    """What one benchmark measured in one run."""

    benchmark: str
    machine: dict
    comparisons: tuple[Comparison, ...]
    curves: tuple[Curve, ...] = ()
    quick: bool = False
    scale: float = 1.0
    day: str = ""

    @classmethod
    def of(
        cls, benchmark: str, machine: dict, found: list[Comparison | Curve], quick: bool = False, scale: float = 1.0
    ) -> Results:
        """What a benchmark yielded, today."""
        comparisons = tuple(one for one in found if isinstance(one, Comparison))
        curves = tuple(one for one in found if isinstance(one, Curve))
        return cls(benchmark, machine, comparisons, curves, quick, scale, datetime.now(UTC).date().isoformat())


def read(file: Path) -> dict[str, Results]:
    """The results in a file, by benchmark; none when there is no file, or one of another format."""
    if not file.exists():
        return {}
    facts = json.loads(file.read_text())
    if facts.get("format") != FORMAT:
        return {}
    return {one["benchmark"]: _results(one) for one in facts["benchmarks"]}


def write(file: Path, results: Iterable[Results]) -> None:
    """Put results into a file; what it has of other benchmarks stays."""
    kept = read(file) | {one.benchmark: one for one in results}
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, "benchmarks": [_rounded(asdict(one)) for one in kept.values()]}, indent=1)
    file.write_text(text + "\n")


def _rounded(value: object) -> object:
    """The same with floats of `DIGITS` digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def _results(facts: dict) -> Results:
    comparisons = tuple(_comparison(one) for one in facts.pop("comparisons"))
    curves = tuple(_curve(one) for one in facts.pop("curves"))
    return Results(**facts, comparisons=comparisons, curves=curves)


def _comparison(facts: dict) -> Comparison:
    sides = {
        side: tuple(Rival(one["name"], tuple(one["values"])) for one in facts[side]) for side in ("rivals", "limits")
    }
    beside = {"published": tuple(Published(**one) for one in facts["published"])}
    beside["targets"] = tuple(Target(**one) for one in facts["targets"])
    return Comparison(**facts | beside | sides | {"values": tuple(facts["values"])})


def _curve(facts: dict) -> Curve:
    curve = Curve(**facts)
    return replace(curve, at=tuple(curve.at), values=tuple(map(tuple, curve.values)))
