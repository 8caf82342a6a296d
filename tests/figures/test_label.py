"""The privacy label says what is true of a release, in the same order, and nothing that a name could smuggle in."""

import json
from dataclasses import fields
from hashlib import sha256

import numpy as np
import pytest

from core import (
    Budget,
    Classes,
    Directions,
    Distance,
    Domain,
    Features,
    Histogram,
    MinHash,
    Moments,
    Projected,
    Race,
    Release,
)
from core.domain import Categorical, Items, Numeric, PrivacyUnit
from core.domain.item_sets import Sets
from core.figures.exploration import Density
from core.figures.label import describe, privacy_label, to_json
from core.figures.meaning import column_values
from core.figures.share.page_sections import label_html
from core.geometry import kernels
from core.lab.published.grid_cells import Marginals
from core.lab.published.huang_roth import HuangRoth
from core.lab.published.mwem import MWEM
from core.lab.published.privbayes import PrivBayes
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.forecast.whole_table import whole_table
from core.releases.job import release
from core.releases.kind import with_chosen_size
from core.releases.seal import seal
from core.sketches.mechanism_spec import PublicInputs
from core.sketches.registry import card
from tests.figures.explorations import report_of
from tests.figures.share.test_shared_page import Reader
from tests.releases_for_tests import counted_release, small_release


def text_of(release) -> str:
    return " ".join(describe(release))


def label_of(release) -> str:
    """The label on the page of a release."""
    return "".join(label_html(privacy_label(release)))


def test_a_pure_release():
    label = privacy_label(small_release(Budget(1)))
    assert (label.private, label.protected, label.promise, label.slack) == (True, "each record", "ε = 1", "")
    assert label.odds == pytest.approx(0.7310585786)
    assert "73.1%" in label.odds_in_words
    assert "even whether it is there" in label.hidden
    assert label.overlap == ""
    assert [(column.name, column.values) for column in label.columns] == [
        ("age", "0 to 100"),
        ("city", "one of 2: Bern and Basel"),
    ]


def test_delta_is_said_as_a_chance():
    release = small_release(Budget(1, "1e-6"))
    assert privacy_label(release).promise == "ε = 1, δ = 0.000001"
    assert "at most one in 1,000,000 the promise may fail" in text_of(release)
    assert "may fail" not in text_of(small_release(Budget(1)))


def test_what_replacement_hides_and_what_it_does_not():
    release = small_release(Budget(1, 0, "replace_one"), domain=Domain.of(age=(0, 100), missing="refuse"))
    assert "not how many records there are" in text_of(release)
    assert "from 400 records (public" in text_of(release)


def test_a_number_that_is_not_public_is_rounded_to_what_its_noise_supports():
    release = counted_release()
    label = privacy_label(release)
    assert label.records.startswith("about ")
    shown_number = int(label.records.removeprefix("about ").replace(",", "").replace("\N{MINUS SIGN}", "-"))
    assert shown_number % 100 == 0 and abs(shown_number - release.records) <= release.records_error
    assert "a count of its own" in label.records_source


def test_a_person_with_several_records_is_a_person():
    release = small_release(domain=Domain.of(age=(0, 100), unit=PrivacyUnit("patient", 7)))
    assert "each person whom the column patient tells apart (up to 7 records each)" in text_of(release)
    assert "about one person" in text_of(release)


def set_release(domain, neighbours="add_remove", **facts) -> Release:
    sketch = MinHash(domain, rows=8, width=30, seed=1, **facts)
    table = sketch.zeros()
    sketch.add(table, Sets.of([[1, 2], [2, 3]]))
    return seal(sketch, ExactTable(table, 2), Budget(1, 0, neighbours))


def test_gathered_sets_say_whose_list_is_hidden_and_whose_is_not():
    graph = Domain((Items("follows", gathered=True),), unit=PrivacyUnit("name", 1))
    text = text_of(set_release(graph))
    for words in (
        "protects the whole list of each value of name, however long, with",
        "hides what the list of any one value of name holds, and even whether there is such a list at all.",
        "One record is one set: everything in follows that is listed under one value of name.",
        "Where others list that value in their follows, it is part of their records and not hidden",
        "lists every edge both ways, only a node's own list is",
        "about one list can rise",
        " sets (known from ",
        "Jaccard similarity",
        "The column follows may hold any item, one a row.",
        "Empty sets and rows that miss a value were left out.",
    ):
        assert words in text
    assert "person" not in text and "random choice" not in text
    assert "listed under one value of name" in label_of(set_release(graph))
    replaced = set_release(graph, "replace_one", longest=1000)
    assert "of name holds, but not how many sets there are" in text_of(replaced)
    assert "Of a set with more than 1,000 different items, a random choice of 1,000 counts." in text_of(replaced)


