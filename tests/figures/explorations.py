"""An exploration with a step of every kind, of a file whose names are as awkward as a stranger could make them."""

from hashlib import sha256

import numpy as np

from core import Budget, Domain
from core.figures.exploration import Anomalies, Density, Exploration, Modes, Points, Sampled
from core.figures.share.shared_page import Asked, share_html
from core.geometry import kernels
from tests.releases_for_tests import small_release

HOSTILE = '"""\'\'\'"; import os; os.abort() #\n\\N{DEL}\u202e{0}%s</script><img src=x onerror=alert(1)>&amp;'
HARMLESS = "age"
CATEGORIES = ("</title><script>alert(1)</script>", "'); raise SystemExit(9) #\r\n")


def release_of(name: str, categories=CATEGORIES):
    """A release of a column of numbers and one of categories."""
    domain = Domain.of(**{name: (0, 100)}, city=list(categories))
    return small_release(Budget(8, "1e-6"), domain=domain, kernel=kernels.Laplacian(8.0), rows=64, records=3_000)


def report_of(release, steps=(), **asked) -> str:
    """The page of a release with what was asked of it: printed, it is the report."""
    return share_html(release, release.to_bytes(teaching=True), "released.npz", Asked(tuple(steps), **asked))


def exploration_of(data: bytes, name: str, categories=CATEGORIES, file="released file.npz") -> Exploration:
    """A step of every kind."""
    places = {name: [40, np.float32(12.5), 99.0], "city": [categories[0], np.str_(categories[1]), categories[0]]}
    steps = (
        Density((name,), {"city": categories[1]}, size=50),
        Density(("city",), {name: np.float64(30.0)}),
        Density((name, "city"), {}, size=20),
        Density(("city",), {}),
        Points(places),
        Points({key: values[:1] for key, values in places.items()}, level=0.5),
        Modes(count=3),
        Anomalies(places, threshold=0.05, seed=2),
        Sampled(20, seed=3),
        Sampled(5, sharpen=False),
    )
    return Exploration(file, sha256(data).hexdigest(), steps)
