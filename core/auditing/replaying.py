"""One release made of two neighbouring data sets with the same draws, and everything that comes out compared.

Both are made in a world of their own: a home and a folder for temporary files that are empty, a clock that stands
still, public random bytes (hash seeds, names) that are the same in both, and standard output, standard error and the
log caught. On the neighbour every draw is given the outcome that was recorded (`core.privacy.replay.tape`). Whatever
then differs in what is returned, printed, logged, raised, written to a ledger or left on the disk was let out without
noise; and the losses of all draws together must be within the promise, at every moment within what had been paid by
then, and at the end all of it must have been paid.

What this cannot see: time and memory; the law of the random bits themselves, which chi-squared tests cover; a noise
sampler that draws by another law than it says, which `_unlike` catches only where it is far off.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy import stats

from ..errors import RequestError
from ..privacy.budget import Budget
from ..privacy.replay.laws import CounterNoise, NoisePart
from ..privacy.replay.losses import Loss, epsilon_of, keeps
from ..privacy.replay.tape import Mismatch, Tape, recording, rolling
from ..runtime import compiled_code, environment

MOMENT = datetime(2020, 2, 29, 12, tzinfo=UTC)  # When everything happens in an audit.
CHANCE = 1e-12  # How likely sound noise is taken for noise of another law, a replay.
# From which scale on noise is like continuous noise, and how long it may be for counters of 64 bits to hold it.
FINE, LONGEST = 3, 2.0**62
INPUT = "records"  # Folder of the private records in each world; all others are compared.


@dataclass(frozen=True)
class World:
    """Where one of the two releases is made."""

    folder: Path  # Its root; `home` and `temporary` lie in it, and what is written anywhere else below it is found too.

    @property
    def ledger(self) -> Path:
        """Where a ledger may be."""
        return self.folder / "home" / "ledger.sqlite"

    @property
    def out(self) -> Path:
        """A folder for files that are asked for."""
        return self.folder / "out"

    @property
    def temporary(self) -> Path:
        """Where temporary files go."""
        return self.folder / "temporary"

    def csv(self, records: pd.DataFrame) -> Path:
        """The private records as a file, for doors that take one."""
        path = self.folder / INPUT / "records.csv"
        records.to_csv(path, index=False)
        return path


# Makes a release of private records through some door, and returns whatever that gives out.
Release = Callable[[pd.DataFrame, World], object]


@dataclass(frozen=True)
class Promise:
    """What a release is held to."""

    # The price.
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    paid: bool = True  # Whether a ledger is to know of it.
    honest: int = 1  # How many owners add parts of noise as they should: all others' may be known.

    @classmethod
    def of(cls, budget: Budget, paid: bool = True, honest: int = 1) -> Promise:
        """That of a budget."""
        return cls(Fraction(budget.epsilon), Fraction(budget.delta), paid, honest)


@dataclass(frozen=True)
class Replay:
    """What one pair of neighbours showed."""

    findings: tuple[str, ...]  # What is wrong, a sentence each without capital and full stop.
    reached: float  # The least ε at which the draws keep the promised δ: how much of the promise this pair uses up.
    draws: int  # How many draws there were.
    lemmas: tuple[str, ...] = ()  # Which hidden coins were coupled, and why that is allowed.

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


@dataclass
class _Made:
    """One of the two releases: its tape, and what came out by name."""

    tape: Tape
    out: dict[str, Any] = field(default_factory=dict)
    broken: tuple[str, ...] = ()  # Where it ended in an error that refuses nothing, as nothing more was audited then.


class Recorded:
    """A release of one data set with its tape, to be made again of neighbours; a context, which removes its folder.

    `release`: Makes it, through some door, and returns what is let out. `data`: Made-up records; what is found names no
    value of them. `promise`: What it is held to.
    """

    def __init__(self, release: Release, data: pd.DataFrame, promise: Promise) -> None:
        self._release, self._promise = release, promise
        compiled_code.folder()  # settled before its home is another one: loops are of a machine and of no release
        # In memory where that can be: what is written down safely before anything is drawn waits for a disk otherwise.
        memory = Path("/dev/shm")
        self._folder = tempfile.TemporaryDirectory(prefix="frostglass-audit-", dir=memory if memory.is_dir() else None)
        self._first = self._made(data, Tape())

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *failure: object) -> None:
        self._folder.cleanup()

    def against(self, neighbour: pd.DataFrame) -> Replay:
        """Make it of a neighbour with the same draws, and compare: exact for these two."""
        first = self._first
        second = self._made(neighbour, Tape(first.tape))
        broken = dict.fromkeys((*first.broken, *second.broken))
        if "what is refused" in first.out and not first.tape.draws:
            return Replay((*broken, *_differences(first, second)), 0.0, 0)
        found = [*broken, *first.tape.strays, *_unlike(first.tape), *_differences(first, second)]
        found += _too_few(first.tape, self._promise)
        losses = [_loss(one, other) for one, other in zip(first.tape.draws, second.tape.draws, strict=False)]
        found += _prices(first.tape, losses, self._promise, "what is refused" in first.out)
        reached = epsilon_of(losses, float(self._promise.delta))
        if not found:  # `keeps` convolves where that bound is loose
            reached = min(reached, float(self._promise.epsilon))
        return Replay(tuple(dict.fromkeys(found)), reached, len(losses), tuple(dict.fromkeys(first.tape.lemmas)))

    def _made(self, records: pd.DataFrame, tape: Tape) -> _Made:
        """Make it in a world of its own, always of the same name, and collect everything that comes out."""
        world, made = World(Path(self._folder.name) / "world"), _Made(tape)
        for place in ("home", "temporary", "out", INPUT):
            (world.folder / place).mkdir(parents=True)
        try:
            with _still(world), _caught(made.out), recording(tape):
                try:
                    made.out["what is given out"] = self._release(records, world)
                    tape.finish()
                except Mismatch as problem:
                    made.out["mismatch"] = str(problem)
                except Exception as problem:
                    made.out["what is refused"] = f"{type(problem).__name__}: {problem}"
                    if not isinstance(problem, RequestError):
                        made.broken = (f"it ended in a {type(problem).__name__}, which is no refusal",)
            made.out.update(_on_disk(world.folder))
        finally:
            shutil.rmtree(world.folder)
        return made


def _loss(one: Any, other: Any) -> Loss:
    return one.law.loss(one.hidden, other.hidden, one.outcome, one.sampled)  # type: ignore[no-any-return]


@contextlib.contextmanager
def _still(world: World) -> Iterator[None]:
    """A world in which nothing changes but the records: its own folders, one moment, public bytes of a seed."""
    compiled_code.folder()  # is looked for once in a process, and must not be found in a world that goes away
    home = str(world.folder / "home")
    places = {name: home for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    places |= {name: str(world.temporary) for name in ("TMPDIR", "TEMP", "TMP")}
    system = os.urandom

    def urandom(size: int) -> bytes:
        tape = rolling()
        return system(size) if tape is None or _of_a_compiler() else tape.bits(size, system)

    compiled_code.folder()  # kept for the machine, and in no world
    before, where = tempfile.tempdir, Path.cwd()
    with (
        mock.patch.dict(os.environ, places),
        mock.patch.object(environment, "utc", lambda: MOMENT),
        mock.patch.object(os, "urandom", urandom),
        mock.patch.object(random, "_urandom", urandom),
    ):
        tempfile.tempdir = str(world.temporary)
        os.chdir(world.out)
        try:
            yield
        finally:
            tempfile.tempdir = before
            os.chdir(where)


def _of_a_compiler() -> bool:
    """Whether Numba asks, for names of files that keep what it compiled: once a machine, and not for a release."""
    frame = sys._getframe(2)
    while frame is not None and "site-packages" not in frame.f_code.co_filename:
        if frame.f_code.co_filename == compiled_code.__file__:
            return True
        if not frame.f_code.co_filename.startswith(sys.base_prefix):
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and f"{os.sep}numba{os.sep}" in frame.f_code.co_filename


@contextlib.contextmanager
def _caught(out: dict[str, Any]) -> Iterator[None]:
    """Standard output, standard error and the log."""
    shown, said, logged = io.StringIO(), io.StringIO(), io.StringIO()
    handler = logging.StreamHandler(logged)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(said):
            yield
    finally:
        root.removeHandler(handler)
        out |= {"standard output": shown.getvalue(), "standard error": said.getvalue(), "the log": logged.getvalue()}


def _on_disk(folder: Path) -> dict[str, Any]:
    """Every file that is left, but for the private records themselves: ledgers by what they say, others by bytes."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if place.parts[0] == INPUT or not path.is_file():
            continue
        contents = path.read_bytes()
        if contents.startswith(b"SQLite format 3"):
            with contextlib.closing(sqlite3.connect(path)) as connection:
                found[f"the file {place}"] = list(connection.iterdump())
        elif not place.name.endswith(("-wal", "-shm", "-journal")):
            found[f"the file {place}"] = contents
    return found


