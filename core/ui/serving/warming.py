"""Compiling every hot loop before the first person waits for it: `python -m core.ui.serving.warming`.

Numba compiles a loop when it is first called, and what it made is kept in the user's cache folder
(`core.runtime.compiled_code`), from where it is read in milliseconds. With new versions, or on a new machine, all of it
takes most of a minute of one processor. The app on one's own computer has it done by processes beside it, which give
way to everything else, in the order in which pages may need it; whoever asks for a loop that is not there yet waits
while that one is compiled. After the first page, once those have ended, the app reads everything from the disk.

Every step makes a release of a few made-up records and asks it something, as compiled code depends on the types that
it meets on the way. Nothing of that leaves this module. What a first picture loads besides is loaded here, too, and the
live pictures of bundled samples, which are everyone's, are worked out; what a visitor's first forecast waits for comes
from whoever knows the pages.
"""

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import numpy as np

from ...analysis import density
from ...analysis.classification import classify
from ...domain import Categorical, Column, Domain, Items, Vector
from ...figures.density_figures import Marks, density_figure
from ...figures.forecast_figures import error_figure
from ...geometry.kernels import Euclidean, Gaussian, Jaccard
from ...lab.release_lessons import bundled_live_picture, has_live_picture
from ...local import survey as local_reports
from ...models.certified_logistic import shares_in_words
from ...privacy.budget import Budget
from ...privacy.noise import noise
from ...privacy.noise.divided_noise import warm_parts
from ...releases.file import LARGE
from ...releases.forecast.forecast import error_curve
from ...releases.forecast.recommendation import Closeness, recommend
from ...releases.job import release
from ...releases.release import Release, load
from ...runtime.compiled_code import compiling_all, mark_of_all, remove_unused
from ...runtime.environment import cores
from ...sketches.adaptive import Adaptive
from ...sketches.ball import row_products
from ...sketches.classes import Classes
from ...sketches.linear import LinearSketch
from ...sketches.mechanism_spec import MechanismSpec
from ...sketches.race import Race
from ...sketches.registry import cards
from ...sources.public_tables import samples

GROUPS = Categorical("group", ("a", "b"))
PLANE = Domain.of(x=(0, 1), y=(0, 1))
LENGTH = 80
"""Of vectors: long enough to be added as they lie in memory."""
LONG = Domain((Vector("v", LENGTH, 0, 1), GROUPS))
BUDGET = Budget(1)
SHARES = np.array([0.1, 0.5, 0.9, 0.2])
"""Where made-up records lie between the bounds."""
BASKETS = [["salt", "oil"], ["salt"], ["oil", "rice", "tea"], ["tea"]]

BEFORE = "Compiling all loops, once for these versions on this machine; this takes half a minute or more."
BESIDE = "Compiling loops beside the app, once for these versions on this machine. Until then a first use takes longer."


def _released(sketch: LinearSketch | Adaptive, records: dict, large: int = LARGE) -> Release:
    """A release of the records, written and opened again, as whoever explores it has it."""
    made = release(sketch.sized_for(BUDGET, 8.0), records, BUDGET)
    return load(made.to_bytes(large=large))


def _ask(sketch: LinearSketch | Adaptive, records: dict) -> None:
    """As an ordinary release and, where there is such a thing, as a large one."""
    made = _released(sketch, records)
    queries = {name: records[name] for name in made.sketch.query_domain.names}
    for one in (made, _released(sketch, records, 0)) if made.sketch.reads_mapped else (made,):
        one.answer(queries)


def _records(domain: Domain, kind: type = np.float32) -> dict:
    """A few made-up records, vectors of the given kind of numbers."""
    return {column.name: _values(column, kind) for column in domain.columns}


def _values(column: Column, kind: type) -> object:
    if isinstance(column, Items):
        return BASKETS
    if isinstance(column, Categorical):
        return [column.categories[place % 2] for place in range(len(SHARES))]
    if isinstance(column, Vector):
        return np.outer(SHARES, np.linspace(column.low, column.high, column.length)).astype(kind)
    return list(column.low + SHARES * (column.high - column.low))


def _card(card: MechanismSpec) -> None:
    for sketch in card.warm():
        _ask(sketch, _records(sketch.domain))


def _classes() -> None:
    domain = Domain((*PLANE.columns, GROUPS))
    inner = Race(domain.without("group"), Euclidean(1.0), rows=4, groups=2, seed=0)
    classify(_released(Classes(domain, "group", inner), _records(domain)), {"x": [0.1], "y": [0.2]})


def _long_vectors() -> None:
    """Added as they lie in memory, by the sketches that take them so, in either precision."""
    taking = [card.sketch for card in cards().values() if card.sketch is not None and card.sketch.takes_rows]
    for kind in (np.float32, np.float64):
        for sketch in taking:
            _released(Classes(LONG, "group", sketch(LONG.without("group"))), _records(LONG, kind))
        row_products(np.zeros((1, LENGTH), kind), np.zeros(LENGTH), np.zeros((1, LENGTH)))


