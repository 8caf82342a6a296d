"""A ledger on PostgreSQL that many processes spend from, while its server is killed and started again."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from core.errors import RequestError
from core.privacy.ledger.ledger import Ledger
from tests.privacy.ledger.test_ledger import ROOT

PROCESSES, ATTEMPTS, DATA_SETS = 6, 180, 1
BETWEEN_KILLS = (5, 8)
TOTAL, PRICE = Decimal("0.4"), Decimal("0.01")
"""More is asked for than there is: a data set pays for 40 releases."""
SPEND = """
import random, sys, time
from decimal import Decimal
from fractions import Fraction
from core.errors import BudgetError, RequestError
from core.privacy.accounting import Cost, PureParts
from core.privacy.ledger.ledger import Ledger

where, attempts, sets, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
cost, pick = Cost((PureParts(Fraction(1, 100)),), Decimal("0.01")), random.Random(seed)
lost = 0
for _ in range(attempts):
    name = f"set {pick.randrange(sets)}"
    try:
        print(name, Ledger(where).spend(name, cost, {"mechanism": "race"}), flush=True)
    except BudgetError:
        print("refused", name, flush=True)
    except RequestError:
        lost += 1
        time.sleep(0.05)
print("lost", lost, flush=True)
"""


class Server:
    """PostgreSQL in a folder of its own, which may be killed and comes back."""

    def __init__(self, programs):
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self.user = {"user": "nobody"} if os.geteuid() == 0 else {}  # PostgreSQL refuses to run as root
        if self.user:
            shutil.chown(self.folder, "nobody")
        self.quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder}
        options = ["-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync"]
        data = self.folder / "data"
        subprocess.run([programs / "initdb", "-D", data, *options], check=True, **self.quiet, **self.user)
        self.start()

    @property
    def address(self):
        return f"postgresql://tester@/postgres?host={self.folder}"

    def start(self):
        given = ["-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses=", "-c", "max_connections=100"]
        self.process = subprocess.Popen([self.programs / "postgres", *given], **self.quiet, **self.user)

    def kill(self):
        """End it as a crash does, with all that serve its connections."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(60)


@pytest.fixture
def server():
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("no PostgreSQL is installed")
    server = Server(programs[-1])
    yield server
    server.kill()
    shutil.rmtree(server.folder)


def opened(server):
    """The ledger, once the server has come up."""
    for _ in range(600):
        try:
            return Ledger(server.address)
        except RequestError:
            time.sleep(0.1)
    raise AssertionError("PostgreSQL did not come up.")


@pytest.mark.deep
def test_none_is_lost_and_none_is_overspent_though_the_server_is_killed(server):
    ledger = opened(server)
    names = [f"set {number}" for number in range(DATA_SETS)]
    for name in names:
        ledger.register(name, TOTAL)
    each = -(-ATTEMPTS // PROCESSES)
    command = [sys.executable, "-c", SPEND, server.address, str(each), str(DATA_SETS)]
    spenders = [
        subprocess.Popen(
            [*command, str(seed)], env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
        )
        for seed in range(PROCESSES)
    ]
    for _ in range(2):
        time.sleep(random.uniform(*BETWEEN_KILLS))
        server.kill()
        time.sleep(1)
        server.start()
    ledger = opened(server)
    printed = [line.split() for spender in spenders for line in spender.communicate()[0].splitlines()]
    assert all(spender.returncode == 0 for spender in spenders)
    lost = sum(int(line[1]) for line in printed if line[0] == "lost")
    refused = Counter(" ".join(line[1:]) for line in printed if line[0] == "refused")
    paid = [(" ".join(line[:2]), line[2]) for line in printed if line[0] == "set"]
    assert len(paid) + refused.total() + lost == each * PROCESSES
    kept = {(name, entry.id) for name in names for entry in ledger.status(name).releases}
    assert set(paid) <= kept and len(set(paid)) == len(paid)  # what was confirmed is there
    assert len(kept) - len(paid) <= lost  # what was not, may be: an answer was lost on its way
    for name in names:
        status = ledger.status(name)
        assert len(status.releases) * PRICE + status.left == TOTAL and status.left >= 0
        assert not refused[name] or status.left < PRICE
    ledger.log.verify()
