"""The arrays of a graphics processor, where there is one: CuPy, which speaks NumPy's language.

It is never needed, and nothing installs it: `pip install cupy-cuda12x` (or the one for another CUDA) does, and then it
is found. The environment variable FROSTGLASS_DEVICE=cpu leaves it alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

DEVICE = "FROSTGLASS_DEVICE"


@dataclass(frozen=True)
class Arrays:
    """A library of arrays that has NumPy's names, and the three operations for which libraries have names of their own.

    Attributes
    ----------
    xp : ModuleType
        The module, `numpy` or `cupy`.
    fused : Callable[[Any, Any, Any], Any]
        Fused(a, x, s) is a x + s in float64, rounded once.
    least_at : Callable[[Any, Any, Any], object]
        least_at(out, places, values) sets each out[place] to the least of itself and its values, in place.
    to_host : Callable[[Any], Any]
        An array as NumPy's.
    """

    xp: ModuleType
    fused: Callable[[Any, Any, Any], Any]
    least_at: Callable[[Any, Any, Any], object]
    to_host: Callable[[Any], Any]


def device_arrays() -> Arrays | None:
    """Those of the first CUDA device; None where there is none, no CuPy, or they are not wanted."""
    return None if os.environ.get(DEVICE, "").lower() == "cpu" else _cupy()


@cache
def _cupy() -> Arrays | None:
    try:
        import cupy
        import cupyx

        if cupy.cuda.runtime.getDeviceCount() < 1:
            return None
    except Exception:  # no library, no driver, no device: of many types, and all the same here
        return None
    # The function of the device, not the operators of its language, which its compiler may fuse or not.
    fused = cupy.ElementwiseKernel("float64 a, float64 x, float64 s", "float64 y", "y = fma(a, x, s)", "fused")
    return Arrays(cupy, fused, cupyx.scatter_min, cupy.asnumpy)
