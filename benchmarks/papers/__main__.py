"""The papers' experiments by one command, which goes on where it was stopped.

    python -m benchmarks.papers --data FOLDER --out FOLDER [--only NAME] [--set NAME] [--quick] [--repetitions N]

Everything that is done is written down in FOLDER/records.sqlite at once, and never done again by the same version of
the program. At the end, and whenever an experiment is finished, FOLDER/papers.html is written anew; with --report it is
written from what is there already, and nothing is done.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from core.runtime.environment import cores

from . import published_noise, report, training
from .catalogue import EXPERIMENTS
from .density import COMPARED
from .pictures import Section
from .running import known, run
from .store import Store
from .training_sets import CLASSES, NUMBERS
from .work import Experiment, Record, Settings

RECORDS, PAGE = "records.sqlite", "papers.html"


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; 0 when all is done, 2 when the request is wrong, 130 when it was stopped."""
    options = _parser().parse_args(arguments)
    names = options.only or list(EXPERIMENTS)
    known_methods = dict.fromkeys(
        (*COMPARED, published_noise.KEY, *training.methods(CLASSES), *training.methods(NUMBERS))
    )
    methods = [method for method in options.method or () if method not in known_methods]
    unknown = [name for name in names if name not in EXPERIMENTS] or methods
    if unknown:
        names = ", ".join(known_methods if methods else EXPERIMENTS)
        print(f"There is no {unknown[0]!r}; there are: {names}.", file=sys.stderr)
        return 2
    repetitions = options.repetitions or (2 if options.quick else 10)
    if repetitions < 1 or options.workers < 1 or options.seconds <= 0:
        print("Repetitions, workers and seconds must be above zero.", file=sys.stderr)
        return 2
    settings = Settings(
        options.data,
        options.out,
        options.quick,
        repetitions,
        tuple(options.method or ()),
        options.seconds,
        tuple(f"{epsilon:g}" for epsilon in options.epsilon or ()),
        tuple(options.set or ()),
    )
    store = Store(options.out / RECORDS)
    # Whoever ends the program by a signal gets the same tidy end as with Ctrl-C.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        experiments = [EXPERIMENTS[name] for name in EXPERIMENTS if name in names]
        if options.report:
            found = {one.name: known(one, settings, store) for one in experiments}
        else:
            found = _run(experiments, settings, store, options.workers)
        sections = _write(found, settings)
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.", file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
        store.close()
    if options.tables:
        print("\n\n".join(_told(section) for section in sections))
    print(f"The report is {options.out / PAGE}.")
    return 0


def _told(section: Section) -> str:
    """The claims and tables of a section, as Markdown."""
    claims = (f"* {claim.says} {claim.found}" for claim in section.claims)
    return "\n".join((f"## {section.title}\n", *claims)) + "".join(f"\n\n{one.markdown()}" for one in section.sheets)


def _run(experiments: list[Experiment], settings: Settings, store: Store, workers: int) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for experiment in experiments:
            task = progress.add_task(experiment.title, total=None)
            found[experiment.name] = run(
                experiment,
                settings,
                store,
                workers,
                lambda done, total, task=task: progress.update(task, completed=done, total=total),
            )
            _write(found, settings)
    return found


def _write(found: dict[str, list[Record]], settings: Settings) -> list[Section]:
    """The page of all experiments of which there is something to say."""
    sections = [EXPERIMENTS[name].section(settings, records) for name, records in found.items() if records]
    report.write(settings.out / PAGE, sections, settings)
    return sections


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a folder of the papers' data as Parquet files; made up without")
    parser.add_argument("--out", type=Path, default=Path("artefacts/papers"), help="records and report")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"one of {', '.join(EXPERIMENTS)}; repeatable")
    parser.add_argument(
        "--method", action="append", metavar="KEY", help="only this mechanism or way to train; repeatable"
    )
    parser.add_argument("--set", action="append", metavar="NAME", help="only this data set; repeatable")
    parser.add_argument("--epsilon", action="append", type=float, help="only this promise; repeatable")
    parser.add_argument("--report", action="store_true", help="only write the page, from what is done already")
    parser.add_argument("--tables", action="store_true", help="print claims and tables as Markdown too")
    parser.add_argument("--quick", action="store_true", help="small sizes and few promises, seconds an experiment")
    parser.add_argument("--repetitions", type=int, help="reported draws of every method; 10")
    parser.add_argument("--workers", type=int, default=cores(), help="processes, one core each; all cores")
    parser.add_argument("--seconds", type=float, default=120.0, help="most that one trial may take; 120")
    return parser


if __name__ == "__main__":
    sys.exit(main())
