"""Every report of an oracle on a small domain, in the order of the columns of its transition matrix."""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context
from fractions import Fraction
from itertools import combinations, product

import numpy as np

from core.local.oracles.hadamard import Hadamard
from core.local.oracles.oracle import Oracle
from core.local.oracles.unary_subset_direct import SubsetSelection, Unary


def all_reports(one: Oracle) -> np.ndarray:
    if isinstance(one, Unary):
        return np.arange(1 << one.domain, dtype=np.uint64)[:, np.newaxis]
    if isinstance(one, SubsetSelection):
        sets = combinations(range(one.domain), one.size)
        return np.array([sum(1 << value for value in chosen) for chosen in sets], np.uint64)[:, np.newaxis]
    if isinstance(one, Hadamard):
        t, places = one.coefficients, one.places
        drawn = product(range(1 << places), repeat=t)
        packed = (sum(j << i * places for i, j in enumerate(js)) for js in drawn)
        return np.array([js | signs << t * places for js in packed for signs in range(1 << t)], one.report_type)
    return np.arange(one.outcomes, dtype=one.report_type)


def below_e_to(epsilon: object) -> Fraction:
    """A fraction below e^epsilon by less than 10^-70 of it."""
    context = Context(prec=80, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return Fraction(context.next_minus(context.exp(context.create_decimal(str(epsilon)))))
