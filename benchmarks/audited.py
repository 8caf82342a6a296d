"""Replays every mechanism, and writes what was reached for reports to quote: `python -m benchmarks.audited`."""

from __future__ import annotations

import json
from pathlib import Path

import core.figures
from core.auditing.trials import examine, mechanisms
from core.runtime.environment import SOFTWARE

PAIRS = 6
"""Of each mechanism under each promise, and the same the other way round."""
FILE = Path(core.figures.__file__).with_name("audited.json")


def main() -> None:
    """Replay all of them under every promise, each pair both ways round; a finding ends it and nothing is written."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for trial in mechanisms():
        verdict = examine(trial, PAIRS, turned=True)
        if not verdict.passed:
            raise SystemExit(verdict.sentence)
        print(verdict.sentence, flush=True)
        kind = f"{trial.budget.neighbours} {'delta' if trial.budget.delta else 'pure'}"
        used = min(round(verdict.reached / float(trial.budget.epsilon), 3), 1.0)
        found.setdefault(trial.name.split(",")[0], {})[kind] = {"replays": verdict.replays, "used": used}
    FILE.write_text(
        json.dumps({"by": SOFTWARE, "mechanisms": found}, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
