"""The audit must bite: every planted mistake below is one that a published mechanism or library has made."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.errors import RequestError
from core.privacy.attacks import Attacks, AuditReport, _loss_bound, audit
from core.privacy.budget import Sensitivity
from core.privacy.calibration import NoiseScale, calibrate, calibrate_gaussian
from core.privacy.noise.noise import add_noise, discrete_laplace
from core.privacy.noise.randomness import SeededSource
from tests.depth import deep, draws

# An audit of a correct mechanism fails with probability 1 - LEVEL at most: below 1e-6 for all tests here together.
LEVEL = 1 - 1e-8
ROWS, WIDTH = 3, 8
BATCH = 5000
ONE_A_CALL = {"runs": draws(1000, 5000), "runs_a_call": None}
RUNS = draws(30_000, 100_000)
OFFSETS = np.array([0.0, 0.3, 0.7])

DATA = np.array([0.06, 0.3, 0.31, 0.55, 0.8])
ONE_MORE = np.append(DATA, 0.94)
ONE_REPLACED = np.append(DATA[1:], 0.94)


def sketch(records):
    """A small RACE: one-hot in each of three rows of eight cells, for records between 0 and 1."""
    cells = (np.floor(records[:, None] * (WIDTH - 1) + OFFSETS)).astype(int) % WIDTH
    table = np.zeros((ROWS, WIDTH), np.int64)
    for row in range(ROWS):
        table[row] = np.bincount(cells[:, row], minlength=WIDTH)
    return table


def noisy(exact, scale):
    """Many runs of the correct way to add noise, one a row; only the scale may be wrong."""
    return exact + discrete_laplace((BATCH, *exact.shape), Fraction(scale))


def fails(mechanism, neighbour=ONE_MORE, data=DATA, exact=sketch, runs=RUNS, runs_a_call=BATCH):
    report = audit(mechanism, data, neighbour, epsilon=1, exact=exact, runs=runs, runs_a_call=runs_a_call, level=LEVEL)
    return not report.passed


@pytest.mark.few(2)
@pytest.mark.parametrize("epsilon", [deep(Fraction(1, 2)), 1, deep(3)])
@pytest.mark.parametrize("delta", [0, Fraction(1, 10**5)])
@pytest.mark.parametrize("neighbour, l1", [(ONE_MORE, ROWS), (ONE_REPLACED, 2 * ROWS)], ids=["add", "replace"])
def test_a_correct_mechanism_passes(epsilon, delta, neighbour, l1):
    scale = calibrate(Sensitivity(l1, l1, parts=ROWS, unit_shifts=True), Fraction(epsilon), Fraction(delta))
    report = audit(
        lambda data: add_noise(np.broadcast_to(sketch(data), (BATCH, ROWS, WIDTH)), scale),
        *(DATA, neighbour, epsilon, delta),
        exact=sketch,
        runs=RUNS,
        runs_a_call=BATCH,
        level=LEVEL,
    )
    assert report.passed
    # The attack is not idle. Gaussian noise shows nearly all of its loss with probability delta only.
    assert delta or report.epsilon_lower > 0.1 * float(epsilon)


@pytest.mark.thorough
def test_the_exact_tables_need_not_be_known():
    assert not fails(lambda data: noisy(sketch(data), ROWS), exact=None)
    assert fails(lambda data: noisy(sketch(data), 1), exact=None)


def test_catches_noise_that_forgets_the_number_of_rows():
    assert fails(lambda data: noisy(sketch(data), 1))


def test_catches_half_the_noise():
    assert fails(lambda data: noisy(sketch(data), Fraction(ROWS, 2)))


@pytest.mark.thorough
def test_catches_the_sensitivity_of_the_other_neighbours():
    """Replacing moves twice as many counters as adding."""
    assert fails(lambda data: noisy(sketch(data), ROWS), ONE_REPLACED, runs=2 * RUNS)
    assert not fails(lambda data: noisy(sketch(data), 2 * ROWS), ONE_REPLACED, runs=2 * RUNS)


@pytest.mark.thorough
def test_catches_noise_used_again_in_every_row():
    """Differences between rows are exact; each counter by itself has noise as large as it should be."""
    assert fails(lambda data: sketch(data) + discrete_laplace(WIDTH, Fraction(ROWS)), **ONE_A_CALL)


@pytest.mark.thorough
def test_catches_one_draw_for_all_counters_of_a_row():
    assert fails(lambda data: sketch(data) + discrete_laplace((ROWS, 1), Fraction(ROWS)), **ONE_A_CALL)


@pytest.mark.thorough
def test_catches_seeded_noise():
    def seeded(data):
        return sketch(data) + discrete_laplace((ROWS, WIDTH), Fraction(ROWS), SeededSource(1))

    assert fails(seeded, **ONE_A_CALL)


@pytest.mark.thorough
def test_catches_bounds_taken_from_the_data():
    """Records are scaled by their own least and greatest value, so one outlier moves all the others."""
    rng = np.random.default_rng(0)
    data = rng.uniform(0, 0.4, 60)

    def scaled(data):
        return sketch((data - data.min()) / (data.max() - data.min()))

    outlier = np.append(data, 1.0)
    assert fails(lambda data: noisy(scaled(data), ROWS), outlier, data, exact=scaled)
    assert not fails(lambda data: noisy(sketch(data), ROWS), outlier, data)


@pytest.mark.thorough
def test_catches_noise_divided_by_the_number_of_records():
    """The reference code of the RACE paper adds Laplace(R/(N epsilon)) to raw counts, as if they were averages."""
    data = np.linspace(0, 1, 100)
    rng = np.random.default_rng(0)

    def published(data):
        return sketch(data) + rng.laplace(scale=ROWS / len(data), size=(ROWS, WIDTH))

    report = audit(published, data, np.append(data, 0.5), 1, exact=sketch, level=LEVEL, runs=draws(4_000, 10_000))
    assert not report.passed
    assert report.epsilon_lower > draws(4, 5)  # about as much as 4,000 runs can show, or 10,000


def test_catches_no_noise_at_all():
    assert fails(sketch, **ONE_A_CALL)


@pytest.mark.thorough
def test_catches_too_little_gaussian_noise():
    promised = (Fraction(1), Fraction(1, 10**5))
    scale = calibrate_gaussian(Sensitivity(1, 1, unit_shifts=True), *promised)  # forgets the rows and the replacement

    def mechanism(data):
        return add_noise(np.broadcast_to(sketch(data), (BATCH, ROWS, WIDTH)), scale)

    report = audit(
        mechanism,
        DATA,
        ONE_REPLACED,
        *promised,
        exact=sketch,
        runs=draws(150_000, 400_000),
        runs_a_call=BATCH,
        level=LEVEL,
    )
    assert not report.passed


def vector_audit(sensitivity, tables, epsilon=1):
    """Audit of tables of vectors with noise for whole vectors, by the scale that a sensitivity asks for."""
    scale = NoiseScale("rounded_l2", Fraction(sensitivity.blocks_l2) / epsilon, sensitivity.block)
    source = SeededSource(8)
    return audit(
        lambda table: add_noise(np.broadcast_to(table, (BATCH, *table.shape)), scale, source),
        *tables,
        epsilon,
        exact=lambda table: table,
        runs=draws(20_000, 40_000),
        runs_a_call=BATCH,
        level=LEVEL,
        block=sensitivity.block,
    )


MEANS = np.array([[40, -7], [3, 900]])
# Somebody adds a vector of length 50 to one block, or takes it to the other block.
HERE, THERE = np.array([[30, 40], [0, 0]]), np.array([[0, 0], [30, 40]])
ONE_MORE_VECTOR, ONE_MOVED_VECTOR = (MEANS, MEANS + HERE), (MEANS + HERE, MEANS + THERE)
ONE_BLOCK = Sensitivity(70, 2500, block=2, blocks_l2=50)
TWO_BLOCKS = Sensitivity(140, 5000, block=2, blocks_l2=100)


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [deep(Fraction(1, 2)), 1, deep(3)])
@pytest.mark.parametrize("sensitivity, tables", [(ONE_BLOCK, ONE_MORE_VECTOR), deep(TWO_BLOCKS, ONE_MOVED_VECTOR)])
def test_noise_for_whole_vectors_passes(sensitivity, tables, epsilon):
    report = vector_audit(sensitivity, tables, epsilon)
    assert report.passed
    assert report.epsilon_lower > draws(15, 25) / 100 * float(epsilon)


@pytest.mark.thorough
def test_catches_half_the_noise_for_vectors():
    half = Sensitivity(35, 625, block=2, blocks_l2=25)
    assert vector_audit(half, ONE_MORE_VECTOR).epsilon_lower > draws(11, 13) / 10


@pytest.mark.deep
def test_catches_the_length_of_a_whole_table_in_place_of_the_sum_over_its_blocks():
    zeros, everywhere = np.zeros((4, 2), np.int64), np.tile([30, 40], (4, 1))
    assert vector_audit(Sensitivity(280, 10_000, block=2, blocks_l2=200), (zeros, everywhere), 3).passed
    report = vector_audit(Sensitivity(280, 10_000, block=2, blocks_l2=100), (zeros, everywhere), 3)
    assert report.epsilon_lower > 3.2
    assert "noise drawn as vectors" in report.event


@pytest.mark.thorough
def test_catches_one_draw_for_all_vectors():
    scale = NoiseScale("rounded_l2", Fraction(100), 2)

    def mechanism(table):
        return table + add_noise(np.zeros((BATCH, 1, 2), np.int64), scale)

    assert fails(mechanism, *ONE_MOVED_VECTOR[::-1], exact=lambda table: table)


def test_delta_is_granted():
    """A mechanism that publishes everything with probability 0.1 keeps (epsilon, 0.1), and not (epsilon, 0.05)."""
    rng = np.random.default_rng(1)

    def mechanism(data):
        return np.where(rng.random((1000, 1)) < 0.1, len(data), 0)

    def report(delta):
        return audit(mechanism, DATA, ONE_MORE, 1, delta, exact=None, runs=20_000, runs_a_call=1000, level=LEVEL)

    assert report(Fraction(1, 10)).passed
    assert not report(Fraction(1, 20)).passed


@pytest.mark.deep
def test_correct_mechanisms_fail_no_more_often_than_stated():
    """Randomised response has a loss of exactly epsilon, so its audits are the likeliest to fail by chance."""
    rng = np.random.default_rng(2)
    epsilon = 1.0
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))

    def mechanism(answer):
        return np.where(rng.random((1000, 1)) < truth, answer, 1 - answer)

    def report(level):
        return audit(
            mechanism, 0, 1, epsilon, exact=lambda answer: np.array([answer]), runs=1000, runs_a_call=1000, level=level
        )

    failed = sum(not report(0.8).passed for _ in range(300))
    assert stats.binomtest(failed, 300, 0.2, alternative="greater").pvalue > 1e-8
    assert failed  # and not never: the bound is not idle


@given(runs=st.integers(1, 2000), data=st.data(), delta=st.floats(0, 0.1), level=st.floats(0.5, 1 - 1e-9))
def test_the_bound_is_that_of_clopper_and_pearson(runs, data, delta, level):
    likely, unlikely = (data.draw(st.integers(0, runs)) for _ in range(2))

    def interval(count):
        return stats.binomtest(count, runs).proportion_ci(level, method="exact")

    least, most = interval(likely).low - delta, interval(unlikely).high
    expected = np.log(least) - np.log(most) if least > 0 else -np.inf
    assert _loss_bound(likely, unlikely, runs, delta, level) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_scores_are_what_their_names_say():
    attacks = Attacks(np.array([0.0, 5.0, 2.0]), np.array([1.0, 5.0, 2.0]))
    scores = dict(zip(attacks.names, attacks.scores(np.array([[-2.0, 5.0, 9.0]]))[0].tolist(), strict=True))
    assert scores == {
        "the likelihood ratio for Laplace noise": 1.0,  # |-2-1| - |-2-0|
        "the likelihood ratio for Gaussian noise": 5.0,  # 9 - 4
        "how many counters equal the exact ones": 0.0,
        "how many different values the noise has": 0.0,  # {-3, 0, 7} against {-2, 0, 7}
        "the largest counter": 9.0,
        "the smallest counter": -2.0,
        "the sum of all counters": 12.0,
        "counter 0": -2.0,
    }


def test_the_score_for_vectors_is_what_its_name_says():
    attacks = Attacks(np.array([0.0, 0.0, 5.0, 2.0]), np.array([3.0, 4.0, 5.0, 2.0]), block=2)
    scores = dict(zip(attacks.names, attacks.scores(np.array([[6.0, 8.0, 1.0, 1.0]]))[0].tolist(), strict=True))
    assert scores["the likelihood ratio for noise drawn as vectors"] == -5.0  # |(3, 4)| - |(6, 8)|


def test_a_report_reads_as_a_sentence_and_as_json():
    report = AuditReport(1.0, 0.0, 1.8, "counter 0 is at least 3 in 900 of 1,000 runs", 2000, 0.95)
    assert (report.passed, report.verdict) == (False, "fail")
    assert report.sentence == (
        "Failed: counter 0 is at least 3 in 900 of 1,000 runs; that shows a privacy loss of at least 1.8 "
        "(confidence 0.95), which breaks the promise of epsilon = 1."
    )
    passed = AuditReport(2.0, 1e-6, 1.8, "", 2000, 0.95)
    assert passed.sentence.startswith("Passed: in 2,000 runs on each of two neighbouring data sets")
    assert passed.sentence.endswith("does not break the promise of epsilon = 2 at delta = 1e-06.")
    assert json.loads(json.dumps(passed.to_dict()))["verdict"] == "pass"


def test_what_cannot_be_audited_is_refused():
    def refused(match, mechanism=sketch, **options):
        with pytest.raises(RequestError, match=match):
            audit(mechanism, DATA, ONE_MORE, **{"epsilon": 1, "runs": 200, **options})

    refused("at least 100 runs", runs=99)
    refused("strictly between 0 and 1", level=1)
    refused("finite epsilon above 0", epsilon=0)
    refused("delta from 0 to below 1", delta=1)
    refused("shape alone tells them apart", mechanism=lambda data: data)
    refused("finite numbers", mechanism=lambda data: np.array([np.nan]))
    lengths = iter(range(1, 1000))
    refused("must not change from run to run", mechanism=lambda data: np.zeros(next(lengths)))
