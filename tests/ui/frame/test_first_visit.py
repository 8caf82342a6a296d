"""What a server's first visitor waits for: the first words of Home need nothing that takes seconds to load."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SLOW = ("numba", "scipy.stats", "scipy.signal", "duckdb", "sqlalchemy", "core.sketches.registry")


@pytest.mark.deep
def test_home_begins_before_anything_slow_is_loaded():
    code = "import sys\nfrom core.ui.surroundings import frame\nfrom core.ui.first_words import hero, touring\n"
    code += f"print([name for name in {SLOW!r} if name in sys.modules])"
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "[]"
