"""The page of the scoreboard: small multiples, who is how far behind or ahead, and how true forecasts were."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from html import escape
from pathlib import Path

import numpy as np

from core.runtime.environment import VERSION

from ..machine import machine
from .contests import CONTESTS, SLOW
from .fetched_sets import ENVIRONMENTS
from .rounds import Contest

OURS = "frostglass"
DOCS = Path(__file__).parents[2] / "docs"
Results = Mapping[tuple[str, ...], Mapping[str, object]]
AHEAD = 0.95
"""A rival counts as ahead below this ratio, where two standard errors do not explain it."""
FEW = 12  # Draws, below which a cell says little.
LEAST, MOST = 1 / 4, 32
LEFT, PANEL, LINE, GAP = 150, 190, 15, 46


@dataclass(frozen=True)
class Compared:
    """A rival beside ours on one set under one promise."""

    contest: str
    set: str
    promise: str
    who: str
    ours: np.ndarray
    theirs: np.ndarray

    @property
    def ratio(self) -> float:
        """Its mean error over ours."""
        return float(self.theirs.mean() / max(self.ours.mean(), 1e-12))

    @property
    def error(self) -> float:
        """Of the ratio, relative, where both have draws enough to tell."""
        parts = [one.std(ddof=1) / len(one) ** 0.5 / max(one.mean(), 1e-12) for one in (self.ours, self.theirs)]
        return math.hypot(*parts)

    @property
    def ahead(self) -> bool:
        """Whether it is nearer than ours by more than a twentieth and by more than luck."""
        return len(self.theirs) > 1 and self.ratio < AHEAD and self.ratio * (1 + 2 * self.error) < 1


def promise(epsilon: str, delta: str) -> str:
    """As tables say it."""
    return f"ε = {epsilon}" if delta == "0" else f"({epsilon}, 10⁻⁶)"


def compared(results: Results) -> list[Compared]:
    """All of them."""
    found = []
    for (contest, name, epsilon, delta, who), row in results.items():
        ours = results.get((contest, name, epsilon, delta, OURS))
        if who != OURS and ours and "errors" in ours and "errors" in row:
            errors = (np.array(one["errors"], float) for one in (ours, row))
            found.append(Compared(contest, name, promise(epsilon, delta), who, *errors))
    return sorted(
        found, key=lambda one: ("(" in one.promise, one.promise)
    )  # pure ones first, the small before the large


def write_page(results: Results) -> None:
    """`docs/scoreboard.md` with its picture."""
    every = compared(results)
    (DOCS / "scoreboard.svg").write_text(_picture(every))
    (DOCS / "scoreboard.md").write_text("\n".join(_lines(every, results)) + "\n")


def _lines(every: list[Compared], results: Results) -> Iterable[str]:
    sets = sorted({key[1] for key in results})
    libraries = ", ".join(one for name, several in ENVIRONMENTS.items() if name != "data" for one in several[:2])
    yield "# Scoreboard"
    yield ""
    yield (
        "`make scoreboard` measures our first answers beside every library that installs, on tables that a rule chose "
        "and nobody here developed on (`benchmarks/scoreboard/fetched_sets.py`). Bounds and categories are public and "
        "the same for all, and nothing is tuned. What was measured is not measured again; take its line out of "
        "`results.jsonl` for that."
    )
    yield ""
    at = machine()
    yield f"{date.today()}, {at['cores']} cores ({at['processor']}), Python {at['python']}; frostglass {VERSION},"
    yield f"{libraries}."
    yield f"Sets: {', '.join(sets)}. A ratio is a rival's mean error over ours: above 1, ours is nearer."
    yield ""
    yield "![Errors of rivals over ours, a dot a set](scoreboard.svg)"
    yield ""
    for contest in CONTESTS:
        yield from _table(contest, [one for one in every if one.contest == contest.name])
    yield from _ahead([one for one in every if one.ahead and one.who not in _without()])
    yield from _worse_than_the_mean(results)
    yield from _forecasts(results)
    yield from _refused(results)


def _without() -> set[str]:
    return {who for contest in CONTESTS for who in contest.without}


def _table(contest: Contest, every: list[Compared]) -> Iterable[str]:
    """Median ratios over sets, with the least and the most."""
    promises = list(dict.fromkeys(one.promise for one in every))
    if not promises:
        return
    yield f"## {contest.name.capitalize()}: {contest.measure}"
    yield ""
    yield f"| | {' | '.join(promises)} |"
    yield f"|---|{'---|' * len(promises)}"
    for who in dict.fromkeys(one.who for one in every):
        cells = []
        for said in promises:
            ratios = sorted(one.ratio for one in every if (one.who, one.promise) == (who, said))
            cells.append(f"{_short(np.median(ratios))} ({_short(ratios[0])}–{_short(ratios[-1])})" if ratios else "")
        yield f"| {who} | {' | '.join(cells)} |"
    yield ""


def _ahead(every: list[Compared]) -> Iterable[str]:
    yield "## Where another is ahead by more than 5% and two standard errors"
    yield ""
    if not every:
        yield "Nowhere."
    else:
        yield "| contest | set | promise | who | ratio |\n|---|---|---|---|---|"
    for one in sorted(every, key=lambda one: one.ratio):
        ratio = f"{one.ratio:.2f} ± {one.ratio * one.error:.2f}"
        yield f"| {one.contest} | {one.set} | {one.promise} | {one.who} | {ratio} |"
    yield ""


def _worse_than_the_mean(results: Results) -> Iterable[str]:
    """Where our own numbers are of no use."""
    yield "## Where ours errs more than always answering the mean"
    yield ""
    found = []
    for (contest, name, epsilon, delta, who), row in results.items():
        if contest == "numbers" and who == OURS and "errors" in row:
            errors = np.array(row["errors"], float)
            if errors.mean() > 1.0:
                error = errors.std(ddof=1) / len(errors) ** 0.5
                found.append(f"| {name} | {promise(epsilon, delta)} | {errors.mean():.2f} ± {error:.2f} |")
    if found:
        yield "| set | promise | squared error, as a share of the variance |\n|---|---|---|"
    yield from found or ["Nowhere."]
    yield ""


def _forecasts(results: Results) -> Iterable[str]:
    """What had been said of ours beforehand, beside what came."""
    ratios, inside = defaultdict(list), defaultdict(list)
    for key, row in results.items():
        if key[4] == OURS and "over" in row:
            ratios[key[0]].append(float(np.sqrt(np.mean(np.square(row["over"])))))
            inside[key[0]].append(float(np.mean(row["inside"])))
    yield "## What is said of ours: error over the forecast, and intervals of 95%"
    yield ""
    yield (
        "Both errors are root mean squares over places, in records or the unit of distances, as only these are said: "
        "what they are of an answer depends on where records lie, which nobody knows beforehand."
    )
    yield ""
    yield (
        "| contest | median | least | most | within a quarter | half to twice | worse than twice "
        "| intervals hold | least in a cell |\n|---|---|---|---|---|---|---|---|---|"
    )
    for name, several in ratios.items():
        near, held = (np.mean([1 / wide <= one <= wide for one in several]) for wide in (1.25, 2.0))
        far = sum(one > 2 for one in several)
        numbers = " | ".join(map(_short, (np.median(several), min(several), max(several))))
        shares = f"{100 * np.mean(inside[name]):.1f}% | {100 * min(inside[name]):.0f}%"
        yield f"| {name} | {numbers} | {100 * near:.0f}% | {100 * held:.0f}% | {far} of {len(several)} | {shares} |"
    yield ""


def _refused(results: Results) -> Iterable[str]:
    """What does not run on some set, by what it says."""
    said = defaultdict(set)
    for key, row in results.items():
        if "refused" in row and "only exists under" not in str(row["refused"]):
            said[key[0], key[4], str(row["refused"])].add(key[1])
    yield "## What did not run"
    yield ""
    for (contest, who, why), sets in said.items():
        yield f"* {who}, {contest} ({len(sets)} sets): {why}"
    sets = {key[1] for key in results}
    for contest in CONTESTS:
        if missing := sorted(sets - {key[1] for key in results if key[0] == contest.name}):
            yield f"* {contest.name}: not measured yet on {', '.join(missing)}."
    draws = [len(row["errors"]) for row in results.values() if isinstance(row.get("errors"), list)]
    yield f"* {sum(many < FEW for many in draws)} of {len(draws)} cells have fewer than {FEW} draws: they go on."
    if unasked := sorted(SLOW - {key[4] for key in results}):
        yield f"* {', '.join(unasked)}: not asked here, as a draw takes minutes or hours (`--who` asks by name)."


def _short(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:.0f}"


def _picture(every: list[Compared]) -> str:
    """A row of panels a contest, a panel a promise, a line a rival, a dot a set: the ratio, on a log scale."""
    drawn, top, promises = [], 40, list(dict.fromkeys(one.promise for one in every))
    for place, said in enumerate(promises):
        drawn.append(_text(LEFT + place * (PANEL + 20) + PANEL / 2, 20, said, "middle"))
    for contest in CONTESTS:
        mine = [one for one in every if one.contest == contest.name]
        rivals = list(dict.fromkeys(one.who for one in mine))
        if not rivals:
            continue
        high = LINE * len(rivals)
        drawn.append(_text(0, top - 6, contest.name, weight="bold"))
        drawn += [_text(0, top + LINE * (row + 0.75), who) for row, who in enumerate(rivals)]
        for place, said in enumerate(promises):
            shown = [one for one in mine if one.promise == said]
            if shown:
                drawn += _panel(LEFT + place * (PANEL + 20), top, high, rivals, shown)
        top += high + GAP
    width = LEFT + len(promises) * (PANEL + 20)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" font-family="sans-serif" '
        f'font-size="11"><rect width="100%" height="100%" fill="white"/>{"".join(drawn)}</svg>\n'
    )


def _panel(left: float, top: float, high: float, rivals: list[str], shown: list[Compared]) -> Iterable[str]:
    yield f'<rect x="{left}" y="{top}" width="{PANEL}" height="{high}" fill="#f4f6f8"/>'
    for ratio in (0.25, 1, 4, 16):
        x, stroke = left + _across(ratio), "#333" if ratio == 1 else "#ccd"
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{top + high}" stroke="{stroke}"/>'
        yield _text(x, top + high + 12, f"{ratio:g}", "middle", "#667")
    for one in shown:
        y = top + LINE * (rivals.index(one.who) + 0.5)
        fill = "#c0392b" if one.ratio < 1 else "#1f77b4"
        title = escape(f"{one.set}: {one.ratio:.2f}")
        x = left + _across(one.ratio)
        yield f'<circle cx="{x:.1f}" cy="{y}" r="3.5" fill="{fill}" fill-opacity=".65"><title>{title}</title></circle>'


def _across(ratio: float) -> float:
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return PANEL * share


def _text(x: float, y: float, words: str, anchor: str = "start", fill: str = "#223", weight: str = "normal") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" font-weight="{weight}"'
    return f"<text {where}>{escape(words)}</text>"
