"""Work out what takes long of the bundled releases: python sample_data/answer_samples.py [NAME ...]

Opens the pages Explore and Classify with each bundled release (all, or the named ones), makes each choice that a page
offers once, and writes those answers that took long into sample_data/answers, so that nobody has to wait for them. They
follow from the released files alone, which are public; run it when these files, or what is read from them, change.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.controls import KINDS, measured, pages
from core.analysis.kept_answers import Answer, Kept, keep
from core.sources.public_tables import ANSWERS, RELEASES
from core.ui.released import public_answers

DEAR = 0.25
"""Processor seconds from which an answer is kept."""
CHOICES = {kind: KINDS[kind] for kind in ("button_group", "selectbox", "radio")}
"""Numbers are left out: nobody can know which a visitor will type."""


class Working(Kept):
    """Works every answer out, and holds those that took long."""

    def __init__(self) -> None:
        super().__init__(ANSWERS / "nowhere")
        self.found: dict[str, object] = {}

    def answer(self, name: str, work: Callable[[], Answer]) -> Answer:
        """The answer."""
        before = process_time()
        answer = work()
        if process_time() - before > DEAR:
            self.found[name] = answer
        self._worked_out.add(name)
        return answer


def work_out(names: list[str]) -> None:
    """Write the answers of these files, or of all, and take away those of files that are no more."""
    working: dict[str, Working] = {}
    public_answers.shelf = lambda fingerprint: working.setdefault(fingerprint, Working())
    files = {f"{sha256(path.read_bytes()).hexdigest()[:16]}.npz": path.stem for path in RELEASES.glob("*.npz")}
    for file, stem in files.items():
        if names and stem not in names:
            continue
        for name, start in pages():
            if name in (f"Explore {stem}", f"Classify {stem.removesuffix('-groups')}"):
                look_at_all(name, start)
        found = next((one.found for key, one in working.items() if file.startswith(key[:16])), {})
        if found:
            keep(ANSWERS / file, found)
            print(f"{stem}: {len(found)} answers, {(ANSWERS / file).stat().st_size:,} bytes", flush=True)
    for path in ANSWERS.glob("*.npz"):
        if path.name not in files:
            path.unlink()


def look_at_all(name: str, start: Callable) -> None:
    """Open a page and make each choice once."""
    for cost in measured(name, start, CHOICES):
        if cost.failed:
            raise RuntimeError(f"{name} failed at {cost.control}.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_DATA_HOME": home}
        work_out(sys.argv[1:])
