"""A mechanism for a question: what is to be measured decides which ones have a part, and public facts their details.

The command line, the recommendation, the estimators and the app make their sketches here or from a card itself, so that
the same words give the same sketch.
"""

from __future__ import annotations

from typing import cast

from ..domain import Domain
from ..errors import RequestError
from ..geometry.distances.profiles import profile_named
from ..geometry.hashing import families
from ..geometry.kernels import Kernel
from ..privacy.budget import Budget
from .linear import LinearSketch
from .mechanism_spec import MechanismSpec, PublicInputs
from .registry import cards


def hashed(kernel: Kernel) -> bool:
    """Whether RACE has the kernel."""
    try:
        families.check_kernel(kernel)
    except RequestError:
        return False
    return True


def candidates(facts: PublicInputs) -> list[MechanismSpec]:
    """The cards of all mechanisms that may be recommended for a question, in the order of lists.

    RequestError when there is no such distance.
    """
    if facts.kernel is None:
        check_norm(facts)
    return [card for card in cards().values() if card.recommended and card.refusal(facts) is None]


def check_norm(facts: PublicInputs) -> None:
    """RequestError when there is no such distance, or a radius where none is used."""
    norm = facts.norm or ""
    if norm in ("l2", "squared"):
        return
    if facts.radius is not None:
        raise RequestError("A radius belongs to the norms l2 and squared; other distances are kept by the bounds.")
    if norm.partition(":")[0] not in ("l1", "lp", "capped", "above", "below"):
        raise RequestError(f"The norm {norm!r} must be l1, l2, squared, lp:P, capped:C, above or below.")
    profile_named(norm)


def distance(domain: Domain, norm: str, *, radius: float | None = None, seed: int | None = None) -> LinearSketch:
    """The mechanism for sums of distances that is best as a rule: the first that may be recommended.

    RequestError when there is no such norm, or a radius where none is used. `norm`: "l1", "l2", "squared", "lp:P",
    "capped:C", "above" or "below". `radius`: of "l2" and "squared": records farther than this from the middle of the
    bounds are moved towards it. `seed`: of random directions, for "l2"; fresh when None.
    """
    # None of these sketches depends on the promise before it is sized.
    facts = PublicInputs(domain, Budget(1), norm=norm, seed=seed, radius=radius)
    return cast(LinearSketch, candidates(facts)[0].made_from(facts))  # none that answers distances best is adaptive
