"""What can be compared: every mechanism of the catalogue and ours, refused in one sentence where it cannot answer."""

import pytest

from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Euclidean, Gaussian, Laplacian
from core.lab.comparison_plan import METHODS
from core.privacy.budget import Budget
from core.releases.forecast.recommendation import Closeness, Distances
from core.sketches.linear import LinearSketch
from core.sketches.registry import cards

RIVALS = {name: card for name, card in cards().items() if card.rival}
LINE, SPACE = Domain.of(x=(0, 10)), Domain.of(a=(0, 1), b=(0, 1), c=(0, 1))
QUESTIONS = [
    (LINE, Closeness(Gaussian(1.0))),
    (LINE, Closeness(Euclidean(1.0))),
    (LINE, Distances("l1")),
    (SPACE, Closeness(Laplacian(0.3))),
    (SPACE, Distances("l2")),
]


def test_every_rival_takes_part():
    assert set(RIVALS) < set(METHODS)
    assert all(key == method.card.name for key, method in METHODS.items())
    assert all(METHODS[key].card is rival for key, rival in RIVALS.items()) and len(RIVALS) == 15


@pytest.mark.few(15)
@pytest.mark.parametrize(("domain", "question"), QUESTIONS, ids=str)
@pytest.mark.parametrize("key", METHODS)
def test_a_method_is_refused_or_made_and_every_size_it_offers_can_be_made(key, domain, question):
    method, budget = METHODS[key], Budget(1, "1e-6")
    refusal = method.refusal(domain, question, budget)
    if refusal is not None:
        assert refusal.endswith(".") and len(refusal) < 400
        return
    assert method.card.answers == ("closeness" if isinstance(question, Closeness) else "distance")
    sizes = method.sizes(domain, question, 5_000)
    assert sizes[0] is None and len(set(sizes)) == len(sizes)
    for size in sizes[1:4]:
        made = method.build(domain, question, budget, size, seed=1)
        assert made.domain == domain
    if isinstance(made := method.build(domain, question, budget, None, seed=1), LinearSketch):
        assert made.answers == method.card.answers


def test_the_size_and_the_seed_reach_the_mechanism():
    race = METHODS["race"]
    made, same, other = (race.build(LINE, Closeness(Euclidean(1.0)), Budget(1), 200, seed) for seed in (1, 1, 2))
    assert made.rows == 200 and made == same != other


def test_what_only_exists_under_a_delta_or_in_few_dimensions_says_so():
    wide = Domain.of(**{f"c{place}": (0, 1) for place in range(300)})
    for key, rival in RIVALS.items():
        method = METHODS[key]
        question = Closeness(Gaussian(1.0)) if rival.answers == "closeness" else Distances("l1")
        if rival.most_dimensions is not None:
            assert "300" in method.refusal(wide, question, Budget(1, "1e-6"))
        if rival.needs_delta:
            assert "δ" in method.refusal(LINE, question, Budget(1))


def test_another_question_is_refused():
    assert "not of distances" in METHODS["race"].refusal(LINE, Distances("l1"), Budget(1))
    assert METHODS["projected race"].refusal(LINE, Closeness(Euclidean(1.0)), Budget(1)) is not None
    with pytest.raises(RequestError):
        METHODS["projected race"].build(LINE, Closeness(Euclidean(1.0)), Budget(1))
