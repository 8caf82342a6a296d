"""The page Explore as a test visits it, and small files to open there."""

import base64
import gzip
import json
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from core import Budget, Domain, Numeric, Release, Vector, release
from core.domain import Categorical
from core.geometry import kernels
from core.sketches.classes import Classes
from core.sketches.registry import distance
from core.ui.frame.navigation import EXPLORE, HOME
from tests.releases_for_tests import small_release

ROOT = Path(__file__).parents[3]
AGE = Numeric("age", 0, 100, "years")
PAY = Numeric("pay", 0, 9000)
CITY = Categorical("city", ("Bern", "Basel"))
FACES = Vector("face", 5, 0, 1)


def file_of(*columns, **facts) -> bytes:
    return small_release(domain=Domain(columns, scale="box"), kernel=kernels.Euclidean(0.4), **facts).to_bytes()


def explore(content: bytes | None = None, name: str = "people.npz") -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.switch_page(EXPLORE.path).run()
    if content is not None:
        app.file_uploader[0].set_value((name, content, "application/octet-stream"))
        app.run()
    return app


def follow(app: AppTest, label: str) -> AppTest:
    """Follow a link within the app, which a browser does without running the page that it leaves."""
    link = next(one.proto for one in app.get("page_link") if one.proto.label == label)
    app.query_params.clear()
    app.query_params.update(dict(parse_qsl(link.query_string)))
    return app.switch_page(f"pages/{link.page}.py" if link.page else HOME.path).run()


def handed_over(app: AppTest) -> dict:
    """What the component that draws a picture gets."""
    (drawn,) = app.get("bidi_component")
    return json.loads(drawn.proto.json or drawn.proto.mixed.json)


def facts_of_picture(app: AppTest) -> dict:
    """What the component that draws a picture is told beside the file."""
    return json.loads(gzip.decompress(base64.b64decode(handed_over(app)["facts"])))


def field(widgets, label: str):
    return next(widget for widget in widgets if widget.label == label)


def shown(app: AppTest) -> str:
    return "\n".join(element.value for kind in (app.markdown, app.caption, app.info, app.warning) for element in kind)


def labels(widgets) -> list[str]:
    return [widget.label for widget in widgets]


def options(app: AppTest, label: str) -> list[str]:
    return list(field(app.segmented_control, label).options)


def choose(app: AppTest, label: str, value: str) -> AppTest:
    field(app.segmented_control, label).set_value(value)
    return app.run()


def hold(app: AppTest, *names: str) -> AppTest:
    field(app.pills, "Hold at a value").set_value(list(names))
    return app.run()


def view(app: AppTest, name: str) -> AppTest:
    return choose(app, "View", name)


def layer(app: AppTest, *names: str) -> AppTest:
    field(app.pills, "On the picture").set_value(list(names))
    return app.run()


def released(columns, norm: str, budget=None, label: Categorical | None = None, **facts) -> Release:
    """A release of distances of 3,000 records, most of them young and poor, where these columns are."""
    domain = Domain(columns, **facts)
    random = np.random.default_rng(3)
    values = {}
    for column in columns:
        if isinstance(column, Categorical):
            values[column.name] = random.choice(column.categories, 3000, p=[0.8, 0.2]).tolist()
        elif isinstance(column, Vector):
            values[column.name] = list(random.random((3000, column.length)))
        else:
            values[column.name] = column.low + (column.high - column.low) * random.beta(2, 6, 3000)
    sketch = distance(domain, norm)
    if label is not None:
        values[label.name] = random.choice(label.categories, 3000).tolist()
        sketch = Classes(Domain((*columns, label), **facts), label.name, sketch)
    return release(sketch, pd.DataFrame(values), budget or Budget(5), records=3000)
