"""A round of made-up owners, each with records, a key and a ledger of their own, as quickly as it can be made."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.domain import Domain
from core.geometry import kernels
from core.privacy.budget import Budget
from core.releases.rounds.convenor_steps import ask_to_unmask, put_round_together
from core.releases.rounds.owner_steps import make_hello, make_share, unmask
from core.releases.rounds.round_messages import OwnerKey
from core.releases.rounds.round_plan import RoundPlan
from core.sketches.race import Race

DOMAIN = Domain.of(x=(0, 8))
CONVENOR = OwnerKey(bytes([255]) * 32)


@dataclass
class Owners:
    """Some owners of a round.

    Parameters
    ----------
    folder : Path
        Where their ledgers are.
    way : str
        How they share the noise.
    """

    folder: Path
    way: str = "masked"
    count: int = 4
    budget: Budget = field(default_factory=lambda: Budget(1))
    said: dict = field(default_factory=dict)
    sketch: object = None
    rows: int = 4

    def __post_init__(self):
        self.keys = {
            f"owner {place}": OwnerKey(bytes([place % 250 + 1, place // 250]) * 16) for place in range(self.count)
        }
        sketch = self.sketch or Race(DOMAIN, kernels.Euclidean(bandwidth=2), rows=self.rows, width=8, seed=1)
        convenor = CONVENOR.public if self.way == "shared" else None
        publics = {name: key.public for name, key in self.keys.items()}
        self.plan = RoundPlan.of(
            sketch, self.budget, publics, self.way, **{"records": 1_000, "convenor": convenor} | self.said
        )
        self.hellos = (
            {name: make_hello(self.plan, key) for name, key in self.keys.items()} if self.way == "masked" else {}
        )

    def ledger(self, name):
        return str(self.folder / "ledger.sqlite")  # one file for all, each with a data set, as files take long to make

    def records(self, name):
        """Fifty records a place, for every owner."""
        return {"x": np.repeat(np.arange(8) + 0.5, 50)}

    def share(self, name, **more):
        asked = {"ledger": self.ledger(name), "dataset": name, "hellos": self.hellos.values()} | more
        return make_share(self.plan, self.records(name), self.keys[name], **asked)

    def shares(self, *left):
        return {name: self.share(name) for name in self.keys if name not in left}

    def answers(self, messages, *left):
        request = ask_to_unmask(self.plan, messages)
        return [
            unmask(self.plan, key, request, self.hellos.values(), ledger=self.ledger(name))
            for name, key in self.keys.items()
            if name not in left
        ]

    def sum(self, shares, *left):
        """The release of these shares, of which some owners are gone."""
        messages = [*self.hellos.values(), *shares.values()]
        if self.way == "masked":
            messages += self.answers(messages, *left)
        return put_round_together(self.plan, messages, CONVENOR)