def test_baskets_are_sets_of_nobody_or_of_a_person():
    text = text_of(set_release(Domain((Items("tags", separator=";"),), missing="refuse")))
    for words in (
        "protects each set, however large, with",
        "hides what any one set holds, and even whether it is there at all",
        "about one set can rise",
        "may hold any items, with ';' between them",
        "Empty sets were not accepted.",
    ):
        assert words in text
    assert "One record is one set" not in text
    text = text_of(set_release(Domain((Items("basket"),), unit=PrivacyUnit("customer", 3))))
    assert "each person whom the column customer tells apart (up to 3 sets each)" in text
    assert "what any one person's sets hold, and even whether they are there at all" in text


def test_a_merged_release_says_what_whoever_is_in_all_parts_was_promised():
    merged = small_release(Budget(1)).merged(small_release(Budget("0.5")))
    assert "merged of 2 releases" in text_of(merged) and "ε = 1.5 only" in text_of(merged)
    assert len(privacy_label(merged).noise) == 2


def test_a_lesson_promises_nothing():
    text = text_of(small_release(noise_source=SeededSource(1)))
    assert "teaching file" in text and "protects nobody" in text
    assert "It protects" not in text and "coin-flip" not in text


def test_the_noise_of_an_answer_is_worked_out_once_for_a_label_and_what_is_said_of_it(monkeypatch):
    """Opening a map in the app worked it out twice: a grid's kernel of dozens of products took a second each time."""
    made, asked = small_release(), []
    own = type(made.sketch).noise_variance
    monkeypatch.setattr(type(made.sketch), "noise_variance", lambda *given: asked.append(None) or own(*given))
    assert to_json(made)["in_words"] == describe(made)
    assert len(asked) == 2


def test_the_fingerprint_is_that_of_the_file():
    release = small_release()
    data = release.to_bytes()
    assert privacy_label(release).fingerprint == privacy_label(release, data).fingerprint == sha256(data).hexdigest()
    assert privacy_label(release, b"saved otherwise").fingerprint == sha256(b"saved otherwise").hexdigest()


@pytest.mark.parametrize(
    "kernel, words",
    [
        (kernels.Euclidean(5.0), "straight-line distance over a bandwidth of 5"),
        (kernels.Manhattan((5.0, 0.25), power=2), "over a bandwidth of 5 and 0.25, to the power 2"),
        (kernels.Laplacian(5.0), "falls exponentially"),
        (kernels.Angular(3), "angle between two records seen from the origin, to the power 3"),
        (kernels.Product((kernels.Euclidean(5.0), kernels.Angular())), "the product of the Euclidean"),
        (kernels.Mixture((kernels.Euclidean(5.0), kernels.Euclidean(9.0)), (0.25, 0.75)), "a mixture of 25% the"),
    ],
)
def test_every_kernel_has_words(kernel, words):
    assert words in text_of(small_release(kernel=kernel))


def test_names_stay_on_one_line_and_show_what_is_invisible():
    domain = Domain.of(**{"a\n\nb\x1b[31m\u202e": (0, 1), "x" * 500: (0, 1)}, city=["\x07", "b\r\nc"])
    for sentence in describe(small_release(domain=domain)):
        assert sentence.isprintable() and len(sentence) < 400


def test_many_columns_and_categories_stay_readable():
    domain = Domain.of(**{f"c{i}": (0, 1) for i in range(100)}, place=[f"place {i}" for i in range(500)])
    sentences = describe(small_release(domain=domain, records=20))
    assert len(sentences) < 50 and max(map(len, sentences)) < 400
    assert "There are 77 further columns." in sentences


