"""Every mechanism that can be compared: ours, as the recommendation makes them, and every rival."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ..domain import Domain
from ..errors import RequestError
from ..privacy.budget import Budget
from ..releases.forecast.recommendation import Closeness, Distances
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.mechanism_spec import MechanismSpec
from ..sketches.plan import planned_for
from ..sketches.registry import cards

Question = Closeness | Distances


@dataclass(frozen=True)
class Method:
    """A mechanism as the comparison makes it, from its card."""

    # What nobody should be advised to, by its `check`, has no part in a comparison either.
    card: MechanismSpec

    def refusal(self, domain: Domain, question: Question, budget: Budget) -> str | None:
        """Why it cannot answer, in one sentence; None where it can. No data is looked at, and nothing is filled."""
        refusal = self.card.refusal(question.facts(domain, budget))
        if refusal is not None:
            return refusal
        first = self._problem(domain, question, budget, None)
        if first is None or any(self._problem(domain, question, budget, size) is None for size in self.card.sizes):
            return None
        return first

    def sizes(self, domain: Domain, question: Question, records: float) -> tuple[int | None, ...]:
        """Settings worth trying: None, for what public facts choose, and then every one that is possible here."""
        budget = Budget(1, 0 if self.refusal(domain, question, Budget(1)) is None else "1e-6")
        possible = (size for size in self.card.sizes if self._problem(domain, question, budget, size) is None)
        return None, *possible

    def build(
        self, domain: Domain, question: Question, budget: Budget, size: int | None = None, seed: int | None = None
    ) -> LinearSketch | Adaptive:
        """The mechanism, perhaps without a size yet."""
        facts = replace(question.facts(domain, budget), size=size, seed=seed)
        refusal = self.card.refusal(facts)
        if refusal is not None:
            raise RequestError(refusal)
        made = self.card.made_from(facts)
        self.card.check(made)
        return made

    def _problem(self, domain: Domain, question: Question, budget: Budget, size: int | None) -> str | None:
        try:
            made = self.build(domain, question, budget, size, seed=0)
            made.check_budget(budget)
            if not made.sized:
                return None
            planned_for(made, budget)
        except RequestError as problem:
            return str(problem)
        return None


class _Methods(Mapping[str, Method]):
    """Methods by key, in the order of lists, made of the cards that there are now."""

    def __getitem__(self, key: str) -> Method:
        return Method(self._cards()[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._cards())

    def __len__(self) -> int:
        return len(self._cards())

    @staticmethod
    def _cards() -> dict[str, MechanismSpec]:
        """Cards of mechanisms that answer a question about points; sets are compared with nothing."""
        taking_part = (card for card in cards().values() if card.recommended or card.rival)
        return {card.name: card for card in taking_part if not card.sets}


METHODS = _Methods()  # Every method by its key, ours first; those of projected points take part from 64 dimensions.
