"""The names that `from core import …` gives, whatever was imported before."""

import subprocess
import sys
from pathlib import Path

import pytest

import core


def test_every_public_name_is_there():
    from core import Budget, Domain, Race, load, release
    from core.geometry import kernels

    assert all(callable(thing) for thing in (Budget, Domain, Race, load, release))
    assert kernels.Euclidean(bandwidth=5)
    for name in core.__all__:
        assert getattr(core, name) is not None
    assert set(core.__all__) <= set(dir(core))


def test_release_is_the_function_and_no_module():
    import core.releases.job
    import core.releases.release

    assert core.release is core.releases.job.release and core.load is core.releases.release.load


def test_every_mechanism_and_the_recommendation_are_there():
    import core.releases.forecast.recommendation
    from core import (
        Classes,
        Directions,
        Distance,
        Features,
        Histogram,
        Moments,
        Projected,
        ProjectedDistance,
        recommend,
    )
    from core.sketches.registry import cards

    public = (Classes, Directions, Distance, Features, Histogram, Moments, Projected, ProjectedDistance, core.Race)
    assert {sketch.name for sketch in public} <= set(cards())
    assert recommend is core.releases.forecast.recommendation.recommend is core.recommend


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'wizardry'"):
        core.wizardry  # noqa: B018


def test_the_package_alone_loads_nothing_heavy():
    program = "import sys, core; print(sorted({'numpy', 'pandas', 'numba', 'streamlit'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
