"""The wheel of this checkout, built by what is installed already."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def built(folder: Path) -> Path:
    """Built in a folder, from a copy, as building leaves files behind."""
    skipped = shutil.ignore_patterns(".*cache*", "__pycache__", ".git", ".venv", "artefacts", "build", "tests")
    shutil.copytree(ROOT, folder / "checkout", ignore=skipped)
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), "."]
    subprocess.run([sys.executable, "-m", "pip", *build], cwd=folder / "checkout", check=True)
    (made,) = folder.glob("frostglass-*.whl")
    return made
