"""The ledger never lets more be spent than was promised: whoever spends at once, dies half-way, or damages the file."""

import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import tempfile
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BudgetError, RequestError
from core.privacy.accounting import Cost, PureParts
from core.privacy.budget import Neighbours, Sensitivity
from core.privacy.calibration import calibrate_gaussian
from core.privacy.ledger import ledger_store
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.ledger_records import INSTEAD
from core.privacy.ledger.ledger_store import LedgerDamaged
from tests.depth import deep, draws

MILLIONTH = Decimal("0.000001")


def pure(epsilon, parts=1):
    return Cost((PureParts(Fraction(str(epsilon)) / parts, parts),), Decimal(str(epsilon)))


def gaussian(epsilon):
    table = Sensitivity(1000, 1000, 1000, unit_shifts=True)
    scale = calibrate_gaussian(table, Fraction(str(epsilon)), Fraction(MILLIONTH))
    return Cost.of([(table, scale)], Decimal(str(epsilon)), MILLIONTH)


# Every process of a test would import for two seconds what one can import for all of them.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["core.privacy.ledger.ledger"])


def child(script, *arguments):
    """Start a process of its own, a child of none that has opened a ledger, that runs a script with these `given`."""
    process = PROCESSES.Process(target=exec, args=(script, {"given": [str(argument) for argument in arguments]}))
    process.start()
    return process


def ended(process):
    """How a process has come to its end: 0, or a negative signal."""
    process.join(120)
    return process.exitcode


