"""Whether records fit what was declared: what is counted, what it costs, and what is refused for that price alone."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from core import Budget, Categorical, Domain, Ledger, Numeric, PrivacyUnit, RequestError, Tables, release
from core.domain.written import Reading
from core.privacy.budget import Neighbours
from core.privacy.noise.randomness import SeededSource
from core.releases.fitting import Fitting
from core.releases.stages import Known
from core.sources import open_source
from tests.depth import draws

CUTS = ("Fair", "Good", " Ideal")
DOMAIN = Domain(
    (Categorical("cut", ("fair", "good", "ideal")), Numeric("carat", 0, 5), Numeric("price", 0, 20_000, step=1))
)


def stones(count: int = 4_000, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    cuts, carats = random.choice(CUTS, count), random.gamma(2, 0.4, count).clip(0, 5)
    return pd.DataFrame(
        {"cut": pd.array(cuts, "string"), "carat": carats, "price": random.integers(300, 19_000, count)}
    )


def asked(domain: Domain, data: pd.DataFrame, where: Ledger, name: str = "stones", epsilon: str = "1"):
    sketch = Tables(domain).sized_for(Budget(1), len(data))
    return release(sketch, data, Budget(epsilon), ledger=where, dataset=name, records=len(data), check=True)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


WRONG = {
    "words that nobody has": (Categorical("cut", ("schlecht", "gut")), "the list of 'cut'"),
    "words where there are numbers": (Categorical("price", ("a", "b")), "the list of 'price'"),
    "bounds that nobody is within": (Numeric("price", 100_000, 200_000), "the bounds of 'price'"),
    "steps that values do not take": (Numeric("carat", 0, 5, step=1), "the bounds or step of 'carat'"),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("column, blamed", WRONG.values(), ids=WRONG)
def test_what_matches_nothing_is_refused_for_a_hundredth_and_made_when_it_is_asked_for_again(column, blamed, ledger):
    ledger.register("stones", 3)
    domain = Domain((column, *(one for one in DOMAIN.columns if one.name != column.name)))
    with pytest.raises(RequestError, match=f"Only about .* records fit what is declared, as .* {blamed}") as refused:
        asked(domain, stones(), ledger)
    assert "ε = 0.01 was spent on how many records fit what is declared" in str(refused.value)
    assert [entry.cost.epsilon for entry in ledger.status("stones").releases] == [Decimal("0.01")]
    made = asked(domain, stones(), ledger)
    paid = [entry.cost.epsilon for entry in ledger.status("stones").releases]
    assert paid == [Decimal("0.01"), Decimal("0.99")] and made.privacy.epsilon == 1
    asked(domain, stones(), ledger)  # of the same declaration it is known
    assert [entry.cost.epsilon for entry in ledger.status("stones").releases][2:] == [Decimal(1)]


@pytest.mark.thorough
def test_another_declaration_after_a_refusal_is_counted_again_and_released(ledger):
    ledger.register("stones", 3)
    with pytest.raises(RequestError, match="Only about"):
        asked(Domain((Categorical("cut", ("a", "b")), DOMAIN.columns[1])), stones(), ledger)
    made = asked(DOMAIN, stones(), ledger)
    paid = [entry.cost.epsilon for entry in ledger.status("stones").releases]
    assert paid == [Decimal("0.01"), Decimal("0.01"), Decimal("0.99")] and abs(made.records - 4_000) < 500


@pytest.mark.thorough
def test_a_total_for_one_release_with_slack_has_room_for_the_warning_and_the_rest(ledger):
    ledger.register("stones", 1, Decimal("1e-6"))
    whole, wrong = Budget(1, "1e-6"), Domain((Categorical("cut", ("a", "b")), *DOMAIN.columns[1:]))
    for domain in (wrong, wrong):
        sketch = Tables(domain).sized_for(whole, 4_000)
        try:
            made = release(sketch, stones(), whole, ledger=ledger, dataset="stones", records=4_000, check=True)
        except RequestError as refused:
            assert "ε = 0.01 was spent" in str(refused)
    assert [entry.cost.epsilon for entry in ledger.status("stones").releases] == [Decimal("0.01"), Decimal("0.99")]
    assert (made.privacy.epsilon, made.privacy.delta) == (whole.epsilon, whole.delta)


@pytest.mark.thorough
def test_few_people_who_fit_are_hardly_ever_refused():
    """A refusal of records that fit all is as rare as the docstring says, from none of them on."""
    stage, tried = Fitting(DOMAIN), draws(400, 4_000)
    offer, refused = stage.offered(Known(Budget(1), 1.0)), 0
    after = Known(Budget(1), 1.0).after(stage, offer)
    for place, many in product(range(tried), (0, 60)):
        exact = np.array([0, 0, 0, many])
        noisy = stage.drawn(exact, after, offer, None, SeededSource(place), lambda rows: None)
        try:
            list(stage.learnt(after, offer, noisy))
        except RequestError:
            refused += 1
    assert refused <= 2 * tried / 200 + 4 * (2 * tried / 200) ** 0.5


def test_cells_are_released_with_the_noise_that_is_paid_for_and_what_was_exact_is_wiped():
    """Each of 256 numbers is off by discrete Laplace noise of the offer: seeded, so the same in every run."""
    stage = Fitting(DOMAIN)
    offer = stage.offered(Known(Budget(1), 1.0))
    after, off = Known(Budget(1), 1.0).after(stage, offer), []
    for seed in range(64):
        exact = np.array([3, 0, 5, 60])
        noisy = stage.drawn(exact, after, offer, None, SeededSource(seed), lambda rows: None)
        off += list(np.subtract(noisy, [3, 0, 5, 60]))
        assert not exact.any()
    assert 0.5 < np.var(off) / float(offer.noise.variance) < 2.0


HOSTILE = ({}, {"cut": None}, {"cut": "no such"}, {"carat": -1.0}, {"carat": np.nan}, {"carat": np.inf}, {"price": 0.5})


def test_no_person_moves_the_cells_further_than_is_priced():
    """Hostile neighbours: every kind of record added or put in the place of another, alone or three together."""
    cells = {}
    frame = stones(30).astype({"price": float})
    for place, values in enumerate(HOSTILE):
        row = pd.DataFrame([frame.iloc[0].to_dict() | values]).astype(frame.dtypes)
        cells[place] = counted(pd.concat([frame, row], ignore_index=True)) - counted(frame)
    for (first, one), (second, other) in product(cells.items(), repeat=2):
        for rows in (1, 3):
            domain = replace(DOMAIN, unit=PrivacyUnit("id", 3)) if rows == 3 else DOMAIN
            added, replaced = (
                Fitting(domain).offered(Known(Budget(4, 0, relation), 1.0)).noise.parameter * Fraction(1, 25)
                for relation in Neighbours
            )
            assert rows * np.abs(one).sum() <= added
            assert rows * np.abs(one - other).sum() <= replaced, (first, second)


def counted(frame: pd.DataFrame) -> np.ndarray:
    reading = Fitting(DOMAIN).read(Known(Budget(1), 1.0), open_source(frame), None)
    while True:
        try:
            next(reading)
        except StopIteration as end:
            return end.value


def test_gaps_fit_where_a_category_is_declared_for_them():
    gaps = Domain(
        (
            Numeric("x", 0, 1, missing_category="none", reading=Reading()),
            Categorical("c", ("a", "other"), unknown_category="other", missing_category="other"),
        )
    )
    batch = next(iter(open_source({"x": ["0.5", "", "7"], "c": ["a", "zzz", None]}).batches(gaps)))
    assert gaps.faults(batch).tolist() == [2, 2, 0]
    plain = Domain((Numeric("x", 0, 1, reading=Reading()), Categorical("c", ("a", "other"))))
    assert plain.faults(batch).tolist() == [2, 0, 0]


def test_noise_alone_makes_no_more_records_fit_than_there_are_and_blames_no_column():
    """Of 4,000 records in hundred columns that all fit, "3,900 of 3,000" did, as 400 failed one of them."""
    heard: list[str] = []
    fitting = Fitting(Domain(tuple(Numeric(f"x{place}", 0, 1) for place in range(100))), heard.append)
    known = Known(Budget(1), 4_000.0)
    offer = fitting.offered(known)
    for seed in range(100):
        noise = np.random.default_rng(seed).laplace(0.0, 100.0, 101)
        noisy = tuple(np.rint(noise + np.append(np.zeros(100), 4_000)).astype(int).tolist())
        list(fitting.learnt(known, offer, noisy))
    assert (
        sum(" of " in one.partition(": ")[2] for one in heard) <= 2
        and sum("have no value" in one for one in heard) <= 5
    )
    lost = (5_000, *[0] * 99, 4_000)
    list(fitting.learnt(known, offer, lost))
    assert "of 9,000 records fit what is declared, as 5,000 have no value within the bounds of 'x0'" in heard[-1]
