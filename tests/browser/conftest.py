"""A server of the app and Chromium pages for the browser tests; a failing test leaves its screenshot in artefacts/."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from core.privacy.ledger.ledger import Ledger
from tests.depth import DEEP, changed

ROOT = Path(__file__).parents[2]
ARTEFACTS = ROOT / "artefacts"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LEGIBILITY = Path(__file__).with_name("legibility.js").read_text()
QUIET = Path(__file__).with_name("quiet.js").read_text()
PATIENCE = 240_000
"""Milliseconds that a page may take on a busy machine; nothing here measures speed."""
WIDTHS = {"desktop": 1280, "phone": 360}
LOOKS = [(width, theme) for width in WIDTHS for theme in ("light", "dark")]


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The folder in which the server keeps its ledger, its settings and files that were opened."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def nothing_kept(home):
    """Takes away the files that earlier visits have made or opened, of which Explore shows the last one first."""

    def take_away():
        for kept in home.rglob("*.npz"):
            kept.unlink()

    take_away()
    return take_away


@pytest.fixture(scope="session" if DEEP or changed(Path(__file__)) else "module")
def server(home):
    """A fresh server: its address, and its process; where one test alone asks for it, no longer than that one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "core", "app", "--headless", f"--port={port}"]
    environment = os.environ | {"HOME": str(home), "XDG_DATA_HOME": str(home)}
    log = (home / "server.log").open("wb")
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    for _ in range(1_200):
        try:
            urllib.request.urlopen(address + "/_stcore/health", timeout=1)
            break
        except OSError:
            time.sleep(0.1)
    yield address, server
    server.kill()  # asked to end, it waits for threads that need not end
    server.wait()
    log.close()


@pytest.fixture
def url(server):
    """Address of a fresh server."""
    return server[0]


@pytest.fixture
def server_seconds(server):
    """Says the processor seconds that the server has taken so far."""

    def spent():
        numbers = Path(f"/proc/{server[1].pid}/stat").read_text().rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")

    return spent


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if not Path(CHROMIUM).exists():
        pytest.skip("There is no Chromium; set CHROMIUM to its path.")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


class Visit:
    """One visitor's browser: a page, and the waiting that Streamlit needs after every action."""

    def __init__(self, page, address):
        self.page = page
        self.address = address
        self.errors = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def go(self, path="/"):
        self.page.goto(self.address + path)
        # What draws texts is fetched when the first one is due; every page ends with the same line.
        self.page.wait_for_selector(".fg-footer", state="attached")  # hidden while presenting, and inside other pages
        self.settle()

    def settle(self):
        """Wait until the script has run and what it drew has arrived; see quiet.js."""
        self.page.wait_for_function("quiet.settled()", polling=30)
        self.errors += self.page.get_by_test_id("stException").all_inner_texts()

    def click(self, role, name):
        self.page.get_by_role(role, name=name, exact=True).locator("visible=true").first.click()
        self.settle()

    def choose(self, text):
        """Pick one of a segmented control or of a list of radio buttons by its words."""
        self.page.get_by_text(text, exact=True).first.click()
        self.settle()

    def fill(self, label, value):
        field = self.page.get_by_label(label, exact=True)
        field.fill(value)
        field.press("Tab")
        self.settle()

    def select(self, label, option):
        """Pick from a drop-down list; a run of the script that ends late closes an open list, so try again."""
        choice = self.page.get_by_role("option", name=option, exact=True)
        for _ in range(5):
            self.page.get_by_label(label, exact=True).click()
            self.settle()
            if choice.count():
                break
        choice.click()
        self.settle()

    def drop(self, name, content, mime="text/csv"):
        """Hand a file to the first uploader, and wait until it has arrived, of which the page hears only afterwards."""
        with self.page.expect_response(lambda response: "/_stcore/upload_file/" in response.url):
            self.page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
                {"name": name, "mimeType": mime, "buffer": content}
            )
        self.settle()

    @property
    def text(self):
        """What a reader sees in the main part and at the foot of the window."""
        return self.page.inner_text("[data-testid=stMain]")

    def illegible(self):
        """Texts with less contrast than WCAG's AA, and how much they have."""
        return self.page.evaluate(LEGIBILITY)

    def barriers(self):
        """What keeps people from using the page, of any severity, as axe finds it; order of headings included."""
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        found = axe.run(self.page).response["violations"]
        return [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]

    def overflow(self):
        """How many pixels of the page do not fit its width."""
        return self.page.evaluate(
            "() => { const main = document.querySelector('[data-testid=stMain]');"
            " return main.scrollWidth - main.clientWidth }"
        )


@pytest.fixture
def visitor(browser, url):
    """Makes visitors: ``visitor(width="phone", theme="dark")`` is a `Visit` with a session of its own."""
    contexts = []

    def arrive(width="desktop", theme="light"):
        size = {"width": WIDTHS.get(width, width), "height": 860}
        context = browser.new_context(viewport=size, color_scheme=theme, accept_downloads=True)
        context.add_init_script(QUIET)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        return Visit(page, url)

    arrive.contexts = contexts
    yield arrive
    for context in contexts:
        context.close()


@pytest.fixture
def ledger(url, tmp_path_factory):
    """The ledger that the server keeps in its own home."""
    homes = sorted(tmp_path_factory.getbasetemp().glob("home*"))

    def opened():
        return Ledger(homes[-1] / "frostglass" / "ledger.sqlite")

    return opened


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Keep a picture of every page that was open when a test failed."""
    report = yield
    arrive = item.funcargs.get("visitor") if report.when == "call" and report.failed else None
    if arrive is not None:
        ARTEFACTS.mkdir(exist_ok=True)
        pages = [page for context in arrive.contexts for page in context.pages]
        for number, page in enumerate(pages):
            page.screenshot(path=ARTEFACTS / f"{item.name}-{number}.png", full_page=True)
    return report
