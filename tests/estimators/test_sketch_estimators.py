"""scikit-learn's own checks, and that what `fit` learns is the private release and nothing else.

scikit-learn's own checks, and that distances are those of the release and near the truth.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import (
    check_methods_sample_order_invariance,
    check_methods_subset_invariance,
    parametrize_with_checks,
)

from core import Budget, Domain, Ledger, Race, Vector
from core.errors import BudgetError, RequestError
from core.estimators import (
    LocalKernelDensity,
    PrivateCentroidClassifier,
    PrivateDistanceSum,
    PrivateKernelClassifier,
    PrivateKernelDensity,
    PrivateRidge,
)
from core.geometry import kernels
from core.sketches.plan import plan

FACTS = {"kernel": "euclidean", "bandwidth": 2.0, "bounds": (-10.0, 10.0), "rows": 60}


@pytest.mark.few(13)
@parametrize_with_checks([PrivateKernelDensity(bandwidth=2.0, bounds=(-100, 100), rows=40)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_methods_sample_order_invariance, check_methods_subset_invariance])
def test_answers_depend_on_the_query_alone_though_fits_differ(check):
    """scikit-learn leaves these checks out for what is not deterministic; once it is fitted, it is."""
    check("density", PrivateKernelDensity(bandwidth=2.0, bounds=(-100, 100), rows=40))
    check("classes", PrivateCentroidClassifier(bounds=(-100, 100), classes=[0, 1, 2]))


@pytest.mark.parametrize("values", [[["secret"], [1.0]], np.array([[1 + 2j], [1.0]])])
def test_what_is_no_number_is_refused_without_being_repeated(values):
    """scikit-learn's own words had the text, and the whole table where one number was complex."""
    local = LocalKernelDensity(epsilon=2, bounds=[(0, 1)], bandwidth=1.0, rows=8)
    for fit in (PrivateKernelDensity(**FACTS).fit, PrivateDistanceSum(bounds=(0, 1)).fit, local.privatise):
        with pytest.raises(RequestError) as refused:
            fit(values)
        assert not any(one in str(refused.value) for one in ("secret", "1.", "j"))
    with pytest.raises(RequestError) as refused:
        PrivateRidge(bounds=(0, 1), target_bounds=(0, 1)).fit([[0.5], [0.25]], ["0.5", "secret"])
    assert "secret" not in str(refused.value)


def people(n: int = 5000) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 1, (n, 2))


def test_scores_are_the_logarithms_of_the_release_s_densities():
    fitted = PrivateKernelDensity(**FACTS).fit(people())
    queries = np.array([[0.0, 0.0], [3.0, 3.0]])
    assert np.array_equal(fitted.score_samples(queries), np.log(fitted.release_.density(queries)))
    assert fitted.score(queries) == fitted.score_samples(queries).sum()
    exact = kernels.Euclidean(2.0).evaluate(queries, people()).sum(axis=1)
    estimate, low, high = fitted.kernel_sum(queries)
    # Laplace noise of 60 rows has standard deviation 11; with sampling error the sum is within a fifth, far off it.
    assert (low < estimate).all() and (estimate < high).all() and np.allclose(estimate, exact, rtol=0.3)