def _differences(first: _Made, second: _Made) -> Iterator[str]:
    """What tells the two apart, although all noise was the same."""
    if "mismatch" in second.out:
        yield second.out["mismatch"]
        return
    for name in dict.fromkeys([*first.out, *second.out]):
        if name not in first.out or name not in second.out:
            yield f"{name} is there for one data set and not for its neighbour"
        elif not same(first.out[name], second.out[name]):
            where = _where(first.out[name], second.out[name])
            yield f"{name} differs between two neighbours though all noise is the same{where}"


def _where(one: Any, other: Any) -> str:
    """Which part of a file or of what is given out differs."""
    if isinstance(one, bytes) and isinstance(other, bytes) and one[:2] == b"PK" == other[:2]:
        parts = [zipfile.ZipFile(io.BytesIO(each)) for each in (one, other)]
        names = [name for name in parts[0].namelist() if name in parts[1].namelist()]
        differ = [name for name in names if parts[0].read(name) != parts[1].read(name)]
        return f" (in its part {', '.join(differ)})" if differ else ""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        differ = [str(name) for name in one if name not in other or not same(one[name], other[name])]
        return f" (in {', '.join(differ[:5])})"
    return ""


def same(one: Any, other: Any) -> bool:
    """Whether two things that were let out are the same, bit for bit."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, pd.DataFrame) and isinstance(other, pd.DataFrame):
        return bool(one.equals(other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and bool(one == other)


def _unlike(tape: Tape) -> Iterator[str]:
    """Whether all noise of one kind together is far longer or shorter than its law says.

    Sums of |z| over b are nearly a Gamma variable, those of z² over σ² nearly a chi-squared one, so a sound sampler
    fails with probability `CHANCE`. Near 0 whole numbers are unlike others, as a single one is 0 now and then: |z| + 1
    is no shorter than continuous noise, |z| being no shorter than what is left of that without its fraction. Of few
    counters only noise that is many times too short is noticed.
    """
    sums = {"discrete_laplace": [0.0, 0.0, 0], "discrete_gaussian": [0.0, 0.0, 0]}
    waves, waving = 0.0, 0
    for draw in tape.draws:
        if not isinstance(draw.law, (CounterNoise, NoisePart)) or draw.law.distribution not in sums:
            continue
        share = draw.law.share if isinstance(draw.law, NoisePart) else Fraction(1)
        pure = draw.law.distribution == "discrete_laplace"
        parameter = float(draw.law.parameter) if pure else float(draw.law.parameter * share)
        shown = draw.outcome[0] if isinstance(draw.outcome, tuple) else draw.outcome
        noise = np.ravel(shown).astype(float) - np.ravel(draw.hidden).astype(float)
        if pure and share < 1:
            waves += _waves_over(noise, parameter, float(share))
            waving += len(noise)
        elif parameter >= FINE:
            kept = noise[np.abs(noise) < LONGEST]
            for place, size in enumerate((np.abs(kept), np.abs(kept) + 1)):
                sizes = size * math.sinh(1 / parameter) if pure else size**2 / parameter
                sums[draw.law.distribution][place] += float(sizes.sum())
            sums[draw.law.distribution][2] += len(kept)
    for name, (total, most, count) in sums.items():
        law = stats.gamma(count) if name == "discrete_laplace" else stats.chi2(count)
        if count and (law.cdf(most) < CHANCE or law.sf(total) < CHANCE):
            yield f"noise is {'shorter' if total < law.mean() else 'longer'} than the law by which it says it is drawn"
    if abs(waves) > math.sqrt(2 * waving * math.log(2 / CHANCE)):
        yield f"parts of noise are {'shorter' if waves > 0 else 'longer'} than the law by which they say they are drawn"


def _waves_over(noise: np.ndarray, scale: float, share: float) -> float:
    """By how much the sum of cos(uZ) is more than expected of parts Z of discrete Laplace noise.

    Its expectation is the characteristic function of a part, ((1-q)² / (1 - 2q cos u + q²))^share with q = exp(-1/b),
    and cosines lie within ±1: by Hoeffding's inequality the sum of n of them is off by s with probability at most
    2 exp(-s²/2n). Near the u taken here the expectation is a quarter, where half of a part is best told from a part.
    """
    wave = min(math.sqrt(4.0 ** min(1 / share, 99.0) - 1) / scale, math.pi)
    q = math.exp(-1 / scale)
    expected = (math.expm1(-1 / scale) ** 2 / (1 - 2 * q * math.cos(wave) + q * q)) ** share
    return float(np.cos(wave * noise).sum()) - len(noise) * expected


def _too_few(tape: Tape, promise: Promise) -> Iterator[str]:
    """Whether parts of noise are as large as so many honest owners need to have all of it."""
    for draw in tape.draws:
        if isinstance(draw.law, NoisePart) and draw.law.share * promise.honest < 1:
            yield f"the parts of {promise.honest} owners are {draw.law.share * promise.honest} of the noise"


def _prices(tape: Tape, losses: list[Loss], promise: Promise, refused: bool) -> Iterator[str]:
    """Whether all draws are within the promise, and each moment's within what had been written down by then.

    `refused`: Whether it went no further than to a part that was bought first, such as how many records fit: then what
    is written down is that part, and no more than the promise.
    """
    epsilon, delta = float(promise.epsilon), float(promise.delta)
    if not keeps(losses, promise.epsilon, delta):
        yield (
            f"the draws keep ε = {epsilon_of(losses, delta):.6g}{f' at δ = {delta:g}' if delta else ''}, and "
            f"{epsilon:.6g} was promised"
        )
    if not promise.paid:
        return
    for count in sorted({draw.payments for draw in tape.draws}):
        so_far = [loss for loss, draw in zip(losses, tape.draws, strict=False) if draw.payments <= count]
        paid = tape.payments[:count]
        had, slack = sum(float(cost.epsilon) for cost in paid), sum(float(cost.delta) for cost in paid)
        if not keeps(so_far, had, slack):
            yield f"noise was drawn that hides ε = {epsilon_of(so_far, slack):.6g} when {had:.6g} had been paid"
    whole = (sum(Fraction(cost.epsilon) for cost in tape.payments), sum(Fraction(cost.delta) for cost in tape.payments))
    promised = promise.epsilon, promise.delta
    part = refused and whole[0] <= promised[0] and whole[1] <= promised[1]
    if tape.draws and whole != promised and not part:
        yield (
            f"the ledger has (ε, δ) = ({float(whole[0]):g}, {float(whole[1]):g}) of a release of "
            f"({epsilon:g}, {delta:g})"
        )
