"""What the papers claim about sums of kernels and distances, and what came of it here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from core.lab.comparison_plan import ErrorCurve, curves

from ..words import duration
from . import published_noise
from .datasets import public_data
from .density import COMPARED, DELTA, GUARANTEED, SHOWN, Density, merged
from .pictures import Claim
from .work import DONE, Record, Settings, Work

TITLES = {key: method.card.title for key, method in COMPARED.items()} | {published_noise.KEY: published_noise.TITLE}


@dataclass(frozen=True)
class Found:
    """Curves by delta, tuned or not, and method."""

    curves: Mapping[tuple[str, bool, str], ErrorCurve]

    @classmethod
    def of(cls, experiment: Density, records: list[Record]) -> Found:
        """From all records."""
        return cls(
            {
                (delta, curve.tuned, curve.method): curve
                for delta in ("0", DELTA)
                for curve in curves(merged(records, delta), experiment.measure)
            }
        )

    def at(self, method: str, epsilon: float, tuned: bool | None = None, delta: str = "0") -> float | None:
        """The error of a method at a promise; the tuned one where there is one, when ``tuned`` is None."""
        for kind in (True, False) if tuned is None else (tuned,):
            curve = self.curves.get((delta, kind, method))
            if curve is not None and epsilon in curve.epsilons:
                return curve.centres[curve.epsilons.index(epsilon)]
        return None


def any_work(experiment: Density, settings: Settings) -> Work:
    """A piece of work on the experiment's data as they are, to read them by."""
    return Work(experiment.name, experiment.data, "race", None, SHOWN, "0", 0, False, settings.quick)


def claims(experiment: Density, settings: Settings, found: Found, records: list[Record]) -> list[Claim]:
    """Those that can be told from what was found."""
    special = {"sf": _bernstein_wins, "nyc": _race_wins_peaks, "skin": _race_wins_space, "line": _tree_gets_better}
    made = [special[experiment.data](found)] if experiment.data in special else []
    if experiment.data == "wide":
        made.append(_race_runs(records))
    if experiment.data == "line":
        made.append(_baseline_says_nothing(found))
    else:
        made += [_rank(found), _published_curve(experiment, settings, found)]
    return [claim for claim in made if claim is not None]


def _pair(found: Found, one: str, other: str) -> str:
    pairs = [(epsilon, found.at(one, epsilon), found.at(other, epsilon)) for epsilon in (0.1, 1.0, 10.0)]
    return "; ".join(
        f"ε = {epsilon:g}: {TITLES[one]} {a:.2%}, {TITLES[other]} {b:.2%}"
        for epsilon, a, b in pairs
        if a is not None and b is not None
    )


def _beats(found: Found, one: str, other: str) -> bool | None:
    a, b = found.at(one, float(SHOWN)), found.at(other, float(SHOWN))
    return None if a is None or b is None else a < b


def _bernstein_wins(found: Found) -> Claim | None:
    holds = _beats(found, "bernstein", "race") if "bernstein" in TITLES else None
    if holds is None:
        return None
    said = _pair(found, "bernstein", "race")
    return Claim("The Bernstein mechanism outperforms RACE on San Francisco's pay.", holds, f"{said}, both tuned.")


def _race_wins_peaks(found: Found) -> Claim | None:
    holds = _beats(found, "race", "bernstein") if "bernstein" in TITLES else None
    if holds is None:
        return None
    said = _pair(found, "race", "bernstein")
    return Claim("RACE keeps sharp peaks that the Bernstein mechanism misses.", holds, f"{said}, both tuned.")


def _race_wins_space(found: Found) -> Claim | None:
    holds = _beats(found, "race", "bernstein") if "bernstein" in TITLES else None
    if holds is None:
        return None
    said = _pair(found, "race", "bernstein")
    return Claim("RACE beats interpolation where there are more than a few columns.", holds, f"{said}, both tuned.")


def _tree_gets_better(found: Found) -> Claim | None:
    curve = found.curves.get(("0", False, "interval-tree"))
    if curve is None:
        return None
    falls = all(later < before for before, later in pairwise(curve.centres))
    rivals = {key: found.at(key, float(SHOWN)) for key in TITLES}
    said = "; ".join(f"{TITLES[key]} {value:.2%}" for key, value in rivals.items() if value is not None)
    return Claim("The error of the paper's algorithm falls smoothly as ε grows.", falls, f"At ε = {SHOWN}: {said}.")


def _baseline_says_nothing(found: Found) -> Claim | None:
    theory, practical = (found.at(key, float(SHOWN), tuned=False) for key in (GUARANTEED.card.name, "huang-roth"))
    if theory is None or practical is None:
        return None
    return Claim(
        "Huang and Roth's algorithm says nothing at such budgets: its relative error is 1.",
        theory > 0.95 and practical > 0.95,
        f"At ε = {SHOWN} its error is {theory:.2%} with the constants of the theory, and {practical:.2%} with "
        "constants that suit so few records.",
    )


def _race_runs(records: list[Record]) -> Claim | None:
    times = [one.found["seconds_build"] for one in records if one.outcome == DONE and one.work.method == "race"]
    if not times:
        return None
    whole = sorted({one.work.method for one in records if one.outcome == DONE and "/" not in one.work.data})
    names = ", ".join(TITLES[key] for key in whole)
    return Claim(
        "RACE runs on many columns in under two minutes, and others only after a projection.",
        max(times) < 120,
        f"RACE took {duration(max(times))} at most. Without a projection ran: {names}.",
    )


def _rank(found: Found) -> Claim | None:
    errors = {
        method: found.at(method, float(SHOWN))
        for (delta, _, method) in found.curves
        if delta == "0" and method != published_noise.KEY
    }
    ranked = sorted((error, TITLES[method]) for method, error in errors.items() if error is not None)
    rest = [error for method, error in errors.items() if error is not None and COMPARED[method].card.rival]
    own = found.at("race", float(SHOWN))
    if own is None or not rest:
        return None
    place = [title for _, title in ranked].index(TITLES["race"]) + 1
    said = "; ".join(f"{title} {error:.2%}" for error, title in ranked)
    return Claim(
        "RACE is competitive with the state of the art.",
        own <= 1.5 * min(rest),
        f"RACE is number {place} of {len(ranked)} at ε = {SHOWN}, all tuned: {said}.",
    )


def _published_curve(experiment: Density, settings: Settings, found: Found) -> Claim | None:
    shown, real = found.at(published_noise.KEY, 0.1), found.at("race", 0.1)
    if shown is None or real is None:
        return None
    records = len(public_data(any_work(experiment, settings), settings).records)
    return Claim(
        "The error that the published code shows is what ε = 0.1 allows.",
        real < 1.2 * shown,
        f"With the code's noise RACE shows {shown:.2%} at what it calls ε = 0.1; with the noise that ε = 0.1 needs it "
        f"has {real:.2%}, at its best size. The code's noise keeps ε = {0.1 * records:,.0f}.",
    )
