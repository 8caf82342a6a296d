"""What a server's first visitor waits for: the first words of Home need nothing that takes seconds to load."""

import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from core.lab.release_lessons import bundled_live_picture
from core.privacy.accounting import Cost, spent
from core.privacy.composition import PureParts, composed_epsilon
from core.ui.home_page import TRIED
from core.ui.own_data.paying import SLACK
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
def test_what_the_first_forecast_waits_for_is_there_before_it_is_asked():
    forecast_ahead()
    asked = bundled_live_picture.cache_info().misses, composed_epsilon.cache_info().misses
    bundled_live_picture(TRIED)
    spent([Cost((PureParts(Fraction(1)),), Decimal(1))], SLACK)
    assert asked == (bundled_live_picture.cache_info().misses, composed_epsilon.cache_info().misses)
