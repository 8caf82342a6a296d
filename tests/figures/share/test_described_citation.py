"""A citation says what the file says, and nothing that a reader of BibTeX or of JSON would take for a command."""

import json
import re
from hashlib import sha256

import pytest

from core.domain import Domain, Numeric
from core.figures.label import privacy_label
from core.figures.share.described import bibtex, datacite, manifest_text
from core.geometry import kernels
from tests.releases_for_tests import small_release


@pytest.fixture(scope="module")
def cited():
    domain = Domain((Numeric("pay_{%~", 0, 9), Numeric("age", 0, 9)), record="loan")
    made = small_release(domain=domain, kernel=kernels.Euclidean(0.4))
    data = made.to_bytes()
    return privacy_label(made, data), data


def test_an_entry_of_bibtex_is_whole_and_escaped(cited):
    label, data = cited
    text = bibtex(label)
    assert text.count("{") == text.count("}") and text.startswith("@misc{frostglass-")
    assert sha256(data).hexdigest() in text and "loans" in text and r"pay\_\textbraceleft{}\%\textasciitilde{}" in text
    assert re.search(r"year = \d{4},", text) and "author = {[who released it]}" in text and "ε" not in text


def test_a_registry_gets_what_it_asks_for(cited):
    label, data = cited
    facts = json.loads(datacite(label, len(data)))
    assert {"creators", "titles", "publisher", "publicationYear", "types"} <= set(facts)
    assert facts["types"]["resourceTypeGeneral"] == "Dataset" and facts["sizes"] == [f"{len(data)} bytes"]
    assert label.promise in facts["descriptions"][0]["description"]


def test_the_manifest_is_that_of_the_file(cited):
    _, data = cited
    facts = json.loads(manifest_text(data))
    assert facts["format"] == "frostglass-release" and facts["domain"]["record"] == "loan"
