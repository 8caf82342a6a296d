"""What every control of every page costs the server: processor seconds of the run that a change of it brings about.

python -m benchmarks.controls                       all pages, the dearest changes first
python -m benchmarks.controls --only Explore        pages whose name begins so
python -m benchmarks.controls --most 60             more lines
python -m benchmarks.controls --own                 bundled releases as if they were a visitor's own

Pages are run without a browser by Streamlit's AppTest, which adds a few hundredths of a second to each run and sends
nothing. Every change is one to a value that was not looked at before, so nothing is remembered of it; threads that
work beside the page are counted as long as the run takes. Sliders of words are left out, which AppTest cannot move to a
value whose words are not the value. Processor seconds hold on a busy machine; seconds do not.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
PATIENCE = 600
AIM = 1.0
"""Processor seconds within which a change is to be done."""


@dataclass(frozen=True)
class Cost:
    """Of one change: the page, the control with its new value, and what the run took."""

    page: str
    control: str
    seconds: float
    failed: bool


def main() -> None:
    """Measure, and print; what was measured is printed when a page fails, too."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--only", default="", help="pages whose name begins so")
    options.add_argument("--most", type=int, default=30, help="lines of the table")
    options.add_argument("--own", action="store_true", help="without the answers that come with bundled releases")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_DATA_HOME": home}
        if asked.own:
            from core.ui.released import public_answers

            public_answers.ANSWERS = Path(home)
        found = []
        for name, start in pages():
            if name.startswith(asked.only):
                try:
                    found.extend(measured(name, start))
                except (ValueError, KeyError, IndexError) as error:
                    print(f"{name}: not measured, as {error!r}", file=sys.stderr)
    found.sort(key=lambda cost: -cost.seconds)
    table = Table("page", "control", "processor seconds", title=f"{len(found)} changes")
    for cost in found[: asked.most]:
        table.add_row(cost.page, cost.control, f"{cost.seconds:.2f}{' (failed)' if cost.failed else ''}")
    console = Console()
    console.print(table)
    over = sum(cost.seconds > AIM for cost in found)
    console.print(f"{over} of {len(found)} changes take more than {AIM:g} s of processor time.")


def pages() -> Iterator[tuple[str, Callable]]:
    """What is measured: a name, and what opens it."""
    from core.sources.public_tables import bundled_distances, bundled_groups, bundled_releases
    from core.ui.course import LESSONS

    yield "Home", lambda: opened("app.py")
    yield "Tour", lambda: opened("app.py", tour="true")
    for lesson in LESSONS:
        yield f"Learn {lesson.name}", lambda name=lesson.name: opened("pages/learn.py", lesson=name)
    for _, path in (*bundled_releases(), *bundled_groups(), *bundled_distances()):
        yield f"Explore {path.stem}", lambda name=path.stem: opened("pages/explore.py", release=name)
    for one, path in bundled_groups():
        yield f"Classify {one.name}", lambda path=path: opened("pages/classify.py", path)
    for name in ("compare", "local", "ledger", "train"):
        yield name.capitalize(), lambda name=name: opened(f"pages/{name}.py")
    for sample in ("flights", "health", "stars"):
        yield f"Data {sample}", lambda sample=sample: declared(sample)
        yield f"Release {sample}", lambda sample=sample: released(sample)


def opened(page: str, file: Path | None = None, **address: str):
    """A page as a new visitor has it, with a released file where one is named."""
    from streamlit.testing.v1 import AppTest

    from core.ui.frame.session import KEY, Session

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    if page != "app.py":
        app.switch_page(page)
    for name, value in address.items():
        app.query_params[name] = value
    if file is not None:
        app.session_state[KEY] = Session()
        app.session_state[KEY].open(file.name, file.read_bytes())
    return app.run()


def declared(sample: str):
    """The page Data with a sample that was picked."""
    from core.ui.own_data.picking_records import ORIGIN, PICKED, SAMPLE

    app = opened("pages/data.py")
    app.session_state[ORIGIN] = SAMPLE
    app.run()
    return app.radio(key=PICKED).set_value(sample).run()


def released(sample: str):
    """The page Release with a sample."""
    app = declared(sample)
    return app.button(key="data-use").click().run()


def measured(name: str, start: Callable, kinds: Mapping[str, Callable] | None = None) -> Iterator[Cost]:
    """Open a page, change each of its controls (of these kinds) to each other value, once, and put it back."""
    kinds = KINDS if kinds is None else kinds
    before = time.process_time()
    app = start()
    yield Cost(name, "opening", time.process_time() - before, bool(app.exception))
    for kind, place in [(each, place) for each in kinds for place in range(len(app.get(each)))]:
        widgets = app.get(kind)
        if place >= len(widgets):
            continue
        widget, first = widgets[place], widgets[place].value
        for value in kinds[kind](widget):
            if place >= len(app.get(kind)) or app.get(kind)[place].label != widget.label:
                break
            app.get(kind)[place].set_value(value)
            before = time.process_time()
            app.run()
            spent = time.process_time() - before
            yield Cost(name, f"{widget.label}: {value}", spent, bool(app.exception))
        if place < len(app.get(kind)) and app.get(kind)[place].label == widget.label:
            app.get(kind)[place].set_value(first)
            app.run()


def _others(widget) -> list:
    """Values of a choice that are not chosen; of a long list the first and the last few."""
    rest = [value for value in widget.options if value != widget.value]
    return rest if len(rest) <= 6 else [*rest[:2], *rest[-2:]]


def _each_more(widget) -> list:
    """Every one of several choices by itself."""
    return [[value] for value in widget.options if value not in (widget.value or [])]


def _moved(widget) -> list:
    """A number elsewhere between its ends."""
    if widget.value is None or widget.min is None or widget.max is None or isinstance(widget.value, (list, tuple)):
        return []
    moved = widget.min + (widget.max - widget.min) * 0.37
    return [type(widget.value)(moved)]


KINDS: dict[str, Callable] = {
    "button_group": lambda widget: _each_more(widget) if isinstance(widget.value, list) else _others(widget),
    "selectbox": _others,
    "radio": _others,
    "slider": _moved,
    "number_input": _moved,
    "toggle": lambda widget: [not widget.value],
    "checkbox": lambda widget: [not widget.value],
}
"""Kinds of controls, and the values that each is set to."""

if __name__ == "__main__":
    main()
