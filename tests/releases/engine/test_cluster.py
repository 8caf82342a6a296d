"""Tables from a Dask cluster of real processes: the same bits as here, whoever dies, and refusals in one sentence."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import cloudpickle
import dask
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster
from typer.testing import CliRunner

from core import Budget, Ledger, load, release
from core.cli.commands import app
from core.domain import Domain, Items, PrivacyUnit
from core.errors import RequestError
from core.geometry.kernels import Euclidean, Gaussian
from core.releases.engine import cluster as dask_cluster
from core.releases.engine.building import TableBuilder
from core.releases.engine.cluster import ClusterBuilding, _shares, _sized
from core.releases.engine.resuming import Recipe
from core.releases.kind import building_on, check_engine
from core.sketches.classes import Classes
from core.sketches.features import Features
from core.sketches.minhash import MinHash
from core.sketches.moments import Moments
from core.sketches.part import Part
from core.sketches.parts import Parts
from core.sketches.race import Race
from core.sources import open_source
from core.sources.source import Part as SourcePart
from tests.depth import deep, draws

DOMAIN = Domain.of(x=(0, 10), y=(0, 10))
LABELLED = Domain.of(x=(0, 10), y=(0, 10), city=["Bern", "Basel", "Chur"])
SEED = 2024
RACE = Race(DOMAIN, Euclidean(1.0), rows=60, width=64, seed=SEED)
SKETCHES = [
    RACE,
    Features(DOMAIN, Gaussian(1.0), rows=32, seed=SEED),
    Moments(DOMAIN).sized_for(Budget(1), 5000),
    Classes(LABELLED, "city", Race(DOMAIN, Euclidean(2.0), rows=20, width=32, seed=SEED)),
    MinHash(Domain((Items("tags"),)), rows=20, width=64, seed=SEED),
    MinHash(Domain((Items("whom", gathered=True),), unit=PrivacyUnit("who", 1)), rows=20, width=64, seed=SEED),
    Parts.of(
        [
            Part(RACE, noise=1.0),
            Part(Classes(LABELLED, "city", Race(DOMAIN, Euclidean(2.0), rows=20, width=32, seed=SEED)), noise=2.0),
        ]
    ),
]


@pytest.fixture(scope="module")
def address():
    """The scheduler of two worker processes, of quick tests one, which are started again when they die."""
    with dask.config.set(dask_cluster.OWN):
        cluster = LocalCluster(
            n_workers=draws(1, 2),
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
        with cluster:
            yield cluster.scheduler_address


@pytest.fixture(scope="module")
def people(tmp_path_factory) -> str:
    """Five files, some of whose values are missing."""
    folder, random = tmp_path_factory.mktemp("people"), np.random.default_rng(1)
    for number, rows in enumerate((1000, 1, 3000, 700, 0)):
        columns = {"x": random.uniform(-1, 11, rows), "y": random.uniform(0, 10, rows)}
        columns["x"][::7] = np.nan
        cities = random.choice(["Bern", "Basel", "Chur"], rows)
        tags = pa.array([[f"tag {tag}" for tag in range(row % 5)] for row in range(rows)], pa.list_(pa.string()))
        cities = pa.array(cities, pa.string())
        who = number * 10_000 + np.arange(rows) // 3
        columns |= {"city": cities, "tags": tags, "id": np.arange(rows), "who": who, "whom": who % 7}
        table = pa.table(columns)
        pq.write_table(table, folder / f"{number}.parquet")
    return str(folder / "*.parquet")


def filled(building):
    """The exact table and number of records, after the whole of a building."""
    for _ in building:
        pass
    return building.exact


def same(one, other) -> bool:
    return (
        one.table.dtype == other.table.dtype
        and np.array_equal(one.table, other.table)
        and (np.array_equal(one.records, other.records))
    )


@pytest.mark.thorough
@pytest.mark.parametrize("place", [0, *map(deep, range(1, len(SKETCHES)))])
def test_tables_are_the_same_bit_for_bit(address, people, place):
    sketch = SKETCHES[place]
    source = open_source(people)
    here = TableBuilder(sketch, source)
    rows_here = list(here)
    there = ClusterBuilding(sketch, source, address)
    rows_there = list(there)
    assert same(there.exact, here.exact)
    assert rows_there[-1] == rows_here[-1] == 4701
    assert (np.diff(rows_there) >= 0).all()
    assert there.exact.table.flags.writeable  # noise is written over it


def test_seeds_travel_and_arrays_do_not():
    race = Race(Domain.of(**{f"c{place}": (0, 1) for place in range(20)}), Euclidean(1.0), rows=1000, seed=SEED)
    table = race.zeros()
    race.add(table, np.full((3, 20), 0.5, order="F"))
    assert len(pickle.dumps(race)) > 100_000  # with its hashes
    recipe = Recipe.of(race)
    assert len(cloudpickle.dumps(recipe)) < 4000
    again = pickle.loads(pickle.dumps(recipe)).sketch()
    assert again == race and again is recipe.sketch()
    other = again.zeros()
    again.add(other, np.full((3, 20), 0.5, order="F"))
    assert np.array_equal(table, other)


def test_a_worker_with_another_copy_of_a_file_is_refused(people):
    source = open_source(people)
    shares = [_sized(share, source.fingerprint()) for share in _shares(source.parts(DOMAIN), 3)]
    assert all(share.sizes for share in shares)
    assert sum(len(batch) for share in shares for batch in share.batches(DOMAIN, 100)) == 4701
    stale = replace(shares[0], sizes=tuple((path, size + 1) for path, size in shares[0].sizes))
    absent = replace(shares[0], sizes=(("/nowhere/people.parquet", 1),))
    for share in (stale, absent):
        with pytest.raises(RequestError, match="not the same, on a worker"):
            next(share.batches(DOMAIN, 100))


@pytest.mark.thorough
def test_another_program_is_refused(address, people, monkeypatch):
    made = Recipe.of(RACE)
    older = tuple((name, "0.0.1") if name == "numpy" else (name, version) for name, version in made.surroundings)
    monkeypatch.setattr(Recipe, "of", lambda sketch: Recipe(made.mechanism, made.facts, older))
    with pytest.raises(RequestError, match=r"A worker runs numpy \d.* and this computer 0\.0\.1: they must be"):
        filled(ClusterBuilding(RACE, open_source(people), address))


@dataclass(frozen=True)
class SlowPart(SourcePart):
    """Ten batches of ten records, with time to kill who reads them; it leaves a note each time it is begun."""

    number: int
    notes: str

    def batches(self, domain, rows=0):
        Path(self.notes, f"{self.number}-{os.getpid()}").touch()
        for batch in range(10):
            time.sleep(0.02)
            values = np.random.default_rng([self.number, batch]).uniform(0, 10, (2, 10))
            yield pa.RecordBatch.from_arrays([pa.array(values[0]), pa.array(values[1])], names=["x", "y"])


@dataclass(frozen=True)
class SlowSource:
    """A source of such parts."""

    notes: str
    label = "the slow source"

    def parts(self, domain):
        return tuple(SlowPart(100, number, self.notes) for number in range(8))

    def batches(self, domain, rows=0, start=0):
        return (batch for part in self.parts(domain) for batch in part.batches(domain))

    def fingerprint(self):
        return None

    def keeps_order(self, domain):
        return False

    def rows_total(self):
        return 800


@pytest.mark.deep
def test_a_worker_that_is_killed_changes_nothing(address, tmp_path):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        (tmp_path / "here").mkdir()
        here = filled(TableBuilder(RACE, SlowSource(str(tmp_path / "here"))))
        building, killed = ClusterBuilding(RACE, SlowSource(str(tmp_path)), address), None
        for _ in building:
            begun = sorted(tmp_path.glob("?-*"), key=lambda note: note.stat().st_mtime)
            if killed is None and len(begun) >= 4:
                killed = int(begun[-1].name.partition("-")[2])
                os.kill(killed, signal.SIGKILL)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert killed is not None
    assert len(list(tmp_path.glob("?-*"))) > 8  # so some share was read again
    assert same(building.exact, here)


@pytest.mark.thorough
def test_a_damaged_file_is_one_sentence_and_costs_nothing(address, people, tmp_path):
    for number, file in enumerate(sorted(Path(people).parent.glob("*.parquet"))):
        content = bytearray(file.read_bytes())
        if number == 2:
            content[4:2000] = os.urandom(1996)
        (tmp_path / file.name).write_bytes(content)
    pattern, ledger = str(tmp_path / "*.parquet"), Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(RequestError) as here:
        filled(TableBuilder(RACE, open_source(pattern)))
    with pytest.raises(RequestError) as there:
        release(RACE, pattern, Budget(1), ledger=ledger, dataset="people", engine=f"dask:{address}")
    assert str(there.value) == str(here.value)
    assert ledger.names() == []


@pytest.mark.thorough
def test_the_command_line_has_an_option_for_it(address, people, tmp_path, monkeypatch):
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(tmp_path / "ledger.sqlite"))
    bounds = ["--bounds", "x=0:10", "--bounds", "y=0:10"]
    size = ["--bandwidth", "1", "--rows", "60", "--width", "64", "--seed", str(SEED)]
    payer = ["--dataset", "people", "--epsilon", "50"]
    command = ["release", people, *payer, *bounds, *size, "--out", f"{tmp_path}/people.npz"]
    made = CliRunner().invoke(app, [*command, "--engine", f"dask:{address}"])
    assert made.exit_code == 0, made.output
    released, exact = load(tmp_path / "people.npz"), filled(TableBuilder(RACE, open_source(people)))
    assert released.sketch == RACE
    off = np.abs(released.counters - exact.table).max()
    assert 0 < off < 60 * released.privacy.counter_variance**0.5  # noise, of which more is rarer than 1e-20
    for engine, further in (("spark", []), ("dask:", []), ("dask", ["--private-bounds", "x=0:1e7"])):
        refused = CliRunner().invoke(app, [*command, "--overwrite", *further, "--engine", engine])
        assert refused.exit_code == 2 and "engine" in refused.stderr.splitlines()[-1]


@pytest.mark.thorough
def test_a_fault_on_a_worker_says_its_kind_alone(address, tmp_path):
    class Broken(SlowPart):
        def batches(self, domain, rows=0):
            raise KeyError("a value of the data")
            yield

    class Source(SlowSource):
        def parts(self, domain):
            return (Broken(1, 1, self.notes),)

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        with pytest.raises(Exception) as fault:
            filled(ClusterBuilding(RACE, Source(str(tmp_path)), address))
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert (type(fault.value).__name__, str(fault.value)) == ("ClusterFault", "KeyError")
    assert fault.value.__context__ is None and fault.value.__cause__ is None


@pytest.mark.thorough
def test_what_cannot_be_divided_is_refused(address, people):
    by_person = Race(Domain.of(x=(0, 10), y=(0, 10), unit=PrivacyUnit("id", 2)), Euclidean(1.0), rows=10)
    for sketch, data in ((RACE, np.zeros((5, 2))), (by_person, people)):
        with pytest.raises(RequestError, match=r"cannot be divided among workers.*use --engine local"):
            filled(ClusterBuilding(sketch, open_source(data), address))


@pytest.mark.thorough
def test_stopping_early_leaves_nothing(address, tmp_path):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        building = ClusterBuilding(RACE, SlowSource(str(tmp_path)), address)
        next(iter(building))
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    with pytest.raises(RuntimeError, match="not finished"):
        _ = building.exact


@pytest.mark.deep
def test_one_option_makes_a_closed_cluster_of_this_machine(people, monkeypatch):
    """Nobody enters without its certificate, it shows nothing over HTTP, and its folder is gone at the end."""
    monkeypatch.setattr(dask_cluster, "cores", lambda: 1)  # starting workers is what takes long
    building, source = building_on("dask", RACE, open_source(people)), open_source(people)
    folder = None
    for _ in building:
        if folder is None:
            (cluster,) = (made for made in LocalCluster._instances if made.scheduler_address.startswith("tls://"))
            folder = Path(cluster.workers[0].local_directory).parent
            assert folder.name.startswith("frostglass-") and folder.stat().st_mode & 0o077 == 0
            assert cluster.scheduler_address.startswith("tls://127.0.0.1:")
            monkeypatch.setattr(dask_cluster, "ANSWER_SECONDS", 1)
            with pytest.raises(RequestError, match="No Dask scheduler answers"):
                next(iter(ClusterBuilding(RACE, source, cluster.scheduler_address)))
            page = f"http://127.0.0.1:{cluster.scheduler.http_server.port}/info/main/workers.html"
            with pytest.raises(HTTPError, match="404"):
                urlopen(page)
    assert folder is not None and not folder.exists()
    assert same(building.exact, filled(building_on("local", RACE, source)))


@pytest.mark.parametrize("place", ["tcp://10.0.0.7:8786", "tcp://example.org:8786", "ucx://10.0.0.7:1", "ws://h:1"])
def test_connections_that_others_could_read_are_refused(place):
    with pytest.raises(RequestError, match="not encrypted"):
        dask_cluster.check_closed(place)


def test_encrypted_and_inner_connections_are_not_refused():
    for place in ("tls://10.0.0.7:8786", "tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:8786"):
        dask_cluster.check_closed(place)


@pytest.mark.parametrize("engine", ["", "dask:", "spark", "local:", "Dask", None, 7])
def test_no_such_engine(engine):
    with pytest.raises(RequestError, match="The engine must be local"):
        check_engine(engine)
    assert [check_engine("local"), check_engine("dask"), check_engine("dask:tls://a:1")] == [None, "", "tls://a:1"]


@pytest.mark.deep
def test_shares_are_all_parts_once_in_order():
    for count in (1, 2, 7, 8, 100):
        parts = tuple(range(count))
        shares = _shares(parts, 8)
        assert sum((share.parts for share in shares), ()) == parts
        assert len(shares) == min(8, count) and all(share.parts for share in shares)
        assert [share.parts for share in _shares(parts, 0)] == [parts]


@pytest.mark.deep
def test_a_worker_started_where_the_program_is_not_found_is_refused_by_its_host(tmp_path):
    """`dask worker` does not look into the folder of a checkout; it said 'a worker does not have the program'."""
    begun = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path, "env": dict(os.environ)}
    begun["env"].pop("PYTHONPATH", None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    names = ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    started = [subprocess.Popen([sys.executable, "-m", "dask", *names], **begun)]
    try:
        started.append(subprocess.Popen([sys.executable, "-m", "dask", "worker", address, "--no-dashboard"], **begun))
        with (
            pytest.raises(RequestError, match=r"by tcp://127\.0\.0\.1:\d+.* and the scheduler: .*PYTHONPATH"),
            dask_cluster.connected(address),
        ):
            pass
    finally:
        for one in started:
            one.terminate()
            one.wait(timeout=30)
