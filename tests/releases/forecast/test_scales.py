"""How finely a density is released: what follows from public facts."""

from itertools import pairwise

import numpy as np
import pytest

from core.analysis.modes import find_modes
from core.domain import Categorical, Cyclic, Domain, Numeric
from core.domain.round_columns import position
from core.errors import RequestError
from core.figures.bandwidth_figures import smoothing_figure, smoothing_in_words
from core.geometry.kernels import Gaussian
from core.lab.release_lessons import HEAPS, of_made_up
from core.privacy.budget import Budget
from core.releases.forecast.recommendation import Closeness, recommend
from core.releases.forecast.scales import Way, chosen_scales, has_scales, in_unit, risks

PAY = Domain((Numeric("pay", 0, 400_000, "€"),))
PLACE = Domain.of(x=(0, 1000), y=(0, 700))


def test_more_records_and_more_privacy_loss_show_more_detail():
    found = [
        chosen_scales(PAY, Budget(epsilon), records) for epsilon, records in ((0.1, 3_000), (0.1, 30_000), (1, 30_000))
    ]
    for coarse, fine in pairwise(found):
        assert fine.narrowest <= coarse.narrowest
        assert fine.bandwidth <= coarse.bandwidth
        assert fine.apart <= coarse.apart
    assert found[0].narrowest > 2 * found[-1].narrowest


@pytest.mark.parametrize("domain", [PAY, PLACE])
def test_the_two_errors_cross(domain):
    scales = chosen_scales(domain, Budget(1), 20_000)
    assert (np.diff(scales.smoothing) > 0).all()
    assert (np.diff(scales.noise) < 0).all()
    np.testing.assert_allclose(scales.errors**2, scales.smoothing**2 + scales.noise**2)
    assert scales.narrowest == pytest.approx(scales.tried[0])
    assert scales.bandwidth in [pytest.approx(one) for one in scales.tried]
    assert scales.finest < 1.0
    assert scales.sketch.sized_for(Budget(1), 20_000).sized


def test_nothing_is_finer_than_public_steps():
    scales = chosen_scales(Domain((Numeric("age", 17, 90, step=1.0),)), Budget(10), 1_000_000)
    assert scales.narrowest == pytest.approx(0.5, rel=0.05)


def test_columns_of_other_units_have_bandwidths_of_their_own():
    scales = chosen_scales(Domain((Numeric("age", 0, 100, "years"), Numeric("pay", 0, 9_000, "€"))), Budget(1), 10_000)
    age, pay = scales.kernel.bandwidth
    assert pay == pytest.approx(90 * age, rel=1e-3)
    assert "% of the bounds" in scales.detail
    assert len(set(scales.sketch.sized_for(Budget(1), 10_000).cells)) == 1


@pytest.mark.parametrize("part", ["hour", "weekday", "day_of_year"])
def test_around_a_circle_every_value_is_told_where_noise_lets_it(part):
    domain = Domain((Cyclic("when", part=part),))
    many, few = (chosen_scales(domain, Budget(epsilon), records) for epsilon, records in ((1, 100_000), (0.1, 100)))
    assert many.bandwidth < few.bandwidth and many.narrowest == few.narrowest == pytest.approx(0.25)
    assert "spikes 2 " in many.detail
    sized = many.sketch.sized_for(Budget(1), 100_000)
    assert sized.shape == (len(domain.columns[0].categories),) and sized.open_bandwidth
    assert sized.smoothed(many.narrowest).kernel.bandwidth == pytest.approx(0.25)
    assert "broadest outline" in chosen_scales(Domain((Cyclic("d", part="day_of_year"),)), Budget("0.1"), 300).detail


def test_risks_around_a_circle_are_those_of_whole_matrices():
    way, heap, wide, variance, records = Way(24.0, 24), (2.0, 0.5), 1.5, 9.0, 500.0
    ((lost,),), ((noise,),) = risks([way], 1.0, [wide], [heap], variance, records)
    turn = 2.0 * np.pi * np.arange(24) / 24
    places = 24 / (2 * np.pi) * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    kernel = Gaussian(wide).evaluate(places, places)
    around = np.minimum(np.arange(24), 24 - np.arange(24))
    shape = np.exp(-((around / heap[0]) ** 2) / 2)
    shape /= shape.sum()
    smooth = kernel / kernel[0].sum()
    assert lost == pytest.approx(((smooth @ shape - shape) ** 2).sum() / (shape**2).sum())
    blurred = (24 * variance / records**2 + 1 / records) * (smooth[0] ** 2).sum()
    assert noise == pytest.approx(blurred / (heap[1] * (shape**2).sum()))


def test_a_circle_beside_a_number_has_a_bandwidth_of_its_own():
    scales = chosen_scales(Domain((Cyclic("at", part="hour"), Numeric("pay", 0, 9_000, "€"))), Budget(1), 10_000)
    hours, pay = scales.kernel.bandwidth
    assert pay / hours == pytest.approx(9_000 / 24, rel=1e-3)
    assert scales.sketch.sized_for(Budget(1), 10_000).sized


def test_it_says_in_words_what_will_be_seen():
    scales = chosen_scales(PAY, Budget(1), 10_000)
    assert scales.detail.startswith(f"Detail down to spikes {in_unit(PAY, scales.apart)} apart will be visible")
    assert "€" in scales.sentence
    assert "%" in smoothing_in_words(scales)
    assert len(smoothing_figure(scales).data) == 4


def test_columns_that_need_a_bandwidth():
    assert not has_scales(Domain((Numeric("a", 0, 1), Categorical("b", ("x", "y")))))
    assert not has_scales(Domain.of(a=(0, 1), b=(0, 1), c=(0, 1), d=(0, 1)))
    with pytest.raises(RequestError, match="must be said"):
        chosen_scales(Domain.of(a=["x", "y"]), Budget(1), 100)
    with pytest.raises(RequestError, match="How many records"):
        chosen_scales(PAY, Budget(1), None)


@pytest.mark.thorough
@pytest.mark.parametrize("scale", ["none", "box"])
def test_five_branches_of_a_town_are_told_apart_at_the_automatic_distance_said_in_km(scale):
    """Half of how far records lie apart was taken for places, and five branches were one blob."""
    town = Domain(position("lat", "lon", 50.95, 51.15, 13.6, 13.9), scale=scale)
    scales = chosen_scales(town, Budget(1, "1e-6"), 10_000)
    assert scales.in_words(scales.bandwidth).endswith(" km") and " km apart" in scales.detail
    made = of_made_up(scales.sketch, Budget(1, "1e-6"), 10_000)
    found = [mode for mode in find_modes(made) if mode.significant]
    assert len(found) == len(HEAPS)
    for north, east, _ in HEAPS:
        place = 50.95 + 0.2 * north, 13.6 + 0.3 * east
        assert min(np.hypot(mode.position["lat"] - place[0], mode.position["lon"] - place[1]) for mode in found) < 0.01


@pytest.mark.thorough
def test_the_grid_comes_first_where_readers_choose():
    scales = chosen_scales(PAY, Budget(1), 10_000)
    best = recommend(PAY, 10_000, Budget(1), Closeness(scales.kernel, finest=scales.finest))[0]
    assert best.name == "histogram"
    assert best.answering.open_bandwidth
    assert "choose how finely to look" in best.reason
