"""Time and largest memory of a programme of its own, by the operating system's count.

Linux hands a process that is started from a large one the peak of that one, so a small process in between starts the
programme and reads its count when it ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

IN_BETWEEN = """
import json, os, sys, time
report, command = sys.argv[1], sys.argv[2:]
start = time.perf_counter()
child = os.posix_spawnp(command[0], command, os.environ)
_, status, used = os.wait4(child, 0)
facts = {"code": os.waitstatus_to_exitcode(status), "seconds": time.perf_counter() - start, "peak": used.ru_maxrss}
facts["processor"] = used.ru_utime + used.ru_stime
with open(report, "w") as file:
    json.dump(facts, file)
"""
UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in one unit of `ru_maxrss`."""


@dataclass(frozen=True)
class Finished:
    """How a programme ended: seconds on the clock and of processors, and the most bytes resident at once."""

    seconds: float
    peak_bytes: int
    output: str
    processor_seconds: float


def run_apart(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Finished:
    """Run a programme to its end.

    Raises
    ------
    RuntimeError
        When it fails, with what it said last.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        starter = [sys.executable, "-I", "-S", "-c", IN_BETWEEN, str(report), *command]
        whole = {**os.environ, **(environment or {})}
        done = subprocess.run(starter, env=whole, capture_output=True, text=True)
        facts = json.loads(report.read_text()) if report.exists() else {"code": done.returncode}
    if facts["code"] != 0:
        raise RuntimeError(f"{' '.join(command[:5])} … ended with {facts['code']}: {done.stderr.strip()[-500:]}")
    return Finished(facts["seconds"], facts["peak"] * UNIT, done.stdout, facts["processor"])
