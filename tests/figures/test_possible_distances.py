"""Distance releases that could come out: around the exact averages, as far as the noise moves them."""

import math

import numpy as np

from core.domain import Domain
from core.figures.forecast_figures import PLACES, SIMULATED
from core.figures.possible_distances import possible_distances, possible_distances_in_words
from core.privacy.budget import Budget
from core.sketches.distances.distance import Distance
from core.sketches.distances.moments import Moments
from core.sketches.plan import plan

LINE = Domain.of(x=(0, 10))
ALONG = np.asfortranarray(np.linspace(0, 10, PLACES)[:, None])
RECORDS = 1_000.0


def simulated(sketch, epsilon=1.0):
    budget = Budget(epsilon)
    sketch = sketch.sized_for(budget, RECORDS)
    variance = plan(sketch, budget).noise.variance
    return sketch, variance, possible_distances(0, 10, sketch, ALONG, RECORDS, variance)


def test_the_crowd_has_its_exact_average_distances():
    _, _, possible = simulated(Distance(LINE))
    # Three fifths of the crowd stand around 3, the others around 6.8: the median lies at the first heap's far end.
    assert 3.0 < possible.places[possible.crowd.argmin()] < 5.0
    slope = np.diff(possible.crowd) / np.diff(possible.places)
    assert slope[0] < -0.9 and slope[-1] > 0.9 and (np.diff(slope) >= -1e-9).all()


def test_releases_spread_as_the_noise_of_the_sketch_does():
    for made in (Distance(LINE), Moments(LINE)):
        sketch, variance, possible = simulated(made, 0.1)
        errors = possible.releases - possible.crowd
        expected = math.sqrt(float(np.mean(sketch.noise_variance(variance, ALONG)))) / RECORDS
        assert possible.releases.shape == (SIMULATED, PLACES)
        # Errors along the line hang together, so 50 draws are some hundred independent ones: 4 sigma are a third.
        assert abs(math.sqrt(np.mean(errors**2)) / expected - 1) < 0.35


def test_the_nearest_place_is_lost_when_noise_exceeds_the_differences():
    clear, drowned = (simulated(Distance(LINE), epsilon)[2] for epsilon in (5.0, 0.001))
    assert clear.kept == SIMULATED and drowned.kept < 40
    assert possible_distances_in_words(clear).startswith("In 50 of 50 simulated releases the place nearest to everyone")
