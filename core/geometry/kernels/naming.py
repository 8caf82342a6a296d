"""Kernels by their names, as the command line and release files write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from ...errors import RequestError
from .composite import MAX_PARTS, Mixture, Product
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
    if not isinstance(name, str) or name not in KERNELS or depth > 4:
        raise RequestError(f"A kernel must be one of {', '.join(KERNELS)}.")
    facts = {key: entry for key, entry in value.items() if key != "name"}
    kernel = KERNELS[name]
    if set(facts) != {field.name for field in fields(kernel)}:
        raise RequestError(f"The parameters of the kernel {kernel.name!r} are not the ones it has.")
    if "parts" in facts:
        if not isinstance(facts["parts"], list) or len(facts["parts"]) > MAX_PARTS:
            raise RequestError(f"A product or mixture has from 1 to {MAX_PARTS} kernels.")
        facts["parts"] = tuple(kernel_from_dict(part, depth + 1) for part in facts["parts"])
    return kernel(**{key: tuple(v) if isinstance(v, list) else v for key, v in facts.items()})
