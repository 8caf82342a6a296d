"""Run every benchmark, print a table with ratios, and write benchmarks/results.json."""

from __future__ import annotations

import json
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table

from . import noise, race

RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    """Print and write what every benchmark measured."""
    rows = [row for benchmark in (race, noise) for row in benchmark.run()]
    table = Table("work", "seconds", "rival", "rival's seconds", "ratio", "note")
    for row in rows:
        table.add_row(
            row["work"],
            f"{row['seconds']:.4f}",
            row.get("rival", ""),
            f"{row['rival_seconds']:.3f}" if "rival_seconds" in row else "",
            f"{row['ratio']:.1f} x" if "ratio" in row else "",
            row.get("note", ""),
        )
    Console(width=160).print(table)
    RESULTS.write_text(json.dumps({"machine": platform.machine(), "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
