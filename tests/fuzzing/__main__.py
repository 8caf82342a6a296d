"""Look for crashes, led by coverage: `python -m tests.fuzzing TARGET [--seconds N] [--found FOLDER]`.

Needs `pip install atheris`, which is no part of the tests. What crashes is written to the folder. Give it a test of its
own where the fault is, as the same bytes mean something else as soon as a target changes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[2]
COMPILED = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "core").rglob("*.py")
    if "compiled" in path.read_text(encoding="utf-8") or "numba" in path.read_text(encoding="utf-8")
]
"""Modules with loops that Numba compiles, which it could not with what measures coverage in them."""

with atheris.instrument_imports(include=["core"], exclude=COMPILED):
    from tests.fuzzing.targets import TARGETS


def main() -> None:
    """Run one target until its time is over or it crashes."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("target", choices=sorted(TARGETS))
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--found", type=Path, default=Path(tempfile.gettempdir()) / "frostglass-found")
    chosen = parser.parse_args()
    corpus = chosen.found / chosen.target
    corpus.mkdir(parents=True, exist_ok=True)
    TARGETS[chosen.target](b"")  # what it needs is made outside the measuring of coverage
    options = [
        f"-max_total_time={chosen.seconds}",
        "-max_len=600",
        "-timeout=60",
        "-rss_limit_mb=6000",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={corpus}/crash-", str(corpus)], TARGETS[chosen.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
