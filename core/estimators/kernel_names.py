"""Kernels and mechanisms by name, as estimators take them."""

from __future__ import annotations

from dataclasses import fields

from ..checks import check_choice
from ..domain import Domain
from ..errors import RequestError
from ..hashing.families import check_kernel
from ..kernels import Kernel
from ..kernels.naming import KERNELS
from ..sketches.features import Features
from ..sketches.linear import LinearSketch
from ..sketches.race import Race

SINGLE = tuple(name for name, kernel in KERNELS.items() if "parts" not in {field.name for field in fields(kernel)})
"""Kernels that are not made of others."""
MECHANISMS: dict[str, type[LinearSketch]] = {"race": Race, "features": Features}


def kernel_of(kernel: str | Kernel, bandwidth: float | tuple[float, ...] | None) -> Kernel:
    """The kernel that is meant.

    Raises
    ------
    RequestError
        When there is none of that name, or its bandwidth is missing.
    """
    if isinstance(kernel, Kernel):
        if bandwidth is not None:
            raise RequestError("A kernel that is given whole has its bandwidth; leave the bandwidth out.")
        return kernel
    check_choice(kernel, "A kernel that is given by name", SINGLE)
    if "bandwidth" not in {field.name for field in fields(KERNELS[kernel])}:
        return KERNELS[kernel]()
    if bandwidth is None:
        raise RequestError(
            f"The {kernel} kernel needs a bandwidth, the distance at which closeness fades; it is public, so it is not "
            "found from the data."
        )
    return KERNELS[kernel](bandwidth)


def kernel_sketch(
    domain: Domain, kernel: Kernel, mechanism: str | None, rows: int | None, seed: int | None
) -> LinearSketch:
    """A sketch of kernel sums by the mechanism of that name; RACE where the kernel has hashes, when None."""
    if mechanism is None:
        mechanism = "race" if _has_hashes(kernel) else "features"
    check_choice(mechanism, "The mechanism", tuple(MECHANISMS))
    return MECHANISMS[mechanism](domain, kernel, rows=rows, seed=seed)


def _has_hashes(kernel: Kernel) -> bool:
    try:
        check_kernel(kernel)
    except RequestError:
        return False
    return True
