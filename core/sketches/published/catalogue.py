"""Every published rival by name: what it answers, what its one setting means, and how it is made.

The command line and the comparison make rivals here, so that the same words give the same mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...domain import Domain
from ...errors import RequestError
from ...geometry.kernels import Kernel
from ..adaptive import Adaptive
from ..linear import LinearSketch
from .distances.counts_and_sums import CountsAndSums
from .distances.huang_roth import MOST_DIMENSIONS, HuangRoth
from .distances.interval_tree import IntervalTree
from .grids.cells import cells_of
from .grids.flat_histogram import FlatHistogram
from .grids.hierarchy import HierarchicalHistogram
from .grids.mwem import MWEM
from .interpolation.bernstein import Bernstein
from .interpolation.mean_embedding import MeanEmbedding
from .networks.mst import MST
from .networks.privbayes import CELLS, PrivBayes
from .series.exponential_sum import ExponentialSum
from .series.fourier_series import FourierSeries
from .series.functional_noise import FunctionalNoise
from .series.trigonometric import Trigonometric


@dataclass(frozen=True)
class Rival:
    """A published mechanism, as others are compared with it.

    Attributes
    ----------
    name : str
        On the command line and in release files.
    title : str
        For people.
    paper : str
        Authors and year.
    answers : str
        "closeness", sums of a kernel, or "distance", sums of L1 distances.
    setting : str | None
        What its size counts, in a few words; None where it has no size to choose.
    sizes : tuple[int, ...]
        Sizes worth trying, coarse to fine.
    most_dimensions : int | None
        Beyond these it is out of reach; None where there is no limit.
    needs_delta : bool
        Whether it only exists under (epsilon, delta).
    make : Callable[[Domain, Kernel | None, int | None, int | None], LinearSketch | Adaptive]
        From the columns, the kernel (None for distances), the size and the seed of its public random numbers; either
        None leaves the choice to public facts and fresh random numbers.
    idea : str
        How it works, in one plain sentence for whoever compares it with others.
    """

    name: str
    title: str
    paper: str
    answers: str
    setting: str | None
    sizes: tuple[int, ...]
    most_dimensions: int | None
    needs_delta: bool
    make: Callable[[Domain, Kernel | None, int | None, int | None], LinearSketch | Adaptive]
    idea: str = ""


RIVALS: dict[str, Rival] = {
    rival.name: rival
    for rival in (
        Rival(
            "exponential-sum",
            "Sum of exponentials",
            "Backurs et al. 2024",
            "closeness",
            "rows",
            (50, 200, 800),
            None,
            False,
            lambda domain, kernel, size, seed: ExponentialSum(domain, kernel, size, seed=seed),
            "A kernel with a long tail is written as a sum of a few exponentials, each of which gets noisy random "
            "waves of its own.",
        ),
        Rival(
            "interval-tree",
            "Tree of intervals",
            "Backurs et al. 2024",
            "distance",
            "levels",
            (4, 6, 8, 10),
            None,
            False,
            lambda domain, kernel, size, seed: IntervalTree(domain, levels=size),
            "People are counted with noise in halves, quarters, eighths and so on of every column, and a distance is "
            "added up from rings of such intervals around the place.",
        ),
        Rival(
            "counts-and-sums",
            "Tree of counts and sums",
            "Liu et al. 2024",
            "distance",
            "levels",
            (4, 6, 8, 10),
            None,
            False,
            lambda domain, kernel, size, seed: CountsAndSums(domain, size),
            "Noisy counts and noisy sums of values in halves, quarters, eighths and so on of every column, from which "
            "the part of the distance on either side of the place follows.",
        ),
        Rival(
            "huang-roth",
            "Queries asked when wrong",
            "Huang and Roth 2014",
            "distance",
            "places a coordinate",
            (4, 6, 9, 14, 20, 32),
            MOST_DIMENSIONS,
            False,
            lambda domain, kernel, size, seed: HuangRoth(domain, size),
            "A convex curve is guessed from few sums of distances, tested under noise at other places, and measured "
            "with noise only where the guess is found wrong.",
        ),
        Rival(
            "bernstein",
            "Bernstein mechanism",
            "Aldà and Rubinstein 2017",
            "closeness",
            "lattice steps a coordinate",
            (4, 10, 20, 40, 100, 400, 1000),
            8,
            False,
            lambda domain, kernel, size, seed: Bernstein(domain, kernel, size),
            "The curve's heights are taken on an even lattice, get noise, and a polynomial through the whole box is "
            "drawn close to them.",
        ),
        Rival(
            "mean-embedding",
            "Kernel mean embedding",
            "Balog et al. 2018",
            "closeness",
            "synthetic points",
            (50, 100, 200, 400, 800, 1600),
            None,
            False,
            lambda domain, kernel, size, seed: MeanEmbedding(domain, kernel, size, seed=seed),
            "Made-up points anyone may know get noisy weights, so that together they look, through the kernel, like "
            "the records.",
        ),
        Rival(
            "fourier-series",
            "Fourier series",
            "Hall et al. 2013",
            "closeness",
            "highest frequency a coordinate",
            (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
            3,
            False,
            lambda domain, kernel, size, seed: FourierSeries(domain, kernel, size),
            "The people are described by waves, slow ones to quick ones; each wave's strength gets noise, and the sum "
            "of them all draws the curve.",
        ),
        Rival(
            "trigonometric",
            "Trigonometric polynomials",
            "Wang et al. 2013",
            "closeness",
            "orders a coordinate",
            (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
            3,
            False,
            lambda domain, kernel, size, seed: Trigonometric(domain, kernel, size),
            "The people are described by polynomials, flat ones to wiggly ones; each one's strength gets noise, and "
            "the curve is put together from them.",
        ),
        Rival(
            "pfda",
            "Functional noise",
            "Mirshani et al. 2019",
            "closeness",
            "highest frequency a coordinate",
            (16, 64, 256, 1024, 4096),
            3,
            True,
            lambda domain, kernel, size, seed: FunctionalNoise(domain, kernel, size),
            "The exact curve gets one smooth random curve on top, whose waves are as strong as the curve's own can be.",
        ),
        Rival(
            "flat-histogram",
            "Flat histogram",
            "Dwork et al. 2006",
            "closeness",
            "cells a coordinate",
            (8, 16, 32, 64, 128, 256),
            6,
            False,
            lambda domain, kernel, size, seed: FlatHistogram(domain, kernel, cells_of(domain, size)),
            "People are counted with noise in the cells of a grid, and everyone in a cell is put in the middle of it.",
        ),
        Rival(
            "hierarchical-histogram",
            "Hierarchical histogram",
            "Hay et al. 2010",
            "closeness",
            "levels",
            (2, 3, 4, 5, 6, 7, 8, 10),
            6,
            False,
            lambda domain, kernel, size, seed: HierarchicalHistogram(domain, kernel, size),
            "People are counted with noise in the cells of a grid and in larger and larger boxes of them, and the "
            "counts are then moved as little as possible until every box holds the sum of its parts.",
        ),
        Rival(
            "privbayes",
            "PrivBayes",
            "Zhang et al. 2017",
            "closeness",
            "cells a coordinate",
            (8, 16, 32, 64),
            None,
            False,
            lambda domain, kernel, size, seed: PrivBayes(domain, kernel, CELLS if size is None else size, seed=seed),
            "For every column a few others that say most about it are chosen under noise, counts of their combinations "
            "get noise, and made-up people are drawn column by column.",
        ),
        Rival(
            "mst",
            "MST",
            "McKenna et al. 2021",
            "closeness",
            "cells a coordinate",
            (8, 16, 32, 64),
            None,
            False,
            lambda domain, kernel, size, seed: MST(domain, kernel, size, seed=seed),
            "Every column and the most telling pairs of columns, chosen under noise, are counted with noise, and "
            "made-up people are drawn from the most even crowd that fits these counts.",
        ),
        Rival(
            "mwem",
            "MWEM",
            "Hardt et al. 2012",
            "closeness",
            "rounds",
            (5, 10, 20, 40, 80),
            6,
            False,
            lambda domain, kernel, size, seed: MWEM(domain, kernel, size, seed=seed),
            "Made-up data start out even everywhere; again and again the question that they answer worst is picked and "
            "measured with noise, and they are changed to agree.",
        ),
    )
}


def rival(name: str) -> Rival:
    """The rival of a name; RequestError where there is none."""
    if name not in RIVALS:
        raise RequestError(f"There is no rival {name!r}; there are: {', '.join(RIVALS)}.")
    return RIVALS[name]
