"""All frequency oracles by name."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from ...checks import check_choice, exact_fields
from .flh import FastHashing
from .hadamard import Hadamard, HadamardResponse
from .local_hashing import BinaryHashing, OptimalHashing
from .oracle import Oracle
from .projective_geometry import ProjectiveGeometry
from .subset_selection import DirectEncoding, SubsetSelection
from .unary import OptimisedUnary, SymmetricUnary

ORACLES: dict[str, type[Oracle]] = {
    kind.name: kind
    for kind in (
        DirectEncoding,
        SymmetricUnary,
        OptimisedUnary,
        BinaryHashing,
        OptimalHashing,
        FastHashing,
        Hadamard,
        HadamardResponse,
        SubsetSelection,
        ProjectiveGeometry,
    )
}


def oracle(name: str, domain: int, epsilon: object) -> Oracle:
    """The oracle of a name, with its other parameters as they suit the two; RequestError where there is none."""
    check_choice(name, "The oracle", tuple(ORACLES))
    return ORACLES[name](domain, epsilon)  # type: ignore[arg-type]  # any exact number, kept as a decimal


def oracle_from(facts: object) -> Oracle:
    """The oracle that `written` described; RequestError on anything else."""
    given = exact_fields(facts, "frequency oracle", ("name", "parameters"))
    check_choice(given["name"], "The oracle", tuple(ORACLES))
    kind = ORACLES[given["name"]]
    return kind(**kind.read(given["parameters"]))


def described(one: Oracle) -> dict[str, object]:
    """An oracle as a value for JSON."""
    return {"name": one.name, "parameters": one.written()}


def warm() -> None:
    """Compile every loop, for every type of reports that there is."""
    values, one = np.arange(10), Decimal(1)
    shapes: list[Oracle] = [kind(20, one) for kind in (SymmetricUnary, BinaryHashing, SubsetSelection)]
    for domain in (20, 300, 70_000):
        shapes += [kind(domain, one) for kind in (DirectEncoding, HadamardResponse, ProjectiveGeometry)]
    shapes += [FastHashing(20, one, functions, 1) for functions in (10, 1000, 100_000)]
    shapes += [Hadamard(domain, one, coefficients) for domain, coefficients in ((20, 1), (20, 2), (300, 3), (300, 5))]
    for shape in shapes:
        shape.estimate(shape.aggregate(shape.privatise(values)))
    hashing = OptimalHashing(20, one)
    hashing.supported(hashing.privatise(values), values)
