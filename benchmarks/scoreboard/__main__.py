"""Runs the scoreboard, goes on where it stopped, and writes its page.

    make scoreboard                                            # hours; what was measured stays measured
    python -m benchmarks.scoreboard --only medians --seconds 20
    python -m benchmarks.scoreboard --page                     # of what there is

Every contest, set, promise and rival is a cell: draws are made until their mean is known to a thirtieth (its standard
error), twenty at least and 200 at most, or so many seconds have gone. A cell that is whole is not made again; of
one that is not, another run draws more for rivals, and all anew for ours, which may have changed since.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import numpy as np

from core import Budget
from core.errors import RequestError

from .board_page import write_page
from .contests import CONTESTS, promised
from .fetched_sets import FetchedSet, fetched_sets, python_of
from .rounds import Contest, Round, Told

HERE = Path(__file__).parent
RESULTS = HERE / "results.jsonl"
BUDGETS = (("0.1", "0"), ("1", "0"), ("0.1", "1e-6"), ("1", "1e-6"))
FEWEST, MOST, KNOWN = 20, 200, 0.03
PATIENCE = 4
"""Times the seconds of a cell, after which a library that says nothing more is stopped."""


@dataclass(frozen=True)
class Cell:
    """Who answers which question of which set under which promise."""

    contest: str
    set: str
    epsilon: str
    delta: str
    who: str


def measured() -> dict[Cell, dict[str, object]]:
    """What is there."""
    found = {}
    for line in RESULTS.read_text().splitlines() if RESULTS.exists() else ():
        row = json.loads(line)
        found[Cell(*(row.pop(key) for key in ("contest", "set", "epsilon", "delta", "who")))] = row
    return found


def whole(row: dict[str, object] | None) -> bool:
    """Whether nothing is left to be drawn of a cell."""
    return row is not None and ("refused" in row or len(row["errors"]) >= FEWEST)


def keep(cell: Cell, row: dict[str, object]) -> None:
    """Write a cell down, as a line."""
    with RESULTS.open("a") as file:
        file.write(json.dumps({**vars(cell), **row}) + "\n")
    said = row.get("refused") or f"{np.mean(row['errors']):.4g} in {len(row['errors'])}, {row['seconds']} s"
    print(*vars(cell).values(), said, flush=True)


def enough(errors: list[float]) -> bool:
    """Whether the mean is known to a tenth, or nearly nothing is wrong."""
    if len(errors) < FEWEST:
        return False
    mean = float(np.mean(errors))
    return len(errors) >= MOST or np.std(errors, ddof=1) / len(errors) ** 0.5 <= KNOWN * mean


def here(one: Round, who: str, budget: Budget, seconds: float) -> dict[str, object]:
    """Draws in this process."""
    errors, said, start, used = [], [], time.monotonic(), time.process_time()
    try:
        while not enough(errors) and (not errors or time.monotonic() - start < seconds):
            error, told = one.ours[who](budget, len(errors))
            errors.append(error)
            said += [] if told is None else [told]
    except RequestError as problem:
        return {"refused": str(problem)}
    used = round((time.process_time() - used) / len(errors), 2)
    return {"errors": _short(errors), "seconds": used, **_told(said)}


def elsewhere(
    one: Round, who: str, python: Path | None, budget: Budget, seconds: float, before: dict[str, object] | None = None
) -> dict[str, object]:
    """Draws by another library in its own environment, after those that were made before."""
    if python is None:
        return {"refused": "It could not be installed."}
    errors: list[float] = list(before["errors"]) if before else []
    first, start = len(errors), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/given.npz", **one.given)
        facts = {**one.facts, **promised(budget), "first": first, "draws": MOST - first}
        Path(folder, "facts.json").write_text(json.dumps(facts))
        asked = [str(python), str(HERE / "rival.py"), who, f"{folder}/given.npz", f"{folder}/facts.json", str(seconds)]
        with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder) as running:
            late = Timer(PATIENCE * seconds, running.kill)
            late.start()
            try:
                for line in running.stdout or ():
                    if line.startswith("answer "):
                        errors.append(one.error(np.array(json.loads(line[7:]), dtype=float)))
                    if enough(errors):
                        break
            finally:
                late.cancel()
                running.kill()
            problem = (running.stderr.read() if running.stderr and not errors else "").strip().splitlines()
    if not errors:
        return {"refused": (problem or ["no answer in time"])[-1][:200]}
    each = (time.monotonic() - start) / max(1, len(errors) - first)
    return {"errors": _short(errors), "seconds": round(each, 2)}


def _told(said: list[Told]) -> dict[str, object]:
    """How true forecasts and intervals were."""
    return {name: _short([getattr(one, name) for one in said]) for name in Told._fields if said}


def _short(errors: list[float]) -> list[float]:
    return [float(f"{error:.5g}") for error in errors]


def cells_of(contest: Contest, fetched: FetchedSet, one: Round) -> Iterator[tuple[Cell, Budget]]:
    """All who may answer, under every promise that they can keep."""
    for epsilon, delta in BUDGETS:
        budget = Budget(epsilon, delta)
        for who in (*one.ours, *contest.rivals):
            if not budget.pure and (who in contest.pure or not contest.deltas):
                continue
            if (budget.pure and who in contest.loose) or (who in contest.without and (epsilon, delta) != BUDGETS[0]):
                continue
            yield Cell(contest.name, fetched.name, epsilon, delta, who), budget


def main() -> None:
    """Measure what is not there yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="one contest; repeatable")
    parser.add_argument(
        "--who", action="append", help="one of those who answer; who takes minutes for a draw is asked by name alone"
    )
    parser.add_argument("--sets", type=int, help="so many of the sets, from the first")
    parser.add_argument("--seconds", type=float, default=60.0, help="for a cell, of the clock")
    parser.add_argument("--folder", type=Path, default=Path("artefacts/scoreboard"), help="for environments and tables")
    parser.add_argument("--page", action="store_true", help="write the page alone")
    asked = parser.parse_args()
    if not asked.page:
        known = measured()
        for contest in CONTESTS:
            if asked.only and contest.name not in asked.only:
                continue
            for fetched in fetched_sets(asked.folder.resolve())[: asked.sets]:
                one = contest.round(fetched)
                for cell, budget in cells_of(contest, fetched, one):
                    if whole(known.get(cell)) or cell.who not in (asked.who or [cell.who]):
                        continue
                    if cell.who in contest.slow and not asked.who:
                        continue
                    if cell.who in one.ours:
                        keep(cell, here(one, cell.who, budget, asked.seconds))
                    else:
                        python = python_of(asked.folder.resolve(), contest.rivals[cell.who])
                        keep(cell, elsewhere(one, cell.who, python, budget, asked.seconds, known.get(cell)))
    rows = measured()  # the last line of each cell
    RESULTS.write_text("".join(json.dumps({**vars(cell), **row}) + "\n" for cell, row in rows.items()))
    write_page({tuple(vars(cell).values()): row for cell, row in rows.items()})


if __name__ == "__main__":
    main()
