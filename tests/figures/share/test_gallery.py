"""A gallery of released files: everything is there, nothing of a file becomes markup, and only public files go in."""

import re
from urllib.parse import unquote

import pytest

from core import Budget, Domain, RequestError, release
from core.domain import Categorical
from core.figures.share.gallery import publish
from core.geometry import kernels
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.histogram import Histogram
from core.sketches.tables.tables import Tables

HOSTILE = "</script><img src=x onerror=alert(1)>[a](b)"


def write(path, name="x"):
    sketch = Histogram(Domain.of(**{name: (0, 1), "y": (0, 1)}), kernels.Gaussian(0.2), (6, 6))
    made = seal(sketch, ExactTable(sketch.zeros(), 300), Budget(epsilon=1))
    made.save(path)


def test_each_file_has_its_page_passport_and_citation_and_all_links_lead_somewhere(tmp_path):
    folder, site = tmp_path / "files", tmp_path / "site"
    folder.mkdir()
    write(folder / "one.npz")
    write(folder / "two & more.npz", HOSTILE)
    publish(folder, site, title="<b>Ours</b>", curator="The town")
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "<img" not in index and "<b>" not in index and "&lt;b&gt;Ours" in index and index.count("<article>") == 2
    assert index.count("<rect") > 20
    plain = (site / "llms.txt").read_text(encoding="utf-8")
    assert "<img" not in plain and " [a](b)" not in plain
    links = re.findall(r'href="([^"]+)"', index) + re.findall(r"(?<!\\)\]\(([^)]+)\)", plain)
    assert len(links) > 12
    for link in links:
        place = site / unquote(link)
        assert (place / "index.html" if link.endswith("/") else place).is_file(), link
    assert (site / "one.npz").read_bytes() == (folder / "one.npz").read_bytes()


def test_a_file_that_is_not_public_stops_all_of_it(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder / "one.npz")
    (folder / "people.json").write_text('{"name": "Ada"}', encoding="utf-8")
    with pytest.raises(RequestError, match=r"'people\.json' is none that may be published") as refused:
        publish(folder, tmp_path / "site")
    assert "Ada" not in str(refused.value) and not (tmp_path / "site").exists()
    with pytest.raises(RequestError, match="a folder of its own"):
        (folder / "people.json").unlink()
        publish(folder, folder)


def test_a_table_has_a_small_picture_of_its_first_column(tmp_path):
    """Its place was empty."""
    folder = tmp_path / "files"
    folder.mkdir()
    columns = Domain((Categorical("colour", ("red", "green", "blue")), Categorical("kind", ("a", "b"))))
    made = release(Tables.of(columns), {"colour": ["red", "blue"] * 200, "kind": ["a"] * 400}, Budget(epsilon=4))
    made.save(folder / "people.npz")
    publish(folder, tmp_path / "site")
    heights = re.findall(r'<rect[^>]*height="([^"]+)"', (tmp_path / "site" / "index.html").read_text(encoding="utf-8"))
    assert len(heights) == 3 and max(map(float, heights)) == 1
