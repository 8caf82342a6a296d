"""The live picture: exact where ε is large, hidden where it is small, and never of what has no public records."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from core.errors import RequestError
from core.figures.map_layers import film_figure
from core.figures.traces import hidden_by_noise
from core.lab.release_lessons import EPSILONS, SIZE, has_live_picture, live_picture
from core.sources.public_tables import sample, samples


@pytest.fixture(scope="module")
def live():
    return live_picture(sample("health"))


@pytest.mark.thorough
def test_it_dissolves_as_epsilon_falls(live):
    hidden = [hidden_by_noise(live.at(epsilon)).mean() for epsilon in EPSILONS]
    assert hidden[0] > 0.9 and hidden[-1] < 0.7
    assert all(later <= earlier + 0.02 for earlier, later in pairwise(hidden))


@pytest.mark.thorough
def test_what_is_shown_is_the_truth_with_the_noise_of_its_epsilon(live):
    for epsilon in ("0.1", "1"):
        picture = live.at(epsilon)
        held = (picture.low <= live.exact) & (live.exact <= picture.high)
        assert held.mean() > 0.9  # the draw is fixed; neighbouring answers share their noise
        assert np.isclose((picture.estimate - live.exact)[5, 7] * float(epsilon), live.noise[5, 7] * float(EPSILONS[0]))
    answer, error = live.typical
    assert 10 < answer < live.records and error > 0


@pytest.mark.thorough
def test_every_step_is_a_frame_that_the_browser_shows_by_itself(live):
    pictures = [live.at(epsilon) for epsilon in EPSILONS]
    words, domain = [f"at {name}" for name in EPSILONS], live.sample.domain
    figure = film_figure(pictures, words, EPSILONS, 12, domain, "people", "ε = ")
    assert (
        [frame.name for frame in figure.frames] == list(EPSILONS) == [s.label for s in figure.layout.sliders[0].steps]
    )
    for frame in figure.frames:
        colours, hatching = (figure.data[place] for place in frame.traces)
        assert colours.type == "heatmap" and hatching.fill == "toself"
        assert frame.data[0].z.shape == (SIZE, SIZE)
    assert figure.layout.title.text == "at 1" and figure.layout.sliders[0].active == 12
    assert not figure.layout.annotations


def test_only_maps_of_two_columns_have_one():
    assert {one.name for one in samples() if has_live_picture(one)} == {"flights", "towns", "health"}
    with pytest.raises(RequestError, match="no live picture"):
        live_picture(sample("salaries"))
