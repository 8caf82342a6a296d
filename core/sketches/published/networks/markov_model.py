"""The most even distribution that agrees with noisy marginals: a Markov random field, fitted by `mbi` (private-pgm).

McKenna, Sheldon, Miklau (ICML 2019): of all distributions with a given total, find one whose marginals are closest to
the noisy ones in squared error; it can be taken to be a Markov random field on the measured cliques. The package is
optional, as it brings JAX along; it fits, and `elimination` gives the marginals.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....machine.environment import check_extra
from .elimination import marginal

ITERATIONS = 3_000
"""Steps of mirror descent; a few hundred bring the loss within a per cent of its least."""


def check_installed() -> None:
    """RequestError where the package is missing."""
    check_extra("mbi", "marginals", "A model of marginals")


def fitted_marginals(
    counts: Sequence[int],
    cliques: Sequence[tuple[int, ...]],
    noisy: Sequence[np.ndarray],
    total: float,
    deviations: Sequence[float] | None = None,
    wanted: Sequence[tuple[int, ...]] | None = None,
    iterations: int = ITERATIONS,
) -> list[np.ndarray]:
    """Marginals of the fitted model, consistent with each other.

    Parameters
    ----------
    counts : Sequence[int]
        Cells of each axis.
    cliques : Sequence[tuple[int, ...]]
        The axes of each measured marginal; one may have been measured several times.
    noisy : Sequence[np.ndarray]
        One table a clique, in the shape of its axes.
    total : float
        What the cells of each marginal add up to.
    deviations : Sequence[float] | None
        Standard deviation of the noise of each table, up to a factor; None for noise that is the same in all.
    wanted : Sequence[tuple[int, ...]] | None
        The axes of each marginal that is asked for, in increasing order; None for those that were measured.
    iterations : int
        Steps at most.

    Returns
    -------
    list[np.ndarray]
        One table for each that is wanted, float64, in the shape of its axes, not negative.

    Raises
    ------
    RequestError
        Where the package is missing.
    """
    check_installed()
    with warnings.catch_warnings():
        # On import it advises single-precision programs and programs that keep compiled code; this is neither.
        warnings.simplefilter("ignore")
        import jax
        from mbi import Domain, LinearMeasurement
        from mbi.estimation import MirrorDescent

        # In this thread and block alone: nobody else's arrays change their type.
        with jax.enable_x64(True):
            axes = Domain(list(range(len(counts))), list(counts))
            measured = [
                LinearMeasurement(np.asarray(table, np.float64).reshape(-1), clique, deviation)
                for clique, table, deviation in zip(cliques, noisy, deviations or [1.0] * len(cliques), strict=True)
            ]
            model: Any = MirrorDescent().estimate(axes, measured, known_total=float(total), iters=iterations)
            potentials = {
                tuple(factor.domain.attributes): np.asarray(factor.values, np.float64)
                for factor in model.potentials.tables.values()
            }
    # Counts that no crowd has, in a stranger's file, may leave numbers that are none: nothing is known then.
    with np.errstate(all="ignore"):
        found = [
            marginal(potentials, counts, clique, float(total)) for clique in (cliques if wanted is None else wanted)
        ]
    return [np.maximum(np.nan_to_num(table, nan=0.0, posinf=0.0), 0.0) for table in found]