def test_json_holds_the_manifest_and_what_the_numbers_say():
    release = counted_release()
    value = json.loads(json.dumps(to_json(release), allow_nan=False))
    assert value["mechanism"] == "race" and value["privacy"]["epsilon"] == "1"
    assert value["records"] == {
        "estimate": release.records,
        "standard_error": release.records_error,
        "source": "a count of its own",
    }
    assert value["shape"] == list(release.counters.shape)
    assert value["in_words"] == describe(release)


def test_a_label_is_made_of_public_facts_alone():
    """Every field is text, a number, or a tuple of them: no table, nothing that leads back to one."""
    label = privacy_label(small_release())
    for field in fields(label):
        assert isinstance(getattr(label, field.name), (str, float, bool, tuple))


def test_words():
    domain = Domain.of(height=(-1e9, 250.125))
    assert column_values(domain.columns[0]) == "−1,000,000,000 to 250.125"


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("sketch", "said"),
    [
        (lambda domain: Features(domain, kernels.Gaussian(9.0), 40), ("like a bell curve", "40 pairs of counters")),
        (lambda domain: Features(domain, kernels.SmoothL1(9.0), 40), ("1/(1 + z)", "over a bandwidth of 9")),
        (lambda domain: Features(domain, kernels.Exponential(9.0), 40), ("exponential kernel", "straight-line")),
        (lambda domain: Histogram(domain, kernels.Gaussian(9.0)), ("like a bell curve", "counters")),
        (lambda domain: Distance(domain), ("Distance is measured by the differences of all columns, added up.",)),
        (lambda domain: Distance(domain, "capped:7"), ("none of them counted beyond 7",)),
        (lambda domain: Distance(domain, "below"), ("how far records lie below a place",)),
        (lambda domain: Moments(domain), ("the square of the straight-line distance", "4 sums", "average distance")),
        (lambda domain: Moments(domain, 5.0), ("farther than 5 from the centre were moved",)),
        (lambda domain: Directions(domain), ("cosine of the angle",)),
    ],
)
def test_every_mechanism_has_words(sketch, said):
    domain = Domain.of(age=(0, 100), height=(50, 250))
    release = released(sketch(domain), domain)
    text = text_of(release)
    for words in said:
        assert words in text
    assert ("farther than" in text) == ("farther than" in " ".join(said))
    assert privacy_label(release).measured.split(",")[0].split("(")[0][5:20] in label_of(release)


def test_classes_are_listed_and_projections_are_said():
    domain = Domain.of(age=(0, 100), height=(50, 250), city=["Bern", "Basel"])
    inner = Projected.of(domain.without("city"), kernels.Euclidean(9.0), Race, 1, rows=8, groups=2, width=20)
    text = text_of(released(Classes(domain, "city", inner), domain))
    assert "a table for each of 2 classes" in text and "2 projections to 1 dimensions (fast)" in text
    assert "for each class of the column city by itself: Bern and Basel." in text


def test_a_report_of_distances_draws_averages():
    domain = Domain.of(age=(0, 100), height=(50, 250))
    page = Reader(report_of(released(Distance(domain), domain), [Density(("age", "height"), {})])).text
    assert "Average distance over age and height" in page and "It is least at age" in page
    assert "close by" not in page


def released(sketch, domain):
    """A release of two hundred records, drawn evenly from the domain's box."""
    sketch = with_chosen_size(sketch, Budget(5), 200)
    random = np.random.default_rng(1)
    low, high = domain.bounds(sketch.metric)
    points = np.asfortranarray(low + (high - low) * random.random((200, domain.dimensions)))
    table = sketch.zeros()
    sketch.add(table, points)
    return seal(sketch, ExactTable(table, sketch.count(points)), Budget(5))


