"""Without a package that only some users need, everything else works, and one sentence says what is missing."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from core.errors import RequestError
from core.runtime.environment import check_extra
from tests.depth import deep

ROOT = Path(__file__).parents[2]
OPTIONAL = ("streamlit", "duckdb", "dask", "distributed", "psycopg", "mbi", "jax", "cupy")
WITHOUT = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(name)
import importlib.util as util
found = util.find_spec
util.find_spec = lambda name: None if name in {OPTIONAL} else found(name)
sys.meta_path.insert(0, Missing())
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_what_is_there_is_there():
    assert check_extra("numpy", "sql", "Counting") is None
    with pytest.raises(RequestError, match=r"^Flying needs the package wings_of_wax: .* extra 'air'\.$"):
        check_extra("wings_of_wax", "air", "Flying")


def test_every_module_but_those_of_the_pages_can_be_imported():
    done = run("""
import pkgutil, importlib, core
for module in pkgutil.walk_packages(core.__path__, "core."):
    if not module.name.startswith("core.ui") and module.name != "core.__main__":
        importlib.import_module(module.name)
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.deep
def test_frames_and_arrow_are_released(tmp_path):
    done = run(
        """
import numpy as np, pyarrow as pa, pyarrow.feather as feather
from core import Budget, Domain, Histogram, kernels, release
domain = Domain.of(x=(0, 1))
sketch = Histogram(domain, kernels.Laplacian(0.1), (8,))
feather.write_feather(pa.table({"x": np.linspace(0, 1, 1000)}), sys.argv[1])
for data in (sys.argv[1], {"x": np.linspace(0, 1, 1000)}):
    print(release(sketch, data, Budget(1)).estimate({"x": [0.5]}).shape)
""",
        str(tmp_path / "x.arrow"),
    )
    assert done.stdout.split() == ["(1,)", "(1,)"], done.stderr


RELEASE = ("release", "people.parquet", "--bounds", "x=0:1", "--bandwidth", "0.1", "--epsilon", "1", "--out", "out.npz")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("command", "extra"),
    [
        deep(("app",), "app"),
        deep(("release", "people.csv", *RELEASE[2:]), "sql"),
        ((*RELEASE, "--engine", "dask"), "cluster"),
        deep(("forecast", "--records", "500", *RELEASE[2:-2], "--mechanism", "mst"), "marginals"),
        deep(("ledger", "show", "people", "--ledger", "postgresql://127.0.0.1/frostglass"), "postgres"),
    ],
)
def test_a_command_says_which_extra_it_needs(command, extra, tmp_path):
    people = pd.DataFrame({"x": [0.5, 0.2]})
    people.to_csv(tmp_path / "people.csv", index=False)
    people.to_parquet(tmp_path / "people.parquet")
    done = run(
        "from core.__main__ import main; main()",
        *(str(tmp_path / word) if word.endswith((".csv", ".parquet", ".npz")) else word for word in command),
    )
    assert done.returncode == 2
    assert f": install Frostglass with its extra '{extra}'" in done.stderr
    assert not (tmp_path / "out.npz").exists()
