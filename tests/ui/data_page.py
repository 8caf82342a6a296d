"""Home and Data without a browser, for tests: opens them, drops a file, says what a column is, reads what is shown."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.ui.frame.navigation import DATA
from core.ui.frame.session import KEY

ROOT = Path(__file__).parents[2]
SECRETS = ("7341.25", "8812.5", "Xanthippe", "Grubenmann", "1931-07-09")
CSV = (
    "who,salary,city,born,member\n"
    f"{SECRETS[2]},{SECRETS[0]},{SECRETS[3]},{SECRETS[4]},true\n"
    f"anon,{SECRETS[1]},Bern,1990-01-01,false\n"
).encode()


def home() -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
    app.run()
    return app


def data_page() -> AppTest:
    app = home()
    app.switch_page(DATA.path).run()
    return app


def with_file(content: bytes = CSV, name: str = "people.csv") -> AppTest:
    app = data_page()
    app.file_uploader[0].set_value((name, content, "text/csv"))
    return app.run()


def field(widgets, label: str):
    return next(widget for widget in widgets if widget.label == label)


def read(app: AppTest, **kinds: str) -> AppTest:
    """Unfold columns and read them as something, and leave out all others."""
    records = app.session_state[KEY].records
    for place, column in enumerate(records.columns):
        kind = kinds.get(column.name.replace(" ", "_"))
        app.session_state[f"as-{records.number}-{place}"] = kind or "left out"
        app.session_state[f"line-{records.number}-{place}"] = kind is not None
    return app.run()


def open_codebook(app: AppTest) -> AppTest:
    app.session_state[f"codebook-{app.session_state[KEY].records.number}"] = True
    return app.run()


def shown(app: AppTest) -> str:
    """Every word that is sent to the browser: texts, labels, options, placeholders, values."""
    protos = [element.proto for element in app.main if hasattr(element, "proto")]
    foot = [element.value for element in app.markdown]
    return "\n".join([*map(str, protos), *foot])


def main_button(app: AppTest):
    return field(app.button, "Use this data")