@pytest.fixture(scope="module")
def postgres():
    """Address of a PostgreSQL server: FROSTGLASS_TEST_POSTGRES, or a temporary one where the programs are installed.

    It has %s in place of a database's name, such as postgresql://user@host/%s, and the user may create databases.
    """
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    if "FROSTGLASS_TEST_POSTGRES" in os.environ:
        yield os.environ["FROSTGLASS_TEST_POSTGRES"]
        return
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("no PostgreSQL is installed, and FROSTGLASS_TEST_POSTGRES names none")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    as_user = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        as_user = {"user": "nobody"}
        shutil.chown(folder, "nobody")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    data = folder / "data"
    subprocess.run(
        [programs[-1] / "initdb", "-D", data, "-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync"],
        check=True,
        **quiet,
        **as_user,
    )
    server = subprocess.Popen(
        [programs[-1] / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
        **quiet,
        **as_user,
    )
    try:
        yield f"postgresql://tester@/%s?host={folder}"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
        shutil.rmtree(folder)


def fresh_database(address):
    """Create a database for one test and return its address."""
    import psycopg

    name = f"ledger_{random.SystemRandom().getrandbits(48):x}"
    for attempt in range(100):
        try:
            with psycopg.connect(address % "postgres", autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return address % name
        except psycopg.OperationalError:
            if attempt == 99:
                raise
            time.sleep(0.1)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """Where a new ledger is to live: a file, or a database of its own."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.sqlite")
    return fresh_database(request.getfixturevalue("postgres"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


# Promising and spending


def test_a_life_of_a_data_set(place):
    ledger = Ledger(place)
    assert ledger.names() == [] and ledger.known("skin") is None
    ledger.register("skin", "0.3", neighbours="replace_one", unit="id:3")
    first = ledger.spend("skin", pure(0.1), {"mechanism": "race"}, neighbours=Neighbours.REPLACE_ONE, unit="id:3")
    second = Ledger(place).spend("skin", pure(0.2, 50), neighbours="replace_one", unit="id:3")
    status = Ledger(place).status("skin")
    assert ledger.known("skin") == status and ledger.known("bank") is None
    assert (status.name, status.epsilon, status.delta, status.unit) == ("skin", Decimal("0.3"), 0, "id:3")
    assert status.neighbours is Neighbours.REPLACE_ONE
    assert (status.spent, status.left) == (0.3, 0)
    assert [entry.id for entry in status.releases] == [first, second]
    assert [entry.cost for entry in status.releases] == [pure(0.1), pure(0.2, 50)]
    assert status.releases[0].note == {"mechanism": "race"} and status.releases[1].note == {}
    assert status.created <= status.releases[0].when <= status.releases[1].when
    with pytest.raises(
        BudgetError, match=r"asks for ε = 0\.000000000001 of data set 'skin'.*total is ε = 0\.3.*ε = 0 is"
    ):
        ledger.spend("skin", pure("0.000000000001"), neighbours="replace_one", unit="id:3")
    assert len(ledger.status("skin").releases) == 2


def test_promises_do_not_change(place):
    ledger = Ledger(place)
    ledger.register("skin", 1, "1e-6")
    ledger.register("skin", 1.0, MILLIONTH)
    for change in ({"epsilon": 2}, {"delta": 0}, {"neighbours": "replace_one"}, {"unit": "id:3"}):
        with pytest.raises(RequestError, match="cannot be changed"):
            ledger.register(**{"name": "skin", "epsilon": 1, "delta": "1e-6"} | change)
    with pytest.raises(RequestError, match="capitals"):
        ledger.register("SKIN", 1)
    ledger.register("bank", 2)
    assert ledger.names() == ["skin", "bank"]
    assert ledger.dataset("bank").epsilon == 2


def test_the_first_release_of_an_unknown_data_set_is_its_total(place):
    ledger = Ledger(place)
    cost = gaussian("0.7")
    assert ledger.register_if_new("skin", cost, "replace_one", "id:3")
    assert not ledger.register_if_new("skin", pure(5), "replace_one", "id:3")
    assert (ledger.dataset("skin").epsilon, ledger.dataset("skin").delta) == (Decimal("0.7"), MILLIONTH)
    ledger.spend("skin", cost, neighbours="replace_one", unit="id:3")
    with pytest.raises(BudgetError):
        ledger.spend("skin", pure("0.000000001"), neighbours="replace_one", unit="id:3")


def test_with_delta_small_parts_cost_less_than_their_sum(path):
    ledger = Ledger(path)
    ledger.register("skin", 1, MILLIONTH)
    for _ in range(3):
        ledger.spend("skin", pure(1, 1000))
    assert ledger.status("skin").spent == pytest.approx(0.205, abs=0.005)
    ledger.spend("skin", gaussian("0.3"))
    with pytest.raises(BudgetError, match="4 releases have spent"):
        ledger.spend("skin", pure(1))


def test_looking_ahead_writes_nothing(path):
    ledger = Ledger(path)
    ledger.register("skin", "0.3")
    ledger.spend("skin", pure(0.1))
    before = path.read_bytes()
    fits = ledger.what_if("skin", pure(0.15))
    assert fits.admitted and fits.refusal is None and fits.spent == 0.25 and fits.left == Decimal("0.05")
    passes = ledger.what_if("skin", pure(0.25))
    assert not passes.admitted and passes.spent == 0.35 and passes.left == 0
    with pytest.raises(BudgetError) as refused:
        ledger.spend("skin", pure(0.25))
    assert str(refused.value) == passes.refusal
    with pytest.raises(BudgetError) as refused:
        ledger.check("skin", pure(0.25))
    assert str(refused.value) == passes.refusal
    ledger.check("skin", pure(0.2))
    ledger.check("unknown", pure(99))
    with pytest.raises(RequestError, match="capitals"):
        ledger.check("Skin", pure(0.1))
    assert "keeps no promise without δ" in ledger.what_if("skin", gaussian(0.1)).refusal
    assert path.read_bytes() == before


@pytest.mark.thorough
@settings(max_examples=draws(6, 15))
@given(st.lists(st.sampled_from(["0.1", "0.2", "0.3", "0.000001", "0.7"]), max_size=8))
def test_sums_are_exact_decimals(epsilons):
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        ledger.register("skin", 1)
        total = Decimal(0)
        for epsilon in map(Decimal, epsilons):
            if total + epsilon <= 1:
                ledger.spend("skin", pure(epsilon))
                total += epsilon
            else:
                with pytest.raises(BudgetError):
                    ledger.spend("skin", pure(epsilon))
        assert ledger.status("skin").left == 1 - total


@pytest.mark.parametrize("name", ["", " skin", "skin ", "two\nlines", "\x00", "x" * 101, None, 3, "half \ud800"])
def test_names_that_cannot_be_told_apart(path, name):
    ledger = Ledger(path)
    for call in (lambda: ledger.register(name, 1), lambda: ledger.spend(name, pure(1)), lambda: ledger.status(name)):
        with pytest.raises(RequestError, match="name of a data set must be"):
            call()


def test_one_name_in_two_unicode_spellings_is_one_data_set(path):
    ledger = Ledger(path)
    ledger.register("Zu\u0308rich", 1)
    ledger.register("Z\u00fcrich", 1)
    assert ledger.names() == ["Z\u00fcrich"]
    ledger.spend("Zu\u0308rich", pure(1))


@pytest.mark.parametrize("note", [["list"], {"x": float("nan")}, {"x": b"bytes"}, {"x": "y" * 100_000}])
def test_notes_are_short_json(path, note):
    ledger = Ledger(path)
    ledger.register("skin", 1)
    with pytest.raises(RequestError, match="note"):
        ledger.spend("skin", pure(1), note)
    assert ledger.status("skin").releases == ()


def test_who_is_protected_must_agree(path):
    ledger = Ledger(path)
    ledger.register("skin", 1)
    for other in ({"neighbours": "replace_one"}, {"unit": "id:3"}):
        with pytest.raises(RequestError, match="do not add up"):
            ledger.spend("skin", pure(1), **other)
        with pytest.raises(RequestError, match="do not add up"):
            ledger.check("skin", pure(1), **other)
    with pytest.raises(RequestError, match="knows no data set 'bank'"):
        ledger.spend("bank", pure(1))
    with pytest.raises(RequestError, match="Epsilon must"):
        ledger.register("bank", 0)


def test_what_is_given_back_counts_as_what_was_drawn_once_and_nothing_else_is(place):
    ledger = Ledger(place)
    ledger.register("d", 1)
    first, whole, more = pure("0.25"), pure(1), pure("0.76")
    entry = ledger.spend("d", whole, {"mechanism": "discovery and release"})
    for wrong, price in ((entry, whole), (entry, gaussian("0.1")), ("0" * 16, first)):
        with pytest.raises(RequestError, match="no entry"):
            ledger.give_back("d", wrong, price)
    assert ledger.status("d").left == 0
    ledger.give_back("d", entry, first, {"mechanism": "discovery"})
    status = ledger.status("d")
    assert [(one.id, one.cost, one.note) for one in status.releases] == [(entry, first, {"mechanism": "discovery"})]
    assert status.left == Decimal("0.75")
    for again in (first, pure("0.125")):
        with pytest.raises(RequestError, match="no entry"):
            ledger.give_back("d", entry, again)
    with pytest.raises(BudgetError):
        ledger.spend("d", more)
    last = ledger.spend("d", pure("0.75"))
    assert [one.id for one in Ledger(place).entries("d")] == [entry, last] and Ledger(place).status("d").left == 0
    assert [line.did for line in ledger.log.lines()][1:] == ["released", "given back", "released"]
    assert ledger.log.verify() == 4


def test_no_release_says_that_it_stands_in_place_of_another(path):
    ledger = Ledger(path)
    ledger.register("d", 1)
    cost = pure("0.5")
    entry = ledger.spend("d", cost)
    with pytest.raises(RequestError, match="in place of none"):
        ledger.spend("d", cost, {INSTEAD: entry})
    assert len(ledger.entries("d")) == 1


def test_a_period_is_written_down_as_drawn_once_whoever_knows_of_fewer_or_of_more(path):
    """Somebody who opened an older file and asks for more periods than were drawn would draw some of them again."""
    ledger = Ledger(path)
    ledger.register("d", 1)
    ledger.spend("d", pure(1), {"mechanism": "living", "parameters": {"seed": 7, "released": 2}})
    assert ledger.drawn("d", "7") == 2 and ledger.drawn("d", "8") == 0
    ledger.go_on("d", "7", 2, 4)
    for after, until in ((2, 4), (2, 6), (3, 5), (5, 6), (4, 4), (4, 3)):
        with pytest.raises(RequestError, match="never drawn twice"):
            ledger.go_on("d", "7", after, until)
    assert ledger.drawn("d", "7") == 4
    with pytest.raises(RequestError, match="has not paid"):
        ledger.go_on("d", "8", 0, 1)
    ledger.go_on("d", "7", 4, 5)
    assert Ledger(path).drawn("d", "7") == 5


# Where it lives


def test_the_default_place_is_for_the_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    ledger = Ledger()
    file = Path(ledger.where)
    assert file.name == "ledger.sqlite" and file.parent.name == "frostglass"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [other.name for other in file.parent.iterdir()] == [file.name]


def test_a_file_by_any_of_its_names(tmp_path):
    file = tmp_path / "a #1 ledger?"
    Ledger(file).register("skin", 1)
    assert Ledger(str(file)).names() == Ledger(f"sqlite:///{file}".replace("?", "%3F")).names() == ["skin"]


@pytest.mark.parametrize(
    "where", ["sqlite://", "sqlite:///:memory:", "sqlite:///x?mode=ro", "mysql://h/d", "://", "postgresql+pg8000://h/d"]
)
def test_other_places_are_refused(where):
    with pytest.raises(RequestError, match="ledger"):
        Ledger(where)


def test_a_server_that_does_not_answer_and_its_password():
    pytest.importorskip("psycopg")
    with pytest.raises(RequestError, match="cannot be read and written") as refused:
        Ledger("postgresql://someone:secret-word@127.0.0.1:1/none")
    assert "secret-word" not in str(refused.value)


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RequestError, match="cannot be created"):
        Ledger(tmp_path / "file" / "ledger.sqlite")


def test_a_writer_that_never_ends(path, monkeypatch):
    monkeypatch.setattr(ledger_store, "SECONDS_TO_WAIT", 0.2)
    ledger = Ledger(path)
    ledger.register("skin", 1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RequestError, match="in use by another process"):
        ledger.spend("skin", pure(1))
    other.close()
    ledger.spend("skin", pure(1))


def test_a_file_that_vanished_is_not_a_new_ledger(path):
    ledger = Ledger(path)
    ledger.register("skin", 1)
    path.unlink()
    with pytest.raises(RequestError):
        ledger.spend("skin", pure(1))
    assert not path.exists()


# Many at once, and sudden ends


def test_a_commit_is_on_the_disk_before_it_is_said_to_be_made(tmp_path, monkeypatch):
    monkeypatch.setattr(ledger_store, "SYNCHRONOUS", "EXTRA")  # as it is outside quick tests
    Ledger(tmp_path / "ledger.sqlite").register("skin", 1)
    with ledger_store.sqlite_engine(tmp_path / "ledger.sqlite").connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3


SPEND_ALL = """
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from core.errors import BudgetError
from core.privacy.accounting import Cost, PureParts
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.ledger_records import INSTEAD

where, epsilon, folder, name = given
cost = Cost((PureParts(Fraction(epsilon)),), Decimal(epsilon))
ledger = Ledger(where)
with open(Path(folder) / name, "w") as spent:
    while not (Path(folder) / "go").exists():
        time.sleep(0.005)
    try:
        while True:
            print(ledger.spend("skin", cost), file=spent, flush=True)
    except BudgetError:
        pass
"""


def test_many_processes_never_pass_the_total(place, tmp_path):
    """Processes open the ledger at once, before it exists, and spend as fast as they can."""
    many, each = draws(2, 6), Decimal(draws(7, 3)) / 100
    spenders = [child(SPEND_ALL, place, f"{each}", tmp_path, f"ready{number}") for number in range(many)]
    while len(list(tmp_path.glob("ready*"))) < many:
        assert all(spender.exitcode is None for spender in spenders)
        time.sleep(0.02)
    ledger = Ledger(place)
    ledger.register("skin", 1)
    (tmp_path / "go").touch()
    assert all(ended(spender) == 0 for spender in spenders)
    printed = [line for file in tmp_path.glob("ready*") for line in file.read_text().split()]
    status = ledger.status("skin")
    assert len(printed) == 1 // each and sorted(printed) == sorted(entry.id for entry in status.releases)
    assert status.left == 1 % each


DIE = """
import os, signal
from decimal import Decimal
from fractions import Fraction
from sqlalchemy import Engine, event
from core.privacy.accounting import Cost, PureParts
from core.privacy.ledger.ledger import Ledger
from core.privacy.ledger.ledger_records import INSTEAD

where, step = given
cost = Cost((PureParts(Fraction(1, 5)),), Decimal("0.2"))

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def die_at(word):  # PostgreSQL is asked both in one question, which begins with another word
    return lambda connection, cursor, statement, *_: die() if statement.startswith((word, "WITH")) else None

if step == "create":
    os.link = die
ledger = Ledger(where)
if step == "before insert":
    event.listen(Engine, "before_cursor_execute", die_at("INSERT"))
elif step == "after insert":
    event.listen(Engine, "after_cursor_execute", die_at("INSERT"))
elif step == "after update":
    event.listen(Engine, "after_cursor_execute", die_at("UPDATE"))
elif step == "before commit":
    event.listen(Engine, "commit", die)
ledger.spend("skin", cost)
die()
"""


@pytest.mark.parametrize(
    "step", [deep("before insert"), deep("after insert"), "after update", deep("before commit"), "after commit"]
)
def test_a_death_at_any_step_never_gains_budget(place, step):
    ledger = Ledger(place)
    ledger.register("skin", "0.3")
    ledger.spend("skin", pure(0.1))
    assert ended(child(DIE, place, step)) == -signal.SIGKILL
    status = ledger.status("skin")
    assert len(status.releases) == (2 if step == "after commit" else 1)
    assert status.left == (0 if step == "after commit" else Decimal("0.2"))
    if status.left:
        ledger.spend("skin", pure(status.left))
    with pytest.raises(BudgetError):
        ledger.spend("skin", pure("0.000001"))


def test_a_death_while_the_file_is_made_leaves_no_half_ledger(path):
    assert ended(child(DIE, path, "create")) == -signal.SIGKILL
    assert not path.exists()
    Ledger(path).register("skin", 1)


def test_deaths_at_random_moments(path):
    """Whatever was confirmed is in the ledger; at most one spend more a death."""
    ledger = Ledger(path)
    ledger.register("skin", 1)
    (path.parent / "go").touch()
    confirmed, delays = [], random.Random(7)
    for death in range(1, draws(3, 4)):
        said = path.parent / f"ready{death}"
        spender = child(SPEND_ALL, path, "0.0001", path.parent, said.name)
        while not said.exists() or not said.read_text():
            assert spender.exitcode is None
            time.sleep(0.005)
        time.sleep(delays.uniform(0, 0.1))
        spender.kill()
        assert ended(spender) == -signal.SIGKILL
        confirmed += said.read_text().split()
        written = [entry.id for entry in ledger.status("skin").releases]
        assert set(confirmed) <= set(written) and len(written) <= len(confirmed) + death


# Damage


def spent_ledger(path):
    ledger = Ledger(path)
    ledger.register("skin", "0.9")
    ledger.register("bank", 1, MILLIONTH)
    for epsilon in ("0.1", "0.2", "0.3"):
        ledger.spend("skin", pure(epsilon), {"mechanism": "race"})
        ledger.spend("bank", pure(epsilon, 10))
    return ledger


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE frostglass_releases SET cost = replace(cost, '0.2', '0.1') WHERE dataset = 1",
        "UPDATE frostglass_releases SET note = '{}' WHERE number = 1",
        "UPDATE frostglass_releases SET created = '2020-01-01T00:00:00+00:00' WHERE number = 1",
        "UPDATE frostglass_releases SET cost = x'00' WHERE number = 2",
        "UPDATE frostglass_releases SET link = 'no'",
        "UPDATE frostglass_releases SET number = number + 1 WHERE number = 3",
        "UPDATE frostglass_releases SET cost = (SELECT cost FROM frostglass_releases WHERE number = 1 AND dataset = 1)",
        "DELETE FROM frostglass_releases WHERE number = 1",
        "DELETE FROM frostglass_releases WHERE number = 3",
        "DELETE FROM frostglass_releases WHERE number = 3; UPDATE frostglass_datasets SET releases = 2",
        "DELETE FROM frostglass_releases",
        "UPDATE frostglass_datasets SET epsilon = '90' WHERE number = 1",
        "UPDATE frostglass_datasets SET unit = 'id:1', neighbours = 'replace_one'",
        "UPDATE frostglass_datasets SET name = 'other' WHERE number = 1",
        "DELETE FROM frostglass_datasets WHERE number = 1",
        "DELETE FROM frostglass_releases WHERE dataset = 2; DELETE FROM frostglass_datasets WHERE number = 2",
        "DELETE FROM frostglass_releases; DELETE FROM frostglass_datasets; UPDATE frostglass_ledger SET datasets = 0",
        "DELETE FROM frostglass_ledger",
        "DROP TABLE frostglass_releases",
    ],
)
def test_edits_are_noticed(path, edit):
    ledger = spent_ledger(path)
    before = path.read_bytes()
    with sqlite3.connect(path) as connection:
        connection.executescript(edit)
    assert path.read_bytes() != before
    connection.close()
    noticed = 0
    for call in (ledger.names, lambda: ledger.status("skin"), lambda: ledger.status("bank")):
        try:
            call()
        except RequestError as error:
            assert "damaged" in str(error) or "not written by this version" in str(error) or "knows no" in str(error)
            noticed += 1
    assert noticed
    with pytest.raises(RequestError):
        Ledger(path).register("new", 1)
        for name in ("skin", "bank"):
            Ledger(path).spend(name, pure("0.01"))


def test_a_file_cut_short_is_refused(path):
    ledger = spent_ledger(path)
    whole = path.read_bytes()
    for length in (0, 1, 99, 100, 512, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(RequestError, match="ledger"):
            Ledger(path).status("skin")
        with pytest.raises(RequestError, match="ledger"):
            ledger.spend("skin", pure("0.01"))
        assert path.read_bytes() == whole[:length]
    path.write_bytes(whole)
    assert ledger.status("skin").left == Decimal("0.3")


def test_something_else_is_not_a_ledger(path):
    path.write_bytes(b"a,b\n1,2\n" * 1000)
    with pytest.raises(LedgerDamaged):
        Ledger(path)
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (name TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerDamaged):
        Ledger(path)


@pytest.mark.thorough
def test_flipped_bits_never_gain_budget(path):
    """Every flip is refused, or changes nothing that is read (free space and SQLite's own bookkeeping)."""
    ledger = spent_ledger(path)
    whole = bytearray(path.read_bytes())
    expected = ledger.names(), ledger.status("skin"), ledger.status("bank")
    used = [place for place, byte in enumerate(whole) if byte]
    chance = random.Random(11)
    refused = 0
    for place in [*range(0, 100, draws(8, 1)), *chance.sample(used, draws(35, 300))]:
        flipped = whole.copy()
        flipped[place] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        try:
            ledger = Ledger(path)
            assert (ledger.names(), ledger.status("skin"), ledger.status("bank")) == expected
        except RequestError:
            refused += 1
    assert refused > draws(20, 200)


@pytest.mark.thorough
def test_the_chain_guards_postgres_too(postgres):
    psycopg = pytest.importorskip("psycopg")
    address = fresh_database(postgres)
    ledger = spent_ledger(address)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DELETE FROM frostglass_releases WHERE dataset = 1 AND number = 3")
    with pytest.raises(LedgerDamaged):
        ledger.spend("skin", pure("0.01"))
    assert len(ledger.status("bank").releases) == 3
