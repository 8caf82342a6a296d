"""What the figures were measured with: processor, cores, memory, load and versions; never a name or a path."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_info

from core.runtime.environment import cores

PACKAGES = ("numpy", "numba", "scipy", "pyarrow", "duckdb", "scikit-learn", "opendp", "KDEpy", "dask", "distributed")


def machine() -> dict:
    """Facts for a results file."""
    return {
        "processor": _processor(),
        "cores": cores(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "system": platform.system(),
        "blas": _blas(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _processor() -> str:
    """The model as the kernel names it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _blas() -> str:
    """NumPy's library of matrix products, and the processor whose kernels it chose, as its speed depends on it."""
    found = [one for one in threadpool_info() if one["user_api"] == "blas"]
    return " ".join(str(found[0].get(key)) for key in ("internal_api", "version", "architecture")) if found else "none"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
