"""Every mechanism that can be compared: ours, as the recommendation makes them, and every rival of the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...domain import Domain
from ...errors import RequestError
from ...forecast.recommendation import WORTH_PROJECTING, Closeness, Distances
from ...privacy.budget import Budget
from ...sketches.adaptive import Adaptive
from ...sketches.linear import LinearSketch
from ...sketches.making import distances
from ...sketches.plan import plan
from ...sketches.published.catalogue import RIVALS, Rival

Question = Closeness | Distances
ROWS = (100, 200, 500, 1000, 2000)
"""Numbers of rows that the RACE paper tried (CCS 2021, section 5.1)."""


@dataclass(frozen=True)
class Method:
    """A mechanism as the comparison makes it.

    Attributes
    ----------
    key : str
        Unique, as on the command line.
    title, paper : str
        For people.
    answers : str
        "closeness" or "distance".
    setting : str | None
        What its size counts; None where there is none to choose.
    own : bool
        Whether it is Frostglass's own and no rival.
    idea : str
        How it works, in one plain sentence.
    offered : tuple[int, ...]
        Sizes worth trying, coarse to fine; `sizes` leaves out those that are impossible.
    make : Callable[[Domain, Question, Budget, int | None, int | None], LinearSketch | Adaptive]
        Behind `build`.
    limit : Callable[[Domain, Question, Budget], str | None]
        What is known to be out of reach without making anything, in one sentence; else None.
    """

    key: str
    title: str
    paper: str
    answers: str
    setting: str | None
    own: bool
    idea: str
    offered: tuple[int, ...]
    make: Callable[[Domain, Question, Budget, int | None, int | None], LinearSketch | Adaptive]
    limit: Callable[[Domain, Question, Budget], str | None] = lambda domain, question, budget: None

    def refusal(self, domain: Domain, question: Question, budget: Budget) -> str | None:
        """Why it cannot answer, in one sentence; None where it can. No data is looked at, and nothing is filled."""
        if self.answers != ("closeness" if isinstance(question, Closeness) else "distance"):
            return f"{self.title} answers sums of {_WORDS[self.answers]}."
        limit = self.limit(domain, question, budget)
        if limit is not None:
            return limit
        first = self._problem(domain, question, budget, None)
        if first is None or any(self._problem(domain, question, budget, size) is None for size in self.offered):
            return None
        return first

    def sizes(self, domain: Domain, question: Question, records: float) -> tuple[int | None, ...]:
        """Settings worth trying: None, for what public facts choose, and then every one that is possible here."""
        budget = Budget(1, 0 if self.refusal(domain, question, Budget(1)) is None else "1e-6")
        possible = (size for size in self.offered if self._problem(domain, question, budget, size) is None)
        return None, *possible

    def build(
        self, domain: Domain, question: Question, budget: Budget, size: int | None = None, seed: int | None = None
    ) -> LinearSketch | Adaptive:
        """The mechanism, perhaps without a size yet.

        Parameters
        ----------
        size : int | None
            Its one setting; None leaves it to public facts.
        seed : int | None
            Of its public random numbers; fresh when None.

        Raises
        ------
        RequestError
            When it cannot answer; `refusal` says the same.
        """
        return self.make(domain, question, budget, size, seed)

    def _problem(self, domain: Domain, question: Question, budget: Budget, size: int | None) -> str | None:
        try:
            made = self.build(domain, question, budget, size, seed=0)
            made.check_budget(budget)
            if not made.sized:
                return None
            if isinstance(made, LinearSketch):
                plan(made, budget)
            else:
                made.plan(budget)
        except RequestError as problem:
            return str(problem)
        return None


_WORDS = {"closeness": "closeness, and not of distances", "distance": "distances, and not of closeness"}


def _own(
    key: str, title: str, paper: str, answers: str, idea: str, setting: str | None = None, sizes: tuple = ()
) -> Method:
    """A mechanism that the recommendation knows by the same name."""

    def make(domain: Domain, question: Question, budget: Budget, size: int | None, seed: int | None) -> LinearSketch:
        if isinstance(question, Closeness):
            makers = replace(question, rows=size, seed=seed).candidates(domain, budget)
        else:
            makers = distances(domain, question.norm, question.radius, seed)
        if key not in makers:
            raise RequestError(_elsewhere(title, question))
        return makers[key]()

    return Method(key, title, paper, answers, setting, True, idea, sizes, make)


def _elsewhere(title: str, question: Question) -> str:
    """Why one of ours has no part in a question."""
    if isinstance(question, Closeness):
        return f"{title} takes part from {WORTH_PROJECTING} dimensions, where a projection may pay."
    return f"{title} answers another distance than {question.norm}."


def _rival(rival: Rival) -> Method:
    def make(domain: Domain, question: Question, budget: Budget, size: int | None, seed: int | None) -> LinearSketch:
        return rival.make(domain, question.kernel if isinstance(question, Closeness) else None, size, seed)

    def limit(domain: Domain, question: Question, budget: Budget) -> str | None:
        if rival.most_dimensions is not None and domain.dimensions > rival.most_dimensions:
            return (
                f"{rival.title} is out of reach beyond {rival.most_dimensions:,} dimensions, and there are "
                f"{domain.dimensions:,}."
            )
        if rival.needs_delta and budget.pure:
            return f"{rival.title} only exists under (ε, δ), and δ is 0."
        if isinstance(question, Distances) and question.norm not in _L1_NORMS[domain.dimensions == 1]:
            return f"{rival.title} answers sums of L1 distances, and the question is {question.norm}."
        return None

    return Method(
        rival.name, rival.title, rival.paper, rival.answers, rival.setting, False, rival.idea, rival.sizes, make, limit
    )


_L1_NORMS = {False: ("l1", "lp:1"), True: ("l1", "lp:1", "l2")}
"""Norms that are the L1 distance: of one column, the straight line too."""
_OURS = "Frostglass"
METHODS: dict[str, Method] = {
    method.key: method
    for method in (
        _own(
            "race",
            "RACE",
            "Coleman, Shrivastava 2021",
            "closeness",
            "Random lines cut the space into cells, many times over, and the records in every cell are counted with "
            "noise.",
            "rows",
            ROWS,
        ),
        _own(
            "features",
            "Random features",
            "Wagner et al. 2023",
            "closeness",
            "Random waves are laid over the space, and their heights at all records are added up with noise.",
            "rows",
            ROWS,
        ),
        _own(
            "histogram",
            "Fitted histogram",
            _OURS,
            "closeness",
            "One grid of noisy counts, read with weights that are fitted to the kernel.",
        ),
        _own(
            "projected race",
            "RACE on projected points",
            "Backurs et al. 2024",
            "closeness",
            "The same as RACE after the records are projected on fewer random directions.",
            "rows",
            ROWS,
        ),
        _own(
            "projected features",
            "Random features of projected points",
            "Backurs et al. 2024",
            "closeness",
            "The same as random features after the records are projected on fewer random directions.",
            "rows",
            ROWS,
        ),
        _own(
            "distance",
            "Fitted tree of distances",
            _OURS,
            "distance",
            "Coarse and fine differences of a grid of counts get noise fitted to the distance that is asked for.",
        ),
        _own(
            "moments",
            "Sums of squares",
            "Backurs et al. 2024",
            "distance",
            "A noisy count, the sum of all records and that of their squared lengths say every squared distance.",
        ),
        _own(
            "projected-distance",
            "Distances along random directions",
            _OURS,
            "distance",
            "A straight line is an average over random directions, along each of which distances are easy.",
        ),
        *map(_rival, RIVALS.values()),
    )
}
"""By key; ours first. `projected` ones take part from 64 dimensions."""
