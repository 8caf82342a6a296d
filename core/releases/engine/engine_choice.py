"""Who fills the table: this process, or a Dask cluster. The table is the same, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...errors import RequestError
from ...runtime.environment import check_extra
from ...sketches.linear import LinearSketch
from .building import TableBuilder
from .resuming import Keeping, ResumableBuilding

if TYPE_CHECKING:
    from ...sources import Source
    from .cluster import ClusterBuilding

LOCAL = "local"


def check_engine(engine: object) -> str | None:
    """The address of the scheduler that an engine names: empty for a cluster of this machine, None for no cluster.

    RequestError when there is no such engine, or Dask is not installed.
    """
    name, colon, address = engine.partition(":") if isinstance(engine, str) else ("", "", "")
    if engine == LOCAL:
        return None
    if name != "dask" or bool(colon) != bool(address):
        raise RequestError(
            "The engine must be local (this process), dask (processes on this computer) or dask:ADDRESS (a Dask "
            "scheduler), such as dask:tls://10.0.0.7:8786."
        )
    check_extra("distributed", "cluster", "A Dask cluster")
    return address


def building_on(
    engine: str,
    sketch: LinearSketch,
    source: Source,
    keeping: Keeping | None = None,
    say: Callable[[str], object] = lambda words: None,
) -> TableBuilder | ResumableBuilding | ClusterBuilding:
    """What fills the table of a sketch with the records of a source, when it is iterated over.

    RequestError when there is no such engine, or what is to be continued was paid for already.

    Parameters
    ----------
    engine : str
        "local", "dask" or "dask:ADDRESS"; see `docs/cluster.md`.
    sketch, source : LinearSketch, Source
        Of a settled size, and the private records.
    keeping : Keeping | None
        Where this process writes down how far it is, if anywhere; on a cluster, where every share is read anew when its
        worker dies, nothing is.
    say : Callable[[str], object]
        Tells the owner about that.
    """
    address = check_engine(engine)
    if address is None:
        return TableBuilder(sketch, source) if keeping is None else ResumableBuilding(sketch, source, keeping, say)
    from .cluster import ClusterBuilding

    return ClusterBuilding(sketch, source, address or None)
