"""A kernel from its name and bandwidth, as estimators take them."""

from __future__ import annotations

from dataclasses import fields

from ..errors import RequestError
from ..kernels import Kernel
from ..kernels.naming import KERNELS

SINGLE = tuple(name for name, kernel in KERNELS.items() if "parts" not in {field.name for field in fields(kernel)})


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
    if kernel not in SINGLE:
        raise RequestError(f"A kernel must be one of {', '.join(SINGLE)}, or a kernel of `core.kernels`.")
    if "bandwidth" not in {field.name for field in fields(KERNELS[kernel])}:
        return KERNELS[kernel]()
    if bandwidth is None:
        raise RequestError(
            f"The {kernel} kernel needs a bandwidth, the distance at which closeness fades; it is public, so it is not "
            "found from the data."
        )
    return KERNELS[kernel](bandwidth)
