"""Explore: readers choose how closely to look at a released grid."""

import numpy as np

from core import Budget, Domain, release
from core.geometry import kernels
from core.privacy.noise.randomness import SeededSource
from core.releases.release import Release
from core.sketches.grids.histogram import Histogram
from core.sketches.hashed.race import Race
from core.ui.frame.session import Opened
from core.ui.released.chosen_view import part_calls
from tests.ui.explore.visiting import explore, labels

LINE = Domain.of(x=(0, 100))
SLIDER, DETAIL = "How closely to look", "Detail"


def popovers(app) -> list[str]:
    return [block.proto.popover.label for block in app.get("popover")]


def spikes(finest: float) -> bytes:
    values = np.repeat(np.arange(10.0, 95.0, 10.0), 300)
    sketch = Histogram(LINE, kernels.Gaussian(8.0), finest=finest)
    return release(sketch, {"x": values}, Budget(1), noise_source=SeededSource(1)).to_bytes(teaching=True)


def test_it_starts_at_what_suits_the_counts_and_can_be_moved():
    app = explore(spikes(1 / 16))
    slider = next(one for one in app.select_slider if one.label == SLIDER)
    assert slider.value < 0.2 and DETAIL in popovers(app)
    slider.set_value(1.0).run()
    assert not app.exception


def test_a_file_whose_bandwidth_the_owner_chose_starts_there():
    app = explore(spikes(1.0))
    assert next(one for one in app.select_slider if one.label == SLIDER).value == 1.0


def test_a_file_whose_table_was_filled_for_one_bandwidth_offers_no_choice():
    race = Race(LINE, kernels.Euclidean(5.0), 20, 10)
    app = explore(release(race, {"x": [1.0, 2.0]}, Budget(1)).to_bytes())
    assert SLIDER not in labels(app.select_slider)
    assert DETAIL not in popovers(app)


def test_scripts_read_with_the_same_bandwidth():
    made = release(Histogram(LINE, kernels.Gaussian(8.0), finest=0.25), {"x": [1.0]}, Budget(1))
    opened = Opened("x.npz", b"", made.smoothed(4.0), bandwidth=4.0)
    (call,) = part_calls(opened)
    assert call.function is Release.smoothed
    assert call.of(made) == opened.release
    assert opened.identity != Opened("x.npz", b"", made).identity
