"""Local reports where answers are too many to list: errors of sketches, and searches for frequent words.

    python -m benchmarks.local_large sketches [--runs 5] [--epsilons 0.5,1,3,5]
    python -m benchmarks.local_large words TEXT [--column NAME] [--runs 5] [--people 1000000]

TEXT is a Parquet file of words, one a row or with their counts in a column `count`; a plain text, which is cut into
words; or `made-up`, words of chance by Zipf's law.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from benchmarks.local_reports import zipf
from core.local.heavy_hitters import Alphabet
from core.local.oracles.cell_sketches import CellSketch, CountMin
from core.local.oracles.local_sketch import LocalSketch
from core.local.survey import FINDERS, sketch, warm
from core.local.text_searches import PrivTrie

DOMAIN, PEOPLE, AT_ONCE = 100_000, 1_000_000, 100_000
ROWS, WIDTH = 32, 1024
LEADING = 100
SKETCHES: dict[str, tuple[str, dict[str, object]]] = {
    "count-min, pgr": ("count-min", {"oracle": "pgr"}),
    "count-min, olh": ("count-min", {"oracle": "olh"}),
    "count-min, hr": ("count-min", {"oracle": "hr"}),
    "cms": ("cms", {}),
    "hcms": ("hcms", {}),
    "count-sketch, olh": ("count-sketch", {"oracle": "olh"}),
    "rappor": ("rappor", {}),
}
WAYS = CountMin.ways
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTH, EPSILON, TOPS = 6, 3, (10, 20)
MADE_UP = 20_000
SEARCHES = (*FINDERS, "privtrie")


def made(name: str, epsilon: str, seed: int) -> LocalSketch:
    """A sketch of the survey's size."""
    kind, further = SKETCHES[name]
    size = {"cohorts": ROWS, "width": WIDTH} if kind == "rappor" else {"rows": ROWS, "width": WIDTH}
    return sketch(kind, epsilon, seed=seed, **size, **further)


