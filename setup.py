"""What pyproject.toml cannot say: once installed, the library is called frostglass, and the app lies inside it."""

import re
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

APP = (
    "app.py",
    "pages/*.py",
    ".streamlit/config.toml",
    "docs/teaching.md",
    "readers/javascript/*.js",
    "sample_data/*.toml",
    "sample_data/*.csv",
    "sample_data/*.parquet",
    "sample_data/texts/*.parquet",
    "sample_data/answers/*.npz",
    "sample_data/comparisons/*.parquet",
    "sample_data/releases/*.npz",
    "sample_data/releases/*.png",
)
"""What the app is made of beside the library, and the samples, which the library can read too."""
LIBRARY = re.compile(r"^( *)(from|import) core\b", re.MULTILINE)


class WithApp(build_py):
    """Puts the same files that `streamlit run app.py` has in a checkout into the folder `frostglass/app`."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for file in self._app():
                self._put(file, Path(self.build_lib, "frostglass", "app", file))

    def _app(self) -> list[Path]:
        return [file for pattern in APP for file in sorted(Path().glob(pattern)) if file.is_file()]

    def _put(self, file: Path, place: Path) -> None:
        self.mkpath(str(place.parent))
        if file.suffix == ".py":
            place.write_text(LIBRARY.sub(r"\1\2 frostglass", file.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            place.write_bytes(file.read_bytes())

    def get_source_files(self) -> list[str]:
        """What a source distribution has to hold."""
        return [*super().get_source_files(), *map(str, self._app())]


setup(
    packages=["frostglass" + name.removeprefix("core") for name in find_packages(include=["core", "core.*"])],
    cmdclass={"build_py": WithApp},
)
