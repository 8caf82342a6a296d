"""Run the benchmarks, print their tables, and write results.json and a page of scaling curves.

python -m benchmarks                                   everything that takes minutes
python -m benchmarks --list                            what there is
python -m benchmarks --only race_build --only noise    some of it
python -m benchmarks --quick                           small sizes, seconds each; no target is judged at them
python -m benchmarks --only friendster_size            what takes long runs only by its name
python -m benchmarks --table > docs/measured.md        the page of all figures, with the tables of results.json
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import traceback
from pathlib import Path

from rich.console import Console
from rich.table import Table

from . import curves, measured_page, results, tables
from .catalogue import CATALOGUE, Benchmark, chosen
from .machine import machine
from .measuring import NotMeasured, Settings

HERE = Path(__file__).parent
OUT = HERE.parent / "artefacts" / "benchmarks"
RESULTS = "results.json"


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 when a benchmark was not measured."""
    options = _options(arguments)
    kept = (options.out or HERE) / RESULTS
    if options.list:
        return _list()
    if options.table or options.pictures:
        return _shown(kept, options)
    try:
        asked = chosen(options.only)
    except ValueError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    out = options.out or (OUT if options.quick else HERE)
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        settings = Settings(options.quick, options.data, Path(scratch), options.scale, options.repetitions)
        found, missing = _run(asked, settings, out / RESULTS)
    _print(found)
    page = (options.out or OUT) / "benchmarks.html"
    if curves.write(page, list(results.read(out / RESULTS).values())):
        print(f"Curves: {_near(page)}")
    if found:
        print(f"Figures: {_near(out / RESULTS)}")
    return 1 if missing else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="may be given several times")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--list", action="store_true", help="name every benchmark, and end")
    parser.add_argument("--data", type=Path, help="a folder of the papers' data as Parquet files")
    parser.add_argument("--out", type=Path, help="a folder for results.json and the page")
    parser.add_argument("--scratch", type=Path, help="a folder for large files; they are removed at the end")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the size of what streams from disk")
    parser.add_argument("--repetitions", type=int, help="of every piece of work, instead of the usual number")
    parser.add_argument("--table", action="store_true", help="print docs/measured.md with the kept results, and end")
    parser.add_argument("--pictures", type=Path, help="draw the kept curves as PNG into a folder, and end")
    return parser.parse_args(arguments)


def _list() -> int:
    """What one run measures, and the commands of their own, by the first lines of their files."""
    for benchmark in CATALOGUE:
        print(f"{benchmark.name:22} {benchmark.about}{' (long: only by its name)' if benchmark.long else ''}")
    print("\nBy themselves, python -m benchmarks.NAME:")
    for path in sorted(HERE.glob("[!_]*.py")):
        text = path.read_text(encoding="utf-8")
        if '__name__ == "__main__"' in text:
            about = text.splitlines()[0].strip('"')
            print(f"{path.stem:22} {about}")
    return 0


def _shown(kept: Path, options: argparse.Namespace) -> int:
    """Nothing is measured: what was kept is printed or drawn."""
    found = list(results.read(kept).values())
    if not found:
        print(f"There are no results in {kept} yet.", file=sys.stderr)
        return 2
    if options.pictures:
        curves.write_pictures(options.pictures, found)
    if options.table:
        print(measured_page.page(found), end="")
    return 0


def _run(asked: list[Benchmark], settings: Settings, kept: Path) -> tuple[list[results.Results], int]:
    """What was measured, and how many benchmarks could not be run; each is said and kept before the next begins."""
    found, missing = [], 0
    for benchmark in asked:
        print(f"{benchmark.name}: {benchmark.about}", file=sys.stderr, flush=True)
        facts = machine()
        try:
            measured = list(benchmark.run(settings))
        except NotMeasured as reason:
            print(f"{benchmark.name} was not run: {reason}", file=sys.stderr)
            missing += 1
        except Exception:  # hours of other measurements must not be lost for it
            traceback.print_exc()
            missing += 1
        else:
            found.append(results.Results.of(benchmark.name, facts, measured, settings.quick, settings.scale))
            results.write(kept, found[-1:])
    return found, missing


def _print(found: list[results.Results]) -> None:
    console = Console(width=190)
    sheet = tables.sheet(found)
    table = Table(*sheet.heads, title=sheet.title, title_justify="left", show_lines=True)
    for row in sheet.rows:
        table.add_row(*(cell.replace("`", "").replace("**", "").replace(tables.BREAK, "\n") for cell in row))
    console.print(table)


def _near(path: Path) -> str:
    """The path as seen from the current folder, where it lies under it."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    sys.exit(main())