def sketches(runs: int, epsilons: list[str]) -> None:
    """Mean squared errors over all values and over the most frequent, beside the forecast, and how often bands hold."""
    warm()
    random, every = np.random.default_rng(1), np.arange(DOMAIN)
    print(f"{PEOPLE:,} people over {DOMAIN:,} values, {ROWS} rows of {WIDTH:,}, {runs} runs of each")
    print("| ε | sketch | bits | error | forecast | of the top 100 | bands hold | of the top 100 |", end="")
    print(" error of means | of medians | of minima | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for epsilon in epsilons:
        for name in SKETCHES:
            found, leading, held, top, stated = [], [], [], [], []
            alone: dict[str, list[float]] = {}
            start = process_time()
            for run in range(runs):
                one, values = made(name, epsilon, run), zipf(PEOPLE, random, DOMAIN)
                counts = np.bincount(values, minlength=DOMAIN)
                tally = one.zeros()
                for first in range(0, PEOPLE, AT_ONCE):
                    tally = one.aggregate(one.privatise(values[first : first + AT_ONCE]), tally)
                estimate, low, high = one.answer(tally, every)
                squares, holds = (estimate - counts) ** 2, (low <= counts) & (counts <= high)
                found.append(squares.mean())
                leading.append(squares[:LEADING].mean())
                held.append(holds.mean())
                top.append(holds[:LEADING].mean())
                stated.append(one.typical_variance(PEOPLE))
                if isinstance(one, CellSketch):
                    for how in one.ways:
                        alone.setdefault(how, []).append(((one.alone(tally, every, how) - counts) ** 2).mean())
            took = (process_time() - start) / runs
            print(
                f"| {epsilon} | {name} | {one.bits:,} | {np.mean(found) ** 0.5:,.0f} | {np.mean(stated) ** 0.5:,.0f} | "
                f"{np.mean(leading) ** 0.5:,.0f} | {100 * np.mean(held):.1f}% | {100 * np.mean(top):.1f}% | "
                f"{' | '.join(f'{np.mean(alone[how]) ** 0.5:,.0f}' if how in alone else '–' for how in WAYS)} | "
                f"{took:.1f} |",
                flush=True,
            )


def words_of(text: str, column: str | None) -> tuple[list[str], np.ndarray]:
    """The distinct words of a text, cut to six letters, and how often each comes."""
    counts: Counter[str] = Counter()
    if text == "made-up":
        random = np.random.default_rng(5)
        lengths = random.integers(2, 10, MADE_UP)
        for rank, length in enumerate(lengths, start=1):
            counts["".join(random.choice(list(LETTERS), length))[:LENGTH]] += 10_000_000 // rank
    elif text.endswith(".parquet"):
        table = pd.read_parquet(text)
        name = column or table.columns[0]
        often = table["count"] if "count" in table.columns else np.ones(len(table), int)
        for word, count in zip(table[name].astype(str).str.lower(), often, strict=True):
            if re.fullmatch("[a-z]+", word):
                counts[word[:LENGTH]] += int(count)
    else:
        for word in re.findall("[a-z]+", Path(text).read_text(encoding="utf-8").lower()):
            counts[word[:LENGTH]] += 1
    return list(counts), np.array(list(counts.values()), float)


def search(name: str, said: np.ndarray, least: float, top: int) -> pd.DataFrame:
    """What a search finds where everyone has a word; a trie is told how large a share is looked for."""
    alphabet = Alphabet(LETTERS, LENGTH)
    if name != "privtrie":
        one = FINDERS[name](alphabet, Decimal(EPSILON))
        return one.find(one.privatise(said.tolist()), top)
    trie = PrivTrie(alphabet, Decimal(EPSILON), threshold=least, step=2)
    codes, at = alphabet.codes(said.tolist()), 0

    def ask(length: int, count: int) -> np.ndarray:
        nonlocal at
        mine = codes[at : at + count]
        at += len(mine)
        return trie.report(mine, length)

    return trie.find(ask, len(codes), top)


def words(text: str, column: str | None, people: int, runs: int) -> None:
    """Recall of the most frequent words, relative error of those found, and how often intervals hold, by search."""
    warm()
    every, weights = words_of(text, column)
    random = np.random.default_rng(1)
    print(f"{people:,} people with a word of {text}, of {len(every):,} up to six letters, ε = {EPSILON}, {runs} runs")
    print("| search | top | found | of those found, in the top | mean error of those | intervals that hold | seconds |")
    print("|---|---|---|---|---|---|---|")
    for name in SEARCHES:
        for top in TOPS:
            recall, precise, errors, held, took = [], [], [], [], 0.0
            for _ in range(runs):
                place = random.choice(len(every), people, p=weights / weights.sum())
                counts = pd.Series(np.bincount(place, minlength=len(every)), index=every)
                truth = counts.nlargest(top)
                start = process_time()
                found = search(name, np.array(every)[place], truth.min() / people, top)
                took += process_time() - start
                real = found["value"].map(counts).fillna(0)
                hit = found["value"].isin(truth.index)
                recall.append(hit.sum() / top)
                precise.append(hit.mean())
                errors += (abs(found["estimate"] - real) / real)[hit].tolist()
                held += ((found["low"] <= real) & (real <= found["high"])).tolist()
            print(
                f"| {name} | {top} | {100 * np.mean(recall):.0f}% | {100 * np.mean(precise):.0f}% | "
                f"{100 * np.mean(errors):.1f}% | {100 * np.mean(held):.0f}% | {took / runs:.1f} |",
                flush=True,
            )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sketches", "words"))
    parser.add_argument("text", nargs="?")
    parser.add_argument("--column")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--epsilons", default="0.5,1,3,5")
    asked = parser.parse_args()
    if asked.what == "sketches":
        sketches(asked.runs, asked.epsilons.split(","))
    else:
        words(asked.text or "made-up", asked.column, asked.people, asked.runs)


if __name__ == "__main__":
    main()
