"""Every benchmark that the one command knows: a module of the same name with a function `run`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from .measuring import Comparison, Curve, Settings


@dataclass(frozen=True)
class Benchmark:
    """A name, a sentence, and whether it runs only when it is asked for by name."""

    name: str
    about: str
    long: bool = False

    def run(self, settings: Settings) -> Iterator[Comparison | Curve]:
        """Everything that it measures, as soon as each is there."""
        yield from import_module(f".{self.name}", __package__).run(settings)


CATALOGUE = tuple(
    Benchmark(*facts)
    for facts in (
        ("race_build", "Fill a RACE table: 241,000 colours, R = W = 1000, against NumPy as the paper used it"),
        ("race_query", "Ask a RACE table 10,000 questions, with intervals, against NumPy"),
        ("noise", "A million exact draws of noise against OpenDP"),
        ("exact_density", "Kernel sums without privacy: scikit-learn and KDEpy beside a released sketch"),
        ("minhash_graphs", "Slashdot, R = 2000, W = 100,000: a MinHash table of 200 million counters (--data has it)"),
        ("google_plus_size", "The same with a made-up graph of the size of Google Plus"),
        ("friendster_size", "65 M nodes, 1.8 G edges, W = 500,000, from disk to a release; 25 GB of scratch", True),
        ("jaccard_error", "Figure 6 of the RACE paper: error of Jaccard sums over Slashdot against epsilon"),
        ("high_dimension", "784 columns: a RACE table against the matrix product alone"),
        ("embeddings_classifier", "A private nearest-mean classifier of 50,000 x 6144 embeddings against reading them"),
        ("parquet_stream", "100 million rows of Parquet through the command line against reading them, and memory"),
        ("cluster", "A cluster of processes on this machine against one process: the same table"),
        ("device", "A graphics processor against the processor: the same table", True),
        ("similarities", "The experiments of the ICLR 2024 paper against its own algorithms"),
        ("scaling", "Seconds against rows, columns, R, W and threads"),
    )
)


def chosen(names: list[str]) -> list[Benchmark]:
    """The benchmarks of these names, or without names all that are not long.

    Raises
    ------
    ValueError
        When there is none of a name.
    """
    known = {benchmark.name: benchmark for benchmark in CATALOGUE}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"There is no benchmark {unknown[0]!r}; there are {', '.join(known)}.")
    return [known[name] for name in names] if names else [one for one in CATALOGUE if not one.long]
