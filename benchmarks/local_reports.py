"""Local reports of listed answers: errors against the closed forms, coverage of intervals, and times.

    python -m benchmarks.local_reports errors [--runs 20]
    python -m benchmarks.local_reports times [--rival PYTHON]
    python -m benchmarks.local_reports large

A rival is a Python that has pure-ldp; it is timed on fewer people, as every person costs it the same.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np

from core.local.local_release import counted, read_reports, write_reports
from core.local.oracles.oracle import ORACLES, oracle
from core.local.survey import Survey, warm

DOMAIN, PEOPLE, POWER = 1024, 100_000, 1.1
EPSILONS = ("0.5", "1", "3")
RIVALS = {
    "de": "DE", "sue": "UE(use_oue=False)", "oue": "UE(use_oue=True)", "blh": "BLH", "olh": "OLH", "flh": "FLH",
    "hm": "HM", "hr": "HR",
}  # fmt: skip
RIVAL_PEOPLE = 1_000

RIVAL = """
import json, sys, time
import numpy as np
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer, FastLHClient, FastLHServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient, HadamardMechServer
e, d, n = 3, int(sys.argv[1]), int(sys.argv[2])
def hr():
    server = HadamardResponseServer(e, d)
    return HadamardResponseClient(e, d, server.get_hash_funcs()), server
pairs = {
    "de": lambda: (DEClient(e, d), DEServer(e, d)),
    "sue": lambda: (UEClient(e, d, use_oue=False), UEServer(e, d, use_oue=False)),
    "oue": lambda: (UEClient(e, d, use_oue=True), UEServer(e, d, use_oue=True)),
    "blh": lambda: (LHClient(e, d, use_olh=False), LHServer(e, d, use_olh=False)),
    "olh": lambda: (LHClient(e, d, use_olh=True), LHServer(e, d, use_olh=True)),
    "flh": lambda: (FastLHClient(e, d, 1000, use_olh=True), FastLHServer(e, d, 1000, use_olh=True)),
    "hm": lambda: (HadamardMechClient(e, d, 1, use_optimal_t=True), HadamardMechServer(e, d, 1, use_optimal_t=True)),
    "hr": hr,
}
values, found = np.random.default_rng(1).integers(1, d + 1, n), {}
for name, make in pairs.items():
    try:
        client, server = make()
        start = time.process_time()
        for value in values.tolist():
            server.aggregate(client.privatise(value))
        each = (time.process_time() - start) / n
        start = time.process_time()
        server.estimate_all(range(1, d + 1))
        found[name] = [each, time.process_time() - start]
    except Exception as problem:
        found[name] = str(problem)
print(json.dumps(found))
"""


def zipf(people: int, random: np.random.Generator, domain: int = DOMAIN) -> np.ndarray:
    """Values of people by Zipf's law."""
    weights = 1 / np.arange(1, domain + 1) ** POWER
    return random.choice(domain, people, p=weights / weights.sum())


def errors(runs: int) -> None:
    """Mean squared errors over all values and runs, against the closed form of each run's counts."""
    random = np.random.default_rng(1)
    print("| ε | oracle | bits | mean squared error | closed form | ratio | coverage of 95% | estimated for OUE |")
    print("|---|---|---|---|---|---|---|---|")
    for epsilon in EPSILONS:
        unary = oracle("oue", DOMAIN, epsilon)
        for name in ORACLES:
            measured, stated, held, best = [], [], [], []
            for _ in range(runs):
                one = oracle(name, DOMAIN, epsilon)  # with hash functions of its own, where they are shared
                values = zipf(PEOPLE, random)
                counts = np.bincount(values, minlength=DOMAIN)
                tally = one.aggregate(one.privatise(values))
                low, high = one.interval(tally)
                measured.append(((one.estimate(tally) - counts) ** 2).mean())
                stated.append(one.variance(counts).mean())
                best.append(unary.variance(counts).mean())
                held.append(((low <= counts) & (counts <= high)).mean())
            error, form = np.mean(measured), np.mean(stated)
            print(
                f"| {epsilon} | {name} | {one.bits:,} | {error:,.0f} | {form:,.0f} | {error / form:.3f} | "
                f"{100 * np.mean(held):.1f}% | {np.mean(best):,.0f} |",
                flush=True,
            )


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    start = process_time()
    work()
    return process_time() - start


def times(rival: str | None, people: int = 1_000_000) -> None:
    """Privatise, aggregate and estimate, in parts, at ε = 3 over 1024 values."""
    theirs: dict[str, object] = {}
    if rival:
        done = subprocess.run(
            [rival, "-c", RIVAL, str(DOMAIN), str(RIVAL_PEOPLE)], capture_output=True, text=True, check=True
        )
        theirs = json.loads(done.stdout.splitlines()[-1])
    warm()
    values = zipf(people, np.random.default_rng(1))
    print("| oracle | privatise | aggregate | estimate | together | pure-ldp, scaled | times as fast |")
    print("|---|---|---|---|---|---|---|")
    for name in ORACLES:
        one = oracle(name, DOMAIN, 3)
        step, spent, tally = 100_000, [0.0, 0.0], one.zeros()
        for start in range(0, people, step):
            begin = process_time()
            reports = one.privatise(values[start : start + step])
            middle = process_time()
            tally = one.aggregate(reports, tally)
            spent = [spent[0] + middle - begin, spent[1] + process_time() - middle]
        last = seconds(lambda one=one, tally=tally: one.estimate(tally))
        whole, their = sum(spent) + last, theirs.get(name)
        scaled = their[0] * people + their[1] if isinstance(their, list) else None
        beside = f"{scaled:,.1f} s | {scaled / whole:,.0f}" if scaled else f"{'–' if their is None else 'failed'} | –"
        print(f"| {name} | {spent[0]:.3f} s | {spent[1]:.3f} s | {last:.3f} s | {whole:.3f} s | {beside} |", flush=True)


def large() -> None:
    """Hashes over 100,000 values, and reports from Parquet."""
    warm()
    people, domain = 1_000_000, 100_000
    values = np.random.default_rng(1).integers(0, domain, people)
    for name in ("olh", "flh"):
        one = oracle(name, domain, 3)
        reports = one.privatise(values)
        took = seconds(lambda one=one, reports=reports: one.estimate(one.aggregate(reports)))
        print(f"{name}: {people:,} reports over {domain:,} values counted and estimated in {took:.2f} s")
    answers = tuple(map(str, range(DOMAIN)))
    for name, epsilon, millions in (("hm", 1, 40), ("hm", 3, 20), ("hr", 3, 100)):
        asked = Survey.of("Q", answers, name, epsilon)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "reports.parquet")
            some = np.random.default_rng(1).integers(0, DOMAIN, 1_000_000)
            with path.open("wb") as file:
                write_reports(asked, [some] * millions, file)
            took = seconds(lambda asked=asked, path=path: counted(asked, read_reports(asked, path)))
            print(
                f"{name} at ε = {epsilon}: {millions} M reports from Parquet in {took:.2f} s, {millions / took:.0f} M/s"
            )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("errors", "times", "large"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rival")
    asked = parser.parse_args()
    if asked.what == "errors":
        errors(asked.runs)
    elif asked.what == "times":
        times(asked.rival)
    else:
        large()


if __name__ == "__main__":
    main()