PLACE = Domain.of(x=(0, 10), y=(0, 10))
NEAR = kernels.Gaussian(2.0)
RIVALS_IN_WORDS = {
    "fourier-series": (2, "25 sums of waves"),
    "trigonometric": (3, "9 sums of polynomials"),
    "pfda": (2, "25 sums of waves"),
    "bernstein": (4, "a lattice of 5 by 5 sums of closeness"),
    "mean-embedding": (20, "20 sums, which give as many made-up points their weights"),
    "flat-histogram": (6, "a grid of 6 by 6 counters"),
    "hierarchical-histogram": (2, "21 counters, of the cells of a grid and of larger and larger boxes of them"),
    "mwem": (3, "3 measured answers"),
    "interval-tree": (3, "a tree for each of 2 coordinates, of 16 counters"),
    "counts-and-sums": (3, "a tree for each of 2 coordinates, of 16 counters and as many sums"),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", RIVALS_IN_WORDS)
def test_what_rivals_hold(name):
    rival, (size, words_of_table) = card(name), RIVALS_IN_WORDS[name]
    budget = Budget(1, "1e-6") if rival.needs_delta else Budget(1)
    asked = {"norm": "l1"} if rival.answers == "distance" else {"kernel": NEAR}
    sketch = rival.make(PublicInputs(PLACE, budget, **asked, size=size, seed=1))
    released = release(sketch, np.random.default_rng(0).random((50, 2)) * 10, budget)
    assert f"It holds {words_of_table}." in text_of(released)


def test_marginals_say_what_they_compare():
    marginals = Marginals(PLACE, "l2", (4, 5), ((0,), (0, 1)))
    text = text_of(release(marginals, np.ones((20, 2)), Budget(1)))
    assert "2 tables of 24 counters in all" in text and "the share of the counted tables in which two records" in text


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (PrivBayes(Domain.of(x=(0, 1), y=(0, 1), z=(0, 1)), NEAR, cells=3, degree=1), "Which columns belong together"),
        (MWEM(PLACE, NEAR, rounds=2, seed=1), "Which answers were measured"),
        (HuangRoth(PLACE, 4), "At which places distances were measured"),
    ],
)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, "1e-6", "replace_one")])
def test_private_choices_are_said_and_covered(mechanism, said, budget):
    made = release(mechanism, np.random.default_rng(0).random((60, mechanism.domain.dimensions)), budget)
    assert f"{said} was chosen under the same promise." in text_of(made)
    assert "exponential mechanism" in privacy_label(made).theorem or "sparse vector" in privacy_label(made).theorem
    assert said in label_of(made)
    again = release(made.sketch, np.zeros((9, mechanism.domain.dimensions)), budget)  # like it, at no further choice
    assert "was chosen" not in text_of(again) and privacy_label(again).theorem == again.privacy.theorem


def test_where_nothing_is_left_to_choose_nothing_is_said_to_be_chosen():
    two = PrivBayes(PLACE, NEAR, cells=3, degree=1)
    made = release(two, np.ones((40, 2)), Budget(1))
    assert "was chosen" not in text_of(made) and "a network of 1 table, with 9 counters in all" in text_of(made)


def test_a_report_quotes_the_exact_audit_of_its_kind_and_by_which_version():
    made = release(Histogram(Domain.of(x=(0, 1)), kernels.Gaussian(0.2), cells=(4,)), {"x": np.full(9, 0.5)}, Budget(1))
    said = privacy_label(made).audited
    assert said.startswith(f"Releases of this mechanism were audited exactly with {made.software}: in ")
    assert said in label_of(made)
    taught = release(
        Histogram(Domain.of(x=(0, 1)), kernels.Gaussian(0.2), cells=(4,)),
        {"x": np.full(9, 0.5)},
        Budget(1),
        noise_source=SeededSource(1),
    )
    assert privacy_label(taught).audited == ""


def test_years_have_no_thousands_mark_and_a_unit_in_the_name_is_not_said_twice():
    assert column_values(Numeric("year", 1925, 2024)) == "1925 to 2024"
    assert column_values(Numeric("pay", 0, 200_000, "EUR")) == "0 to 200,000 EUR"
    assert column_values(Numeric("Gebühr (EUR)", 0, 1200, "EUR")) == "0 to 1200"


def test_the_label_of_tables_says_the_noise_that_their_forecast_said():
    """It was that of a mean over all tables, which nobody asks for: 16 records where counts were 70 off."""
    domain = Domain((Numeric("x", 0, 1), Categorical("c", ("a", "b", "c")), Numeric("y", 0, 1)))
    sketch, seen = whole_table(domain, 5_000, Budget(1))
    made = seal(sketch, ExactTable(sketch.zeros(), 0), Budget(1))
    label = privacy_label(made)
    assert label.answer_noise == pytest.approx(seen.noise_error)
    assert label.answer_noise_in_words.startswith("Noise alone moves the count in an average cell of one column by")
