"""Classes of places: what decides, how sure it is, and that it says so when it is not.

That a rule which drowns rare classes is told of, and no other.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.integrate import quad
from scipy.stats import binomtest, norm

from core.analysis.class_scores import class_scores, class_sizes
from core.analysis.classification import (
    Rate,
    classify,
    classify_points,
    confusion_of,
    drowned_in_largest,
    label_codes,
    non_negative,
)
from core.domain import Categorical, Domain, Vector
from core.errors import RequestError
from core.geometry.kernels import Laplacian
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.job import release as release_of
from core.releases.seal import seal
from core.sketches.classes import Classes
from core.sketches.directions import Directions
from core.sketches.moments import Moments
from core.sketches.race import Race
from tests.analysis.labelled import DOMAIN, LABEL, REST, exact_classes, labelled, noiseless, sealed
from tests.analysis.wide_bandwidth import wide_people, wide_release
from tests.depth import deep, draws


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return labelled()


@pytest.fixture(scope="module")
def exact(people):
    return exact_classes(people)


@pytest.fixture(scope="module")
def release(exact):
    return sealed(*exact)


TEST = labelled(1500, seed=9)


def test_scores_are_the_sums_of_each_class_or_their_averages(release):
    posterior, likelihood = (classify(release, TEST, rule) for rule in ("posterior", "likelihood"))
    slabs = [release.of_class(name) for name in LABEL.categories]
    for place, slab in enumerate(slabs):
        assert (posterior.scores[:, place] == slab.estimate(TEST)).all()
    sizes = class_sizes(release).number
    assert likelihood.scores == pytest.approx(posterior.scores / sizes)
    for found in (posterior, likelihood):
        assert (found.codes == found.scores.argmax(axis=1)).all()
        assert (found.labels == np.array(LABEL.categories)[found.codes]).all()
    assert posterior.rule == "posterior" and classify(release, TEST).rule == "likelihood"


@pytest.mark.parametrize("rule", ["posterior", "likelihood"])
def test_most_places_get_the_class_that_is_there_most(release, rule):
    found = classify(release, TEST, rule)
    assert (found.labels == TEST["kind"]).mean() > 0.85
    assert (found.labels == TEST["kind"])[found.certain].mean() > 0.88
    assert found.certain.mean() > 0.7


def test_where_nobody_is_it_does_not_know(release):
    nowhere = {"x": [0.02, 0.98, 0.5], "y": [0.98, 0.98, 0.9], "sex": ["f", "m", "f"]}
    found = classify(release, nowhere)
    assert not found.certain.any() and found.confidence.max() < 0.9
    assert found.probabilities.max() < 0.95


def test_the_level_says_from_where_on_it_is_certain(release):
    found = classify(release, TEST, level=0.8)
    assert (found.certain == (found.confidence >= 0.8)).all()
    assert (found.confidence == classify(release, TEST, level=0.99).confidence).all()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("epsilon", "rule"), [("0.3", "posterior"), deep(1, "likelihood"), deep("0.3", "likelihood"), deep(1, "posterior")]
)
def test_the_confidence_is_how_often_the_noise_changes_nothing(exact, rule, epsilon):
    """Over 12 draws of the noise; places of one release share it, so the bounds are wide. Seeds are fixed."""
    points = REST.encode_queries(TEST, exact[0].metric)
    confidence, same = [], []
    for seed in range(12):
        noisy = sealed(*exact, Budget(epsilon), seed)
        found = classify_points(noisy, points, rule)
        clean = class_scores(noiseless(noisy, exact[1]), points, rule).value.argmax(axis=1)
        confidence.append(found.confidence)
        same.append(found.codes == clean)
    confidence, same = np.concatenate(confidence), np.concatenate(same)
    assert confidence.mean() == pytest.approx(same.mean(), abs=0.05)
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 0.99)):
        here = (confidence >= low) & (confidence < high)
        assert confidence[here].mean() == pytest.approx(same[here].mean(), abs=0.12)
    assert same[confidence >= 0.95].mean() > 0.96


def test_probabilities_add_up_and_grow_with_how_often_a_class_is_right(release):
    found = classify(release, TEST, "posterior")
    assert found.probabilities.sum(axis=1) == pytest.approx(1.0)
    assert found.probabilities.min() >= 0
    wild = found.probabilities[:, 1]
    assert wild.mean() == pytest.approx((TEST["kind"] == "wild").mean(), abs=0.05)
    truth = (TEST["kind"] == "wild").to_numpy()
    shares = [truth[(wild >= low) & (wild <= high)].mean() for low, high in ((0.0, 0.2), (0.2, 0.8), (0.8, 1.0))]
    assert shares[0] < 0.1 < 0.3 < shares[1] < 0.7 < 0.9 < shares[2]


@pytest.mark.parametrize("value", [-30.0, -3.0, -0.5, 0.0, 0.7, 4.0, 50.0])
def test_what_is_not_negative_is_expected_to_be_so(value):
    deviation = 2.0
    mass, _ = quad(lambda t: norm.pdf(t, value, deviation), 0, max(value, 0) + 40)
    mean, _ = quad(lambda t: t * norm.pdf(t, value, deviation), 0, max(value, 0) + 40)
    found = non_negative(np.array([value]), np.array([deviation]))[0]
    assert found == pytest.approx(mean / mass, rel=0.01)
    assert 0 <= non_negative(np.array([-1e12]), np.array([deviation]))[0] < 1e-3


def test_numbers_of_records_that_noise_alone_sets_apart_are_taken_as_equal(people):
    even = people.groupby("kind").head(1000)
    sketch = Classes(DOMAIN, "kind", Race(REST, Laplacian(0.02), rows=16, width=4000, seed=1))
    points = DOMAIN.encode_queries(even, sketch.metric)
    table = sketch.zeros()
    sketch.add(table, points)
    exact = ExactTable(table, sketch.count(points))
    quiet, loud = (seal(sketch, exact.copy(), Budget(epsilon)) for epsilon in (50, "0.05"))
    assert class_sizes(quiet).number == pytest.approx(quiet.counts, rel=0.05)
    assert np.ptp(class_sizes(loud).number) <= np.ptp(loud.counts)
    exactly = class_sizes(noiseless(loud, exact))
    assert exactly.number == pytest.approx([1000, 1000]) and exactly.variance == 0.0


def test_one_place_a_merged_release_and_a_file_are_asked_alike(exact, release):
    one = classify(release, TEST.iloc[:1])
    assert len(one.labels) == 1 and 0.5 < one.confidence[0] <= 1
    other = sealed(*exact, seed=2)
    merged = release.merged(other)
    found = classify(merged, TEST, "posterior")
    apart = [classify(one, TEST, "posterior").scores for one in (release, other)]
    assert found.scores == pytest.approx(sum(apart))
    assert found.certain.mean() > 0.7


def test_what_cannot_be_classified(release):
    plain = seal(release.sketch.inner, ExactTable(release.sketch.inner.zeros(), 1), Budget(1))
    with pytest.raises(RequestError, match="without a column of classes"):
        classify(plain, TEST)
    with pytest.raises(RequestError, match="no place"):
        classify(release, TEST.iloc[:0])
    for rule in ("distance", "best", 3):
        with pytest.raises(RequestError, match="rule"):
            classify(release, TEST, rule)
    for level in (0, 1, -1.0):
        with pytest.raises(RequestError, match="level"):
            classify(release, TEST, level=level)
    with pytest.raises(RequestError, match="'y'"):
        classify(release, TEST.drop(columns="y"))


def vectors(seed: int, count: int = 900) -> pd.DataFrame:
    """Three kinds of vectors, scattered around means of their own."""
    random = np.random.default_rng(seed)
    kinds = random.integers(0, 3, count)
    means = np.array([[0.5, 0.1, 0, 0, 0, 0], [-0.1, 0.5, 0, 0, 0.1, 0], [0, 0, -0.4, 0.4, 0, 0]])
    points = np.clip(means[kinds] + 0.2 * random.standard_normal((count, 6)), -1, 1)
    return pd.DataFrame({"v": list(points), "kind": np.array(["a", "b", "c"])[kinds]})


@pytest.mark.parametrize(("mechanism", "rule"), [(Moments, "mean"), (Moments, "distance"), (Directions, "direction")])
def test_nearest_means_in_every_sense(mechanism, rule):
    rest = Domain((Vector("v", 6, -1, 1),))
    domain = Domain((*rest.columns, Categorical("kind", ("a", "b", "c"))))
    frame, test = vectors(1), vectors(2)
    made = release_of(Classes(domain, "kind", mechanism(rest)), frame, Budget(5), noise_source=SeededSource(1))
    found = classify(made, test, rule)
    assert (found.labels == test["kind"]).mean() > 0.9 and found.rule == rule
    assert rule == classify(made, test).rule or rule == "distance"
    assert found.probabilities.sum(axis=1) == pytest.approx(1.0)
    assert (found.probabilities.argmax(axis=1) == found.codes).mean() > 0.99
    points, means = np.stack(test["v"]), frame.groupby("kind")["v"].apply(lambda v: np.stack(v).mean(axis=0))
    if rule == "mean":
        exact = ((points[:, None] - np.stack(means)) ** 2).sum(axis=2)
        assert found.scores == pytest.approx(exact, abs=0.15)
    with pytest.raises(RequestError, match="rule"):
        classify(made, test, "likelihood" if mechanism is Moments else "mean")


@pytest.mark.parametrize("kind", [Moments, Directions])
def test_queries_in_pieces_are_those_in_one_and_a_refusal_names_the_row(kind, monkeypatch):
    domain = Domain((Vector("v", 3, -1, 1), LABEL))
    inner = kind(domain.without("kind"))
    sketch = Classes(domain, "kind", inner if kind is Directions else inner.for_mean())
    points = np.random.default_rng(1).uniform(-1, 1, (50, 3))
    encoded = domain.encode_queries({"v": points, "kind": ["calm", "wild"] * 25})
    table = sketch.zeros()
    sketch.add(table, encoded)
    release = seal(sketch, ExactTable(table, sketch.count(encoded)), Budget(10), noise_source=SeededSource(1))
    queries = points[:, ::-1] * 1.5
    whole = classify(release, queries)
    monkeypatch.setattr("core.analysis.classification.PIECE", 12)
    pieces = classify(release, queries)
    assert (pieces.codes == whole.codes).all()
    assert pieces.scores == pytest.approx(whole.scores) and pieces.confidence == pytest.approx(whole.confidence)
    single = queries.astype(np.float32)
    assert classify(release, single).scores == pytest.approx(classify(release, single.astype(float)).scores, rel=1e-12)
    for value in (np.nan, np.inf, -np.inf):
        for asked in (queries, single):
            asked[17, 1] = value
            with pytest.raises(RequestError, match="row 18 "):
                classify(release, asked)


@pytest.mark.parametrize("seed", range(5, 10))
def test_a_class_without_records_wins_by_noise_nowhere(seed):
    """Its average is noise divided by as good as nothing; one draw in a hundred has it win somewhere."""
    people = labelled(seed=seed)
    sketch, exact = exact_classes(people[people["kind"] == "calm"])
    found = classify(sealed(sketch, exact, seed=seed), TEST[TEST["kind"] == "calm"], "likelihood")
    assert (found.labels == "calm").mean() > 0.99


@pytest.fixture(scope="module")
def wide():
    return wide_release()


@pytest.mark.thorough
def test_a_kernel_wider_than_the_classes_lie_apart_leaves_the_largest_alone(wide):
    people = wide_people(2000, seed=7)
    posterior, likelihood = (classify(wide, people, rule) for rule in ("posterior", None))
    # Nine in ten are of the class that is said always; by the border halfway between them 14 in 15 would be found.
    assert (posterior.labels == "many").mean() > 0.99
    assert (likelihood.labels == people["kind"])[people["kind"] == "few"].mean() > 0.85
    said = drowned_in_largest(wide, posterior.rule, posterior.codes)
    assert "'many'" in said and "% of the records are of others" in said
    assert drowned_in_largest(wide, likelihood.rule, np.zeros(2000, dtype=np.int64)) is None


def test_nothing_is_said_where_it_decides_or_there_is_too_little_to_tell(wide):
    release, people = sealed(*exact_classes(labelled())), labelled(1500, seed=9)
    assert drowned_in_largest(release, "posterior", classify(release, people, "posterior").codes) is None
    few = np.zeros(60, dtype=np.int64)
    assert drowned_in_largest(wide, "posterior", few) is None
    assert drowned_in_largest(wide, "posterior", np.zeros((20, 30), dtype=np.int64)) is not None


def unlike_crowds(count=4000):
    """Seven classes, the largest of half and the rarest of a hundredth of the records, whose middles are near."""
    random = np.random.default_rng(1)
    shares = (0.5, 0.36, 0.06, 0.03, 0.02, 0.02, 0.01)
    middles = random.normal(0, 0.5, (7, 10))
    codes = random.choice(7, count, p=shares)
    return np.clip(middles[codes] + random.normal(0, 1, (count, 10)), -6, 6), codes


CROWDS = Domain((Vector("v", 10, -6, 6), Categorical("kind", tuple("abcdefg"))))


def crowds_released(epsilon, seed, count=4000):
    points, codes = unlike_crowds(count)
    sketch = Classes.of(CROWDS, "kind", Moments(CROWDS.without("kind")).for_classes())
    frame = {"v": list(points), "kind": np.array(list("abcdefg"))[codes]}
    return release_of(sketch, frame, Budget(epsilon), noise_source=SeededSource(seed)), points, codes


@pytest.mark.thorough
def test_a_class_whose_mean_the_noise_hides_does_not_win_and_one_that_is_known_still_does():
    """The plain rule is right of a few in a hundred of them, as a mean of hardly any records is anywhere."""
    for seed in range(draws(1, 3)):
        made, points, codes = crowds_released("0.1", seed)
        right = [np.mean(classify_points(made, points, rule).codes == codes) for rule in ("discriminant", "mean")]
        assert right[0] > 0.47 and right[1] < 0.3
        assert made.sketch.class_rules[0] == "discriminant"
    made, points, codes = crowds_released(20, 0)
    found = classify_points(made, points)
    assert np.mean(found.codes == codes) > 0.65 and set(found.codes) > {0, 1, 2}
    assert found.probabilities.sum(axis=1) == pytest.approx(1)
    said = found.probabilities.max(axis=1).mean()
    assert said == pytest.approx(np.mean(found.codes == codes), abs=0.1)


def test_without_noise_the_discriminant_is_fisher_s_of_one_spread_in_all_directions():
    made, points, codes = crowds_released(100, 0)
    numbers = np.bincount(codes)
    middles = np.array([points[codes == code].mean(axis=0) for code in range(7)])
    within = np.mean((points - middles[codes]) ** 2)
    scores = np.log(numbers) - 2 / np.sqrt(10) * ((points[:, None] - middles) ** 2).sum(axis=2) / (2 * within)
    assert np.mean(classify_points(made, points).codes == scores.argmax(axis=1)) > 0.95


@pytest.mark.thorough
def test_places_are_shortened_for_the_discriminant_as_records_were():
    made, points, _ = crowds_released(100, 0)
    near = replace(made, sketch=replace(made.sketch, inner=replace(made.sketch.inner, radius=0.5)))
    offsets = points - near.sketch.inner.origin
    short = offsets * np.minimum(1.0, 0.5 / np.linalg.norm(offsets, axis=1))[:, None] + near.sketch.inner.origin
    found = [class_scores(near, at, "discriminant").value for at in (points, short)]
    assert found[0] == pytest.approx(found[1])


def test_files_of_means_made_before_the_discriminant_are_read_by_the_plain_rule():
    sketch = Classes.from_parameters(
        CROWDS, Classes(CROWDS, "kind", Moments(CROWDS.without("kind")).for_mean()).parameters()
    )
    assert sketch.rule is None and sketch.class_rules == ("mean", "distance", "discriminant")


CONFUSION_TEST = labelled(800, seed=9)


def confusion(release, queries, labels):
    return confusion_of(classify(release, queries), label_codes(release.sketch, labels))


@pytest.fixture(scope="module")
def release_of_confusion():
    return sealed(*exact_classes(labelled()))


def test_every_place_is_counted_once_by_its_class_and_by_what_was_said(release_of_confusion):
    found, made = (
        classify(release_of_confusion, CONFUSION_TEST),
        confusion(release_of_confusion, CONFUSION_TEST, CONFUSION_TEST["kind"]),
    )
    truth = CONFUSION_TEST["kind"].to_numpy()
    for row, true in enumerate(LABEL.categories):
        for column, said in enumerate(LABEL.categories):
            assert made.counts[row, column] == ((truth == true) & (found.labels == said) & found.certain).sum()
        assert made.counts[row, -1] == ((truth == true) & ~found.certain).sum()
    assert made.rates.estimate.sum(axis=1) == pytest.approx(1.0)
    assert made.accuracy.estimate == pytest.approx((found.labels == truth).mean())
    assert made.certain.estimate == pytest.approx(found.certain.mean())
    assert made.certain_accuracy.estimate == pytest.approx((found.labels == truth)[found.certain].mean())
    assert made.certain_accuracy.estimate > made.accuracy.estimate
    for rate in (made.rates, made.accuracy):
        assert (rate.low <= rate.estimate).all() and (rate.estimate <= rate.high).all()


@pytest.mark.parametrize(("hits", "trials"), [(0, 7), (3, 7), (7, 7), (40, 100)])
def test_intervals_are_those_of_clopper_and_pearson(hits, trials):
    rate = Rate.of(hits, trials, 0.9)
    expected = binomtest(hits, trials).proportion_ci(0.9, method="exact")
    assert (rate.low, rate.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_no_trials_say_nothing():
    rate = Rate.of(0, 0, 0.95)
    assert np.isnan(rate.estimate) and (rate.low, rate.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    "labels", [["calm"] * 799 + ["odd"], ["calm"] * 799 + [None], ["calm"] * 5, 3, [["calm"]] * 800]
)
def test_labels_that_cannot_be(release_of_confusion, labels):
    with pytest.raises(RequestError, match=r"label|categories"):
        confusion(release_of_confusion, CONFUSION_TEST, labels)


def test_labels_of_any_kind_are_read_as_the_domain_reads_them(release_of_confusion):
    expected = confusion(release_of_confusion, CONFUSION_TEST, CONFUSION_TEST["kind"]).counts
    for labels in (
        CONFUSION_TEST["kind"].tolist(),
        pa.chunked_array([CONFUSION_TEST["kind"]]),
        CONFUSION_TEST["kind"].astype("category"),
    ):
        assert (confusion(release_of_confusion, CONFUSION_TEST, labels).counts == expected).all()
