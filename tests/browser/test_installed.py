"""The app of the wheel, opened by its own command far from any checkout."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.browser.conftest import PATIENCE, QUIET, Visit
from tests.wheel import built

PAGES = ("data", "release", "ledger", "classify", "learn", "compare")


@pytest.fixture
def installed(tmp_path):
    """The address of an installed app, which finds nothing of the checkout."""
    library = tmp_path / "library"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(library), str(built(tmp_path))]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path / "home"
    home.mkdir()
    environment = os.environ | {"HOME": str(home), "XDG_DATA_HOME": str(home), "PYTHONPATH": str(library)}
    command = [sys.executable, "-P", "-m", "frostglass", "app", "--headless", f"--port={port}"]
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(address + "/_stcore/health", timeout=1)
            break
        except OSError:
            time.sleep(0.1)
    yield address
    server.terminate()
    server.wait()


@pytest.mark.deep
def test_a_bundled_release_is_explored_and_every_page_opens(installed, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    context.add_init_script(QUIET)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    visit = Visit(page, installed)
    visit.go()
    assert "See the shape, not the people." in visit.text
    visit.click("link", "City bicycles")
    page.wait_for_url("**/explore*")
    page.wait_for_selector(".inside #picture")
    for name in PAGES:
        visit.go(f"/{name}")
        assert page.locator("[data-testid=stException]").count() == 0
    assert visit.errors == []
    context.close()