def _sets_of_numbers() -> None:
    baskets = Domain((Items("basket"),))
    some, numbers = baskets.encode_queries([["salt"], ["oil"]]), baskets.encode_queries([[1, 2]])
    Jaccard().evaluate(numbers, some[np.array([1])])
    Jaccard().sums(numbers, some)


def _models() -> None:
    """The words by which a minimiser is certified, which few records ask for."""
    one = np.ones((1, 1), np.int64)
    shares_in_words(one, np.array([[1]], object), one[0])


def _picture() -> None:
    """A map with its modes as a page shows it, which loads what figures are made of, piece by piece."""
    made = _released(Race(PLANE, Euclidean(0.5), rows=4), _records(PLANE))
    picture = density.grid(made, "x", "y", {}, 8)
    figure = density_figure(picture, PLANE, "records", Marks(SHARES, SHARES), asked=(0.5, 0.5))
    figure.to_json()
    error_figure([0.5, 1.0], [0.2, 0.1], [0.2, 0.1], 1.0, False, "records").to_json()


def _forecast() -> None:
    """What a page asks before a release, of a few thousand records that nobody has."""
    best = recommend(PLANE, 5000, BUDGET, Closeness(Gaussian(0.05)))[0]
    for delta in (0.0, 1e-6):
        error_curve(best.answering, 5000, [0.5, 1.0], delta)


def _live_pictures() -> None:
    """Of bundled samples at every ε, which are kept."""
    for one in samples():
        if has_live_picture(one):
            bundled_live_picture(one.name)


def steps() -> dict[str, Callable[[], None]]:
    """What there is to be done: a first forecast, every mechanism in the order of lists, and what several share."""
    first, *others = ((card.title, partial(_card, card)) for card in cards().values())
    pages = {"pictures": _picture, "live pictures": _live_pictures}
    shared = {"classes": _classes, "long vectors": _long_vectors, "sets": _sets_of_numbers}
    last = {"local reports": local_reports.warm, "parts of noise": warm_parts, "models": _models}
    return {"forecasts": _forecast} | dict([first]) | {"noise": noise.warm} | pages | shared | dict(others) | last


def _steadily() -> None:
    """Wait for nobody."""


def warm(
    tasks: dict[str, Callable[[], None]] | None = None, give_way: Callable[[], None] = _steadily
) -> dict[str, float]:
    """Compile all loops, or load what an earlier run compiled; the seconds that each of the steps took.

    `give_way`: Waits, before each step, for whoever has something more urgent to do.
    """
    seconds = {}
    for name, step in (steps() if tasks is None else tasks).items():
        give_way()
        start = perf_counter()
        step()
        seconds[name] = perf_counter() - start
    return seconds


def warm_beside(
    first: Callable[[], Iterator[None]], then: Callable[[], Iterator[None]], give_way: Callable[[], None]
) -> None:
    """Take the steps of ``first``, ``then`` those that need loops, and `warm`; in a thread of its own, once a process.

    `give_way`: Waits, between the steps, for whoever has something more urgent to do.
    """
    for _ in first():
        give_way()
    with compiling_all():  # another process may be at it, and this one only reads what that has made
        pass
    for _ in then():
        give_way()
    warm(give_way=give_way)


def _compile_all(tell: Callable[[str], None]) -> bool:
    """Take every step once, in two processes where there are as many cores, for as long as whoever asked for it lives.

    A loop that two steps share may be compiled twice, which harms nothing. False when not every step was taken.
    """
    tasks, ours = list(steps().items()), os.getpid()
    forking = cores() > 1 and hasattr(os, "fork")
    here = multiprocessing.get_context("fork" if forking else None)
    following = here.Value("i", 0)

    def work(asking: int) -> None:
        while os.getppid() == asking:
            with following.get_lock():
                place = following.value
                following.value += 1
            if place >= len(tasks):
                return
            for name, seconds in warm(dict([tasks[place]])).items():
                tell(f"{seconds:6.1f} s  {name}")

    others = [here.Process(target=work, args=(ours,)) for _ in range(int(forking))]
    for other in others:
        other.start()
    work(os.getppid())
    for other in others:
        other.join()
    return following.value >= len(tasks) and not any(other.exitcode for other in others)


def main() -> None:
    """Compile what nobody has compiled yet: before anything else, or ``--beside`` an app, to which this gives way."""
    beside = "--beside" in sys.argv
    if beside:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # who ends the app ends this, and wants to read nothing of it
        if hasattr(os, "nice"):
            os.nice(19)
    gc.disable()  # Numba makes millions of objects that are needed to the end: to look for rubbish takes a twentieth
    with compiling_all():
        mark, start = mark_of_all(), perf_counter()
        if not mark.exists():
            _tell(BESIDE if beside else BEFORE)
            if _compile_all(_nothing if beside else _tell):
                _tell(f"All loops are compiled, in {perf_counter() - start:.0f} s.")
                remove_unused()
                mark.touch()


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _nothing(line: str) -> None:
    """Beside an app nobody wants to read every step."""


if __name__ == "__main__":
    main()
