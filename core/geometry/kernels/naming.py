"""Kernels by their names, as the command line and release files write them."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import RequestError
from ...parameters import Described
from .composite import Mixture, Product
from .fading import Exponential, Gaussian, Laplacian
from .hashed import Angular, Euclidean, Manhattan
from .jaccard import Jaccard
from .kernel import Kernel
from .smooth import Smooth, SmoothL1, SmoothSquared

KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel
    for kernel in (
        Euclidean,
        Manhattan,
        Laplacian,
        Angular,
        Gaussian,
        Exponential,
        Smooth,
        SmoothSquared,
        SmoothL1,
        Jaccard,
        Product,
        Mixture,
    )
}


def kernel_from_dict(value: object, depth: int = 0) -> Kernel:
    """The kernel that `Kernel.to_dict` wrote down.

    Raises
    ------
    RequestError
        On anything else, as the value may come from a stranger's file; nesting is limited to four levels.
    """
    name = value.get("name") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(name, str) or name not in KERNELS or depth > 4:
        raise RequestError(f"A kernel must be one of {', '.join(KERNELS)}.")
    kernel = KERNELS[name]
    facts = kernel.read({key: entry for key, entry in value.items() if key != "name"})
    if "parts" in facts:
        facts["parts"] = [kernel_from_dict(part, depth + 1) for part in facts["parts"]]
    return kernel(**facts)


class KernelKind(Described):
    """A kernel, with all that it is made of."""

    def read(self, value: object) -> Kernel:
        return kernel_from_dict(value)


KERNEL = KernelKind("The kernel", Kernel)
"""What the field of a sketch may be that holds one."""