def test_the_price_is_that_of_the_release_alone(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("people", epsilon="1.5")
    PrivateKernelDensity(**FACTS, dataset="people", ledger=ledger).fit(people(100))
    assert len(ledger.status("people").releases) == 1
    with pytest.raises(BudgetError):
        PrivateKernelDensity(**FACTS, dataset="people", ledger=ledger).fit(people(100))
    assert len(ledger.status("people").releases) == 1


def test_nothing_of_the_data_is_kept_but_the_noisy_release():
    data = people(50)
    one, other = (PrivateKernelDensity(**FACTS, random_state=3).fit(rows) for rows in (data, data[1:]))
    assert one.release_.sketch == other.release_.sketch
    for fitted in (one, other):
        fitted.release_ = None
    assert pickle.dumps(one) == pickle.dumps(other)


def test_a_seed_chooses_hash_functions_and_never_noise():
    """Noise that anyone can draw again can be taken off again: two fits with one seed differ, and both are private."""
    one, other = (PrivateKernelDensity(**FACTS, random_state=1).fit(people(50)).release_ for _ in range(2))
    assert one.private and other.private
    assert one.sketch == other.sketch != PrivateKernelDensity(**FACTS, random_state=2).fit(people(50)).release_.sketch
    # 60 rows and at least as many counters each with noise of scale 60: equal by chance in none of 10^100 runs.
    assert not np.array_equal(one.counters, other.counters)


@pytest.mark.parametrize("made", ["density", "distances", "kernel", "centroid", "centred"])
def test_no_estimator_makes_a_release_that_protects_nobody(made):
    X, y = people(50), np.arange(50) % 2
    facts = {"random_state": 0, "bounds": (-10, 10)}
    labelled = facts | {"classes": [0, 1]}
    estimator = {
        "density": lambda: PrivateKernelDensity(bandwidth=2.0, rows=10, **facts),
        "distances": lambda: PrivateDistanceSum(**facts),
        "kernel": lambda: PrivateKernelClassifier(bandwidth=2.0, rows=10, **labelled),
        "centroid": lambda: PrivateCentroidClassifier(**labelled),
        "centred": lambda: PrivateCentroidClassifier(**labelled, centre_share=0.1),
    }[made]()
    assert estimator.fit(X, y).release_.private


def test_it_works_in_pipelines_and_with_frames_of_named_columns():
    frame = pd.DataFrame(people(500), columns=["east", "north"])
    fitted = PrivateKernelDensity(**(FACTS | {"bounds": [(-10, 10), (-5, 5)]})).fit(frame)
    assert fitted.release_.domain.names == ("east", "north")
    pipeline = make_pipeline(FunctionTransformer(), PrivateKernelDensity(**FACTS)).fit(people(500))
    assert pipeline.score_samples(people(3)).shape == (3,)
    # Each candidate and fold is a release of its own: it works, and costs what it costs.
    search = GridSearchCV(PrivateKernelDensity(**FACTS), {"bandwidth": [1.0, 3.0]}, cv=2).fit(people(500))
    assert search.best_params_["bandwidth"] in (1.0, 3.0)


@pytest.mark.thorough
def test_what_is_left_open_is_chosen_by_forecast():
    fitted = PrivateKernelDensity(bandwidth=2.0, bounds=(-10, 10), records=5000).fit(people())
    assert fitted.release_.sketch.name == "histogram"  # two columns and a wide kernel
    race = PrivateKernelDensity(bandwidth=2.0, bounds=(-10, 10), records=5000, kernel="euclidean").fit(people())
    assert race.release_.sketch.name == "race" and race.release_.sketch.rows > 10


@pytest.mark.thorough
def test_a_mechanism_without_rows_has_none():
    facts = FACTS | {"mechanism": "histogram"}
    with pytest.raises(RequestError, match="no rows"):
        PrivateKernelDensity(**facts).fit(people(50))
    fitted = PrivateKernelDensity(**(facts | {"rows": None, "records": 5000})).fit(people())
    assert fitted.release_.sketch.name == "histogram"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"bounds": None}, "bounds"),
        ({"bounds": [(0, 1)]}, "pairs"),
        ({"bounds": (1, 0)}, "below its largest"),
        ({"bandwidth": None}, "bandwidth"),
        ({"kernel": "nothing"}, "kernel"),
        ({"kernel": kernels.Euclidean(1.0)}, "whole"),
        ({"epsilon": 0}, "Epsilon"),
        ({"neighbours": "some"}, "Neighbours"),
        ({"random_state": 0.5}, "random_state"),
        ({"records": -1, "rows": None}, "number of records"),
        ({"kernel": "angular", "bandwidth": None, "mechanism": "features"}, "angular"),
    ],
)
def test_a_missing_or_wrong_public_fact_is_refused_before_anything_is_spent(change, word, tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("people", epsilon=5)
    with pytest.raises(RequestError, match=word):
        PrivateKernelDensity(**(FACTS | {"dataset": "people", "ledger": ledger} | change)).fit(people(50))
    assert ledger.status("people").releases == [] or ledger.status("people").releases == ()


def test_the_promise_is_the_engine_s_own():
    fitted = PrivateKernelDensity(**FACTS, epsilon=0.7, delta=1e-6, neighbours="replace_one").fit(people(50))
    sketch = Race(Domain((Vector("x", 2, -10, 10),), missing="refuse"), kernels.Euclidean(2.0), rows=60, seed=0)
    planned = plan(sketch, Budget("0.7", "0.000001", "replace_one"))
    assert fitted.release_.privacy.noise == (planned.noise,)
    assert fitted.release_.counted == 50


@pytest.mark.deep
def test_without_a_bandwidth_a_grid_is_read_as_suits_it_or_the_spread_is_bought(tmp_path):
    random, ledger = np.random.default_rng(1), Ledger(tmp_path / "ledger.db")
    few = PrivateKernelDensity(bounds=(0, 100), records=3000).fit(random.normal(50, 5, (3000, 1)))
    assert few.release_.sketch.open_bandwidth and few.score_samples([[50]]) > few.score_samples([[80]]) + 1
    facts = {"bounds": (0, 100), "records": 4000, "ledger": ledger, "dataset": "many"}
    many = PrivateKernelDensity(**facts).fit(random.normal(50, 5, (4000, 6)))
    bought, _ = ledger.status("many").releases
    assert 0.02 <= float(bought.cost.epsilon) <= 0.05 and many.release_.privacy.epsilon == 1
    (bandwidth,) = np.atleast_1d(many.release_.sketch.kernel.bandwidth)
    assert 4 < bandwidth < 18  # half of how far they are apart is 8.7; noise hides a part of it


@pytest.mark.few(16)
@parametrize_with_checks([PrivateDistanceSum(bounds=(-100, 100), norm=norm) for norm in ("l1", "squared")])
def test_scikit_learn_accepts_it_of_distance_sum(estimator, check):
    check(estimator)


def people_of_distance_sum(n: int = 20_000) -> np.ndarray:
    return np.random.default_rng(0).normal(1, 1, (n, 2)).clip(-5, 5)


@pytest.mark.parametrize(("norm", "metric"), [("l1", "cityblock"), ("l2", "euclidean"), ("squared", "sqeuclidean")])
def test_distances_are_those_of_everyone(norm, metric):
    fitted = PrivateDistanceSum(norm=norm, bounds=(-5, 5)).fit(people_of_distance_sum())
    queries = np.array([[1.0, 1.0], [4.0, -4.0], [0.0, 0.0]])
    exact = cdist(queries, people_of_distance_sum(), metric).sum(axis=1)
    estimate, low, high = fitted.distance_sum(queries)
    assert (low <= estimate).all() and (estimate <= high).all()
    # Twenty thousand people and epsilon = 1: noise of some dozens in sums of tens of thousands; l2 has directions too.
    assert np.allclose(estimate, exact, rtol=0.1 if norm == "l2" else 0.02)
    assert np.array_equal(fitted.mean_distance(queries), fitted.release_.density(queries))
    assert fitted.score_samples(queries).argmax() == 0


@pytest.mark.parametrize(
    ("change", "word"),
    [({"bounds": None}, "bounds"), ({"norm": "l3"}, "norm"), ({"radius": 1.0}, "radius"), ({"epsilon": -1}, "Epsilon")],
)
def test_what_is_missing_or_wrong_is_refused(change, word):
    with pytest.raises(RequestError, match=word):
        PrivateDistanceSum(**({"bounds": (-5, 5)} | change)).fit(people_of_distance_sum(100))


@pytest.mark.parametrize(("scale", "units"), [(None, [10, 1000]), ("box", [10, 1000]), ("none", [1, 1])])
def test_a_wide_feature_drowns_no_other_unless_it_is_asked_to(scale, units):
    X = np.random.default_rng(2).uniform(0, 1, (5000, 2)) * [10, 1000]
    fitted = PrivateDistanceSum(bounds=[(0, 10), (0, 1000)], scale=scale, epsilon=20).fit(X)
    query = np.array([[2.0, 700.0]])
    assert fitted.mean_distance(query) == pytest.approx(cdist(query / units, X / units, "cityblock").mean(), rel=0.02)


@pytest.mark.deep
def test_a_length_keeps_the_features_own_units():
    X = np.random.default_rng(2).uniform(0, 1, (5000, 2)) * [10, 1000]
    for kept in ({"norm": "capped:5"}, {"norm": "squared", "radius": 800.0}):
        assert PrivateDistanceSum(bounds=[(0, 10), (0, 1000)], **kept).fit(X).release_.domain.scale == "none"


def test_a_centre_is_bought_for_directions_and_where_a_length_is_told_from_it_unless_it_is_declined():
    bought = {"metric": "cosine"}, {"centred_radius": 1.0}, {"metric": "cosine", "centred_radius": 1.0}
    assert [str(PrivateCentroidClassifier(**one)._centre().share) for one in bought] == ["0.12"] * 3
    assert (
        PrivateCentroidClassifier()._centre() is None
        and PrivateCentroidClassifier(metric="cosine", centre_share=None)._centre() is None
    )
