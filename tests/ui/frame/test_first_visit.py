"""What a server's first visitor waits for: the first words of Home need nothing that takes seconds to load."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from core.figures.figure_axes import View
from core.lab.release_lessons import bundled_live_picture
from core.sources.public_tables import RELEASES
from core.ui.home_page import TRIED
from core.ui.released import public_answers
from core.ui.surroundings import forecast_ahead

ROOT = Path(__file__).parents[3]
SLOW = ("numba", "scipy.stats", "scipy.signal", "duckdb", "sqlalchemy", "core.sketches.registry")


@pytest.mark.deep
def test_home_begins_before_anything_slow_is_loaded():
    code = "import sys\nfrom core.ui.surroundings import frame, hero, touring\n"
    code += f"print([name for name in {SLOW!r} if name in sys.modules])"
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "[]"


@pytest.mark.thorough
def test_what_the_first_forecast_and_the_first_map_wait_for_is_there_before_it_is_asked():
    for _ in forecast_ahead():
        pass
    asked = bundled_live_picture.cache_info().misses
    bundled_live_picture(TRIED)
    assert asked == bundled_live_picture.cache_info().misses
    file = sha256((RELEASES / "flights.npz").read_bytes()).hexdigest()
    assert public_answers.at_hand(public_answers.picture, file, View(("hour", "delay"), ()))


@pytest.mark.thorough
def test_the_first_forecast_loads_nothing_that_takes_a_second_and_is_not_asked_for():
    code = "import sys\nfrom core.sketches.registry import cards\nfrom core.privacy.composition import *\ncards()\n"
    code += "epsilon_spent([PureParts(Fraction(1))], 1e-6)\n"
    code += "print([name for name in ('scipy.stats', 'scipy.signal', 'dp_accounting') if name in sys.modules])"
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "[]"
