"""Home, without a browser: the door that releases a sample at once."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.sources.public_tables import sample
from core.ui.frame.session import KEY
from core.ui.home_page import TRIED
from core.ui.own_data.picking_records import ORIGIN, SAMPLE

APP = str(Path(__file__).parents[2] / "app.py")


@pytest.mark.thorough
def test_a_sample_is_ready_to_be_released_by_one_click(tmp_path, monkeypatch):
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(tmp_path / "ledger.db"))
    app = AppTest.from_file(APP, default_timeout=120).run()
    app.button(key="door-try").click().run()
    own = app.session_state[KEY].own
    assert not app.exception and own.domain == sample(TRIED).domain and own.sample == TRIED
    assert app.session_state[ORIGIN] == SAMPLE
    button = next(one for one in app.button if one.label.startswith("Release for ε = 1"))
    assert not button.disabled
